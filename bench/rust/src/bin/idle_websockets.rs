//! The generator's memory per idle WebSocket: `idle_websockets ADDRESS PATH COUNT`, run by
//! `bench/websocket-memory`. It is the resident memory of this process, without the kernel's memory for a socket.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use tare_load::{Cancel, LoadSession, Protocol, RequestSpec, Schedule, SessionSpec, SliceSpec, StopRule};
use tare_sys::procfs::process::Memory;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, path, count] = &arguments[..] else {
        return Err("give an address, a path and a number: 127.0.0.1:8080 /ws/echo 2500".into());
    };
    let connections: usize = count.parse()?;
    let spec = SessionSpec {
        protocol: Protocol::Exchange,
        connections,
        ..SessionSpec::new(address.parse::<SocketAddr>()?, RequestSpec::get(path))
    };
    // The worker with its poller and its buffers, and the first connection, are a fixed cost.
    let mut session = LoadSession::open(&spec)?;
    run(&mut session, 1)?;
    let before = resident()?;
    let opened = 1 + run(&mut session, connections)?;
    let bytes = resident()?.saturating_sub(before) as f64 / (opened - 1).max(1) as f64;
    println!("{opened} WebSockets: {:.2} KiB each", bytes / 1024.0);
    if opened < connections as u64 { Err("not all could be opened".into()) } else { Ok(()) }
}

/// Sends and answers one message, with this many WebSockets in use. Returns how many were opened for it.
fn run(session: &mut LoadSession, connections: usize) -> Result<u64, Box<dyn Error>> {
    let stop = StopRule::Count { requests: 1, at_most: Duration::from_secs(5) };
    let slice = SliceSpec::new(Schedule::constant(1.0), connections, stop);
    Ok(session.run(&slice, &Cancel::new())?.connections_opened)
}

fn resident() -> Result<u64, Box<dyn Error>> {
    Ok(Memory::of_process(std::process::id())?.rss_bytes)
}
