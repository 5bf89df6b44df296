//! Loads one address for some seconds and prints the result.
//! `measure 127.0.0.1:8080 /path0/1 [--connections 64] [--seconds 5] [--cpus 1] [--rate R [--poisson]] [--post BYTES] [--pipeline N]
//! [--tick-us N | --spin] [--http2 STREAMS] [--tls NAME] [--congestion NAME]`
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use tare_load::{
    Cancel, LoadSession, Protocol, RequestSpec, Schedule, Sending, SessionSpec, SliceSample, SliceSpec, StopRule,
    TlsSpec, TlsTrust,
};
use tare_sys::affinity::CpuSet;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let target: SocketAddr = arguments.next().ok_or("give an address and a port, such as 127.0.0.1:8080")?.parse()?;
    let path = arguments.next().ok_or("give a path, such as /path0/1")?;
    let rest: Vec<String> = arguments.collect();
    let value = |flag: &str| {
        rest.iter().position(|argument| argument == flag).and_then(|at| rest.get(at + 1)).map(String::as_str)
    };
    let connections = value("--connections").unwrap_or("64").parse()?;
    let seconds: f64 = value("--seconds").unwrap_or("5").parse()?;
    let request = match value("--post") {
        Some(bytes) => RequestSpec::post(&path, vec![b'a'; bytes.parse()?]),
        None => RequestSpec::get(&path),
    };
    let rate_per_s = value("--rate").map(str::parse::<f64>).transpose()?;
    let schedule = match rate_per_s {
        None => Schedule::Closed,
        Some(rate_per_s) if rest.iter().any(|argument| argument == "--poisson") => Schedule::poisson(rate_per_s),
        Some(rate_per_s) => Schedule::constant(rate_per_s),
    };
    let mut session = LoadSession::open(&SessionSpec {
        connections,
        cpus: CpuSet::from_indices(
            value("--cpus").unwrap_or("1").split(',').map(str::parse).collect::<Result<Vec<_>, _>>()?,
        ),
        protocol: match value("--http2") {
            Some(streams) => Protocol::Http2 { streams: streams.parse()? },
            None => Protocol::Http1 { pipeline: value("--pipeline").unwrap_or("1").parse()? },
        },
        tls: value("--tls").map(|name| TlsSpec { trust: TlsTrust::Any, ..TlsSpec::new(name) }),
        congestion: value("--congestion").map(str::to_owned),
        ..SessionSpec::new(target, request)
    })?;
    let sending = match value("--tick-us") {
        Some(us) => Sending::Tick(Duration::from_micros(us.parse()?)),
        None if rest.iter().any(|argument| argument == "--spin") => Sending::Spinning,
        None => Sending::Exact,
    };
    let slice = SliceSpec {
        sending,
        discard_head: Duration::from_millis(100),
        drain_timeout: Duration::from_secs(2),
        ..SliceSpec::new(schedule, connections, StopRule::Duration(Duration::from_secs_f64(seconds)))
    };
    let sample = session.run(&slice, &Cancel::new())?;
    print(&sample, session.congestion.as_deref());
    Ok(())
}

fn print(sample: &SliceSample, congestion: Option<&str>) {
    let cpu_us = sample.generator_cpu_ns as f64 / 1e3 / sample.completed.max(1) as f64;
    println!("{:.0} requests/s, congestion control {}", sample.throughput_per_s(), congestion.unwrap_or("none"));
    println!("generator: {cpu_us:.3} µs CPU/request, {:.1} % busy", sample.generator_cpu_share() * 100.0);
    println!("awake in vain for {:.1} ms", sample.generator_spin_ns as f64 / 1e6);
    println!("offered {}, sent {}, ok {}, failed {}", sample.offered, sample.sent, sample.ok, sample.failed);
    println!("completed {} in all", sample.completed_in_slice);
    println!("blocked {} for {:.3} ms in all", sample.blocked, sample.blocked_ns as f64 / 1e6);
    println!("connections: {} opened, {} lost", sample.connections_opened, sample.connections_lost);
    println!("TLS handshakes: {}, of which {} resumed", sample.tls_handshakes, sample.tls_resumed);
    for (name, histogram) in [
        ("response", &sample.response),
        ("service", &sample.service),
        ("send lag", &sample.send_lag),
        ("stamp lag", &sample.stamp_lag),
    ] {
        let at = |quantile| histogram.value_at_quantile_ns(quantile).unwrap_or(0) as f64 / 1e3;
        println!("{name:>9}  p50 {:.1} µs  p99 {:.1} µs  p99.9 {:.1} µs", at(0.5), at(0.99), at(0.999));
    }
    for (class, tally) in sample.errors.iter() {
        println!("{class} errors: {}, the first: {}", tally.count, tally.example);
    }
}
