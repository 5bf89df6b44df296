//! How late a poller stamps received bytes. Loads the reference server at several rates, directly through the epoll
//! poller, and compares its stamps with the kernel's own, by how busy the generator is.
//! `receive_stamps [SERVER-CPU [LOAD-CPU]]`; `bench/receive-stamps` builds and runs it.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::collections::VecDeque;
use std::error::Error;
use std::time::Duration;

use tare_reference::{Options, Running};
use tare_stats::LatencyHistogram;
use tare_sys::affinity::{CpuSet, pin_current_thread};
use tare_sys::clock::{self, Nanos};
use tare_sys::payload::Payload;
use tare_sys::poll::{Event, Handler, Poller, Token, Transport};
use tare_sys::readiness::{ReadinessPoller, ReadinessTransport};
use tare_sys::socket::{SocketOptions, Target};

const CONNECTIONS: u32 = 64;
const RATES_PER_S: [f64; 6] = [1_000.0, 5_000.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0];
const EACH: Duration = Duration::from_secs(3);

/// The part of a generator that determines the stamps: requests that leave on a schedule, over any free connection.
struct Generator {
    free: VecDeque<Token>,
    request: Payload,
    interval_ns: f64,
    start: Nanos,
    sent: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut cpus = std::env::args().skip(1).map(|cpu| cpu.parse::<usize>());
    let (server_cpu, load_cpu) = (cpus.next().unwrap_or(Ok(0))?, cpus.next().unwrap_or(Ok(1))?);
    let server = Running::start(Options::default(), move || {
        // If the kernel refuses, both share a CPU, which the table's busy share shows.
        let _ = pin_current_thread(&CpuSet::from_indices([server_cpu]));
    })?;
    pin_current_thread(&CpuSet::from_indices([load_cpu]))?;
    clock::sharpen_timers()?;
    println!("the poller's stamp minus the kernel's, in µs, over {CONNECTIONS} connections");
    println!(
        "{:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>8}",
        "offered/s", "answers/s", "CPU busy", "p50", "p90", "p99", "p99.9"
    );
    for rate_per_s in RATES_PER_S {
        measure(&server.address().into(), rate_per_s)?;
    }
    Ok(())
}

fn measure(target: &Target, rate_per_s: f64) -> Result<(), Box<dyn Error>> {
    let mut poller = ReadinessPoller::new()?;
    let mut generator = Generator::new(rate_per_s);
    for token in 0..CONNECTIONS {
        poller.transport().connect(Token(token), target, &SocketOptions::default());
    }
    // The first second opens the connections, and makes the kernel start its stamps.
    poller.compare_stamps();
    generator.run(&mut poller, Duration::from_secs(1))?;
    poller.take_stamps();
    let busy_before = clock::thread_cpu_ns();
    generator.run(&mut poller, EACH)?;
    let busy_ns = clock::thread_cpu_ns() - busy_before;
    let mut bias = LatencyHistogram::new();
    for pair in poller.take_stamps() {
        bias.record_ns(pair.poller.since(pair.kernel));
    }
    let at = |quantile| bias.value_at_quantile_ns(quantile).unwrap_or(0) as f64 / 1e3;
    println!(
        "{rate_per_s:>10.0} {:>10.0} {:>9.0}% {:>8.2} {:>8.2} {:>8.2} {:>8.2}",
        bias.len() as f64 / EACH.as_secs_f64(),
        busy_ns as f64 / EACH.as_nanos() as f64 * 100.0,
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999)
    );
    Ok(())
}

impl Generator {
    fn new(rate_per_s: f64) -> Self {
        let request = b"GET /path0/1 HTTP/1.1\r\nHost: localhost\r\n\r\n".as_slice().into();
        Self { free: VecDeque::new(), request, interval_ns: 1e9 / rate_per_s, start: Nanos::ZERO, sent: 0 }
    }

    fn run(&mut self, poller: &mut ReadinessPoller, duration: Duration) -> std::io::Result<()> {
        self.start = clock::now();
        self.sent = 0;
        let end = self.start + duration;
        while clock::now() < end {
            self.send_due(poller.transport());
            let wake_at = if self.free.is_empty() { end } else { self.next_start().min(end) };
            poller.wait(Some(wake_at), self)?;
        }
        Ok(())
    }

    fn next_start(&self) -> Nanos {
        self.start + Duration::from_nanos((self.sent as f64 * self.interval_ns) as u64)
    }

    fn send_due(&mut self, io: &mut ReadinessTransport) {
        while !self.free.is_empty() && self.next_start() <= clock::now() {
            if let Some(token) = self.free.pop_front() {
                self.sent += 1;
                io.send(token, &self.request);
            }
        }
    }
}

impl Handler<ReadinessTransport> for Generator {
    fn on_event(&mut self, io: &mut ReadinessTransport, token: Token, event: Event<'_>) {
        // Every answer of this server arrives in one piece.
        if let Event::Connected { .. } | Event::Received { .. } = event {
            self.free.push_back(token);
            self.send_due(io);
        }
    }
}
