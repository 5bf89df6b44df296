//! Serves for measurements by hand or by script: `serve [PORT] [--delay-us N] [--slow-share X] [--slow-us N]
//! [--stall-every-s X] [--stall-ms N] [--ledger FILE]`. It runs until it is killed. With a ledger it runs until its
//! standard input ends, and then writes one line per answer: when its request arrived and when it left, in nanoseconds.
#![allow(clippy::print_stdout, reason = "the readiness line is what a server prints")]

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tare_reference::{Options, Served, serve_until_stopped};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ledger = value(&arguments, "--ledger").map(String::from);
    let options = Options {
        port: arguments.first().and_then(|port| port.parse().ok()).unwrap_or(0),
        delay_us: number(&arguments, "--delay-us")?,
        slow_share: number(&arguments, "--slow-share")?,
        slow_us: number(&arguments, "--slow-us")?,
        stall_every_s: number(&arguments, "--stall-every-s")?,
        stall_ms: number(&arguments, "--stall-ms")?,
        keeps_ledger: ledger.is_some(),
        ..Options::default()
    };
    let stop = Arc::new(AtomicBool::new(false));
    if ledger.is_some() {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            // Any result, even an error, means the end of the input.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            stop.store(true, Ordering::Relaxed);
        });
    }
    let served = serve_until_stopped(&options, &stop, |address| println!("tare: ready on {address}"))?;
    if let Some(path) = ledger {
        write(&path, &served)?;
    }
    Ok(())
}

fn value<'a>(arguments: &'a [String], flag: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| argument == flag)?;
    arguments.get(at + 1).map(String::as_str)
}

fn number<T: FromStr + Default>(arguments: &[String], flag: &str) -> Result<T, String> {
    value(arguments, flag).map_or(Ok(T::default()), |text| text.parse().map_err(|_| format!("{flag} needs a number")))
}

fn write(path: &str, served: &[Served]) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for one in served {
        writeln!(file, "{} {}", one.received.0, one.answered.0)?;
    }
    file.flush()
}
