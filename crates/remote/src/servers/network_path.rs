//! The network path to the servers on another machine: its round trip, and its bandwidth in both directions.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tare_record::environment::NetworkBandwidth;
use tare_sys::{clock, threads};
use tare_units::bit_rate;

use super::RemoteHost;
use crate::protocol::{ServersTask, answer_of};
use tare_run::RunError;
use tare_run::server_host::ServerMachine;

/// Connections that measure the round trip. One connection for each direction of the bandwidth follows.
const ROUND_TRIPS: usize = 16;
/// The longest time of a connect, and the longest pause in a transfer.
const TIMEOUT: Duration = Duration::from_secs(3);
/// A transfer ends after this number of bytes.
const TRANSFER_BYTES: u64 = 64 << 20;
const TRANSFER_TIME: Duration = Duration::from_millis(500);
const CHUNK: usize = 256 << 10;
/// How long the agent waits for the end of the transfer to it; longer than any transfer takes.
pub(crate) const TRANSFER_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NetworkPath {
    round_trip: Duration,
    pub bandwidth: NetworkBandwidth,
}

impl NetworkPath {
    /// Measures the path over TCP, to a port that is closed afterwards. A failed transfer leaves the bandwidth unknown.
    pub fn measure(host: &RemoteHost) -> Result<Self, RunError> {
        let address = host.address();
        let port = host.ask(ServersTask::Listen { address }, answer_of!(Listening));
        let port = port.map_err(|error| {
            let reason = if let RunError::Agent { reason, .. } = error { reason } else { error.to_string() };
            let remedy = "name an address of that machine with --server-address";
            host.error(format!("its servers cannot listen on {address} ({reason}); {remedy}"))
        })?;
        let connect = || {
            TcpStream::connect_timeout(&(address, port).into(), TIMEOUT).map_err(|error| {
                let remedy = "name one that can be with --server-address";
                host.error(format!("its address {address} cannot be reached from here ({error}); {remedy}"))
            })
        };
        let round_trip = median_connect(&connect)?;
        send_transfer(connect()?);
        let from_servers_bits_per_s = rate_of_transfer(connect()?);
        let to_servers_bits_per_s = host.ask(ServersTask::Received, answer_of!(Received))?;
        let bandwidth = NetworkBandwidth { to_servers_bits_per_s, from_servers_bits_per_s };
        Ok(Self { round_trip, bandwidth })
    }

    pub fn facts(&self) -> [(&'static str, Option<String>); 2] {
        let round_trip_ms = self.round_trip.as_secs_f64() * 1e3;
        let NetworkBandwidth { to_servers_bits_per_s, from_servers_bits_per_s } = self.bandwidth;
        let [there, back] = [to_servers_bits_per_s, from_servers_bits_per_s]
            .map(|bits_per_s| bits_per_s.map_or_else(|| "unknown".to_owned(), bit_rate));
        let (most_mib, longest_ms) = (TRANSFER_BYTES >> 20, TRANSFER_TIME.as_millis());
        let bandwidth = format!(
            "{there} to the servers, {back} back (one TCP connection, {most_mib} MiB or {longest_ms} ms each way)"
        );
        [
            ("network round trip", Some(format!("{round_trip_ms:.3} ms (median of {ROUND_TRIPS} TCP connects)"))),
            ("network bandwidth", Some(bandwidth)),
        ]
    }
}

fn median_connect(connect: &impl Fn() -> Result<TcpStream, RunError>) -> Result<Duration, RunError> {
    let mut times_ns = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let begun = clock::now();
        connect()?;
        times_ns.push(clock::now().since(begun));
    }
    times_ns.sort_unstable();
    Ok(Duration::from_nanos(times_ns[ROUND_TRIPS / 2]))
}

/// `None` if too little arrived.
fn bits_per_s(bytes: u64, span_ns: u64) -> Option<u64> {
    (bytes > 0 && span_ns > 0).then(|| (bytes as f64 * 8.0 / (span_ns as f64 / 1e9)).round() as u64)
}

/// Listens on a free port of `address` for one measurement. Returns the port, and what gets the rate to here in bit/s.
pub(crate) fn listen_for_transfer(address: IpAddr) -> io::Result<(u16, Receiver<Option<u64>>)> {
    let listener = TcpListener::bind((address, 0))?;
    let port = listener.local_addr()?.port();
    let (rate, received) = channel();
    threads::spawn("network-path", move || accept_all(&listener, &rate))?;
    Ok((port, received))
}

/// Accepts the connections of one measurement: those of the round trips, one to read from, and one to write to.
fn accept_all(listener: &TcpListener, rate: &Sender<Option<u64>>) {
    let mut arrivals = listener.incoming();
    arrivals.by_ref().take(ROUND_TRIPS).for_each(drop);
    // Sending fails if the other side is gone.
    let _ = rate.send(arrivals.next().and_then(|arrival| rate_of_transfer(arrival.ok()?)));
    if let Some(Ok(connection)) = arrivals.next() {
        send_transfer(connection);
    }
}

/// Reads until the end or a limit of the transfer. Returns its rate in bit/s; `None` if too little arrived, or it
/// failed. The time starts after the first read, so it contains no round trip.
fn rate_of_transfer(mut connection: TcpStream) -> Option<u64> {
    connection.set_read_timeout(Some(TIMEOUT)).ok()?;
    let mut chunk = vec![0; CHUNK];
    let mut read = connection.read(&mut chunk).ok()?;
    let begun = clock::now();
    let (mut bytes, mut span_ns) = (0, 0);
    while read > 0 && bytes < TRANSFER_BYTES && Duration::from_nanos(span_ns) < TRANSFER_TIME {
        read = connection.read(&mut chunk).ok()?;
        if read > 0 {
            (bytes, span_ns) = (bytes + read as u64, clock::now().since(begun));
        }
    }
    bits_per_s(bytes, span_ns)
}

/// Writes until a limit, or until the receiver closes the connection. Only the receiver measures.
fn send_transfer(mut connection: TcpStream) {
    let mut chunk = vec![0; CHUNK];
    // Random bytes, because a tunnel on the path may compress repeated ones.
    Pcg64Mcg::seed_from_u64(0).fill_bytes(&mut chunk);
    // Longer than the receiver measures, because it starts later, when the first bytes arrive.
    let end = clock::now() + TIMEOUT;
    let mut sent = 0;
    if connection.set_write_timeout(Some(TIMEOUT)).is_err() {
        return;
    }
    while sent < TRANSFER_BYTES && clock::now() < end {
        match connection.write(&chunk) {
            Ok(written) if written > 0 => sent += written as u64,
            _ => return,
        }
    }
    let _ = connection.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn both_directions_arrive_and_then_nothing_listens() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (rate, received) = channel();
        let accepting = thread::spawn(move || accept_all(&listener, &rate));
        let connect = || Ok(TcpStream::connect(address).unwrap());
        median_connect(&connect).unwrap();
        send_transfer(connect().unwrap());
        let back = rate_of_transfer(connect().unwrap());
        let there = received.recv().unwrap();
        assert!(there.is_some() && back.is_some(), "{there:?} and {back:?}");
        accepting.join().unwrap();
        // A child that another test has just started may have the socket open for a moment.
        let until = clock::now() + TIMEOUT;
        while TcpStream::connect(address).is_ok() {
            assert!(clock::now() < until, "it still listens");
        }
    }

    #[test]
    fn a_transfer_that_brings_nothing_tells_no_bandwidth() {
        let (near, far) = pair();
        drop(near);
        assert_eq!(rate_of_transfer(far), None);
        let (mut near, far) = pair();
        near.write_all(b"a").unwrap();
        drop(near);
        assert_eq!(rate_of_transfer(far), None, "the first bytes begin the time");
    }

    #[test]
    fn a_transfer_ends_although_the_other_side_goes_on() {
        let (mut near, far) = pair();
        let sending = thread::spawn(move || while near.write_all(&[0; CHUNK]).is_ok() {});
        assert!(rate_of_transfer(far).is_some());
        sending.join().unwrap();
    }

    #[test]
    fn who_sends_stops_when_nobody_reads_any_more() {
        let (near, far) = pair();
        drop(far);
        send_transfer(near);
    }

    #[test]
    fn a_network_path_is_told_in_units_that_people_use() {
        let rate = bits_per_s(125_000_000, 1_000_000_000);
        let bandwidth = NetworkBandwidth { to_servers_bits_per_s: rate, from_servers_bits_per_s: Some(9_412_000) };
        let path = NetworkPath { round_trip: Duration::from_micros(46), bandwidth };
        let [round_trip, bandwidth] = path.facts().map(|(_, value)| value.unwrap());
        assert_eq!(round_trip, "0.046 ms (median of 16 TCP connects)");
        let sizes = "(one TCP connection, 64 MiB or 500 ms each way)";
        assert_eq!(bandwidth, format!("1.0 Gbit/s to the servers, 9.4 Mbit/s back {sizes}"));
        let [_, unknown] = NetworkPath::default().facts();
        assert!(unknown.1.unwrap().starts_with("unknown to the servers, unknown back "));
    }
}
