//! Runs a tool to its end, a deadline or Ctrl-C, and keeps what it prints.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tare_sys::affinity::CpuSet;
use tare_sys::child::{Child, How, Program};
use tare_sys::{clock, threads};

/// How often a wait checks the deadline and Ctrl-C.
const CHECK_EVERY: Duration = Duration::from_millis(50);
/// How long a tool may take to stop.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// How much of the end of its output an error shows.
const SHOWN_LINES: usize = 5;

/// Runs a command on these CPUs and returns what it printed; in words, why it failed.
pub(super) fn run(
    command: &[String],
    cpus: Option<CpuSet>,
    timeout: Duration,
    cancelled: &AtomicBool,
) -> Result<String, String> {
    match run_until_exit(command, cpus, timeout, cancelled)? {
        (How::Code(0), text) => Ok(text),
        (how, text) => Err(format!("it ended with {how}: {}", last_lines(&text))),
    }
}

/// Runs a command until it exits, with any status. The error says why it did not exit.
pub(super) fn run_until_exit(
    command: &[String],
    cpus: Option<CpuSet>,
    timeout: Duration,
    cancelled: &AtomicBool,
) -> Result<(How, String), String> {
    let (program, arguments) = command.split_first().ok_or("its command is empty")?;
    let mut program = Program::new(program).args(arguments);
    program.cpus = cpus;
    let mut child = Child::spawn(program).map_err(|error| error.to_string())?;
    let output = child.take_output().map(|mut pipe| {
        threads::spawn("output", move || {
            let mut bytes = Vec::new();
            // A broken pipe ends the output.
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let output = output.transpose().map_err(|error| format!("no thread can be started to read its output: {error}"))?;
    let deadline = clock::now() + timeout;
    let mut how = None;
    while how.is_none() && !cancelled.load(Ordering::Relaxed) && clock::now() < deadline {
        how = child.wait(CHECK_EVERY);
    }
    child.terminate(STOP_GRACE).map_err(|error| error.to_string())?;
    let text = output.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match how {
        Some(how) => Ok((how, text)),
        None if cancelled.load(Ordering::Relaxed) => Err("given up as asked".to_owned()),
        None => Err(format!("it did not end within {} s: {}", timeout.as_secs(), last_lines(&text))),
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("; ")
}
