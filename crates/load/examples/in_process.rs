//! Measures a server that runs in the same process, as a test or a benchmark of one's own would do it.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use tare_load::{Cancel, Check, LoadSession, RequestSpec, Schedule, SessionSpec, SliceSpec, StopRule};

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(&stream));
        }
    });
    let request = RequestSpec::get("/greeting").expecting(Check::body_is(*b"hello"));
    let spec = SessionSpec { connections: 4, ..SessionSpec::new(address, vec![request]) };
    let mut session = LoadSession::open(&spec)?;
    // Half a second at 2,000 requests a second: slow enough that what is measured is the server and not a queue.
    let schedule = Schedule::Poisson { rate_per_s: 2000.0 };
    let slice = SliceSpec::new(schedule, 4, StopRule::Duration(Duration::from_millis(500)));
    let sample = session.run(&slice, &Cancel::new())?;
    let at = |quantile| Duration::from_nanos(sample.response.value_at_quantile_ns(quantile).unwrap_or(0));
    println!("{} right answers, {} failures", sample.ok, sample.failed);
    println!("response time p50 {:.1?}, p99 {:.1?}", at(0.5), at(0.99));
    for (class, tally) in sample.errors.iter() {
        println!("{class}: {} times, the first: {}", tally.count, tally.example);
    }
    Ok(())
}

/// Answers every request with a greeting, while the connection lasts.
fn answer(mut stream: &TcpStream) {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    for _ in lines.filter(String::is_empty) {
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").is_err() {
            return;
        }
    }
}
