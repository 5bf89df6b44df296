//! A coordinator with simulated agents: what it costs per second of load to read, check and merge their reports.
//! `fleet_scale [SECONDS]`, run by `bench/fleet --scale`.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use anyhow::{Context, Result};
use rand::RngExt;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use tare_record::SliceSample;
use tare_remote::{Fleet, Greeting, LONGEST_REPORT, Report, Version, encode_frame, pack_sample, read_frame};
use tare_sys::clock;

/// Fleets of these sizes are simulated.
const SIZES: [usize; 3] = [100, 300, 1_000];
/// Requests that each agent reports per second.
const REQUESTS: u64 = 2_000;
/// Different samples that agents take turns with.
const VARIANTS: u64 = 32;
const NS_PER_S: u64 = 1_000_000_000;

fn main() -> Result<()> {
    let seconds: u64 =
        std::env::args().nth(1).map_or(Ok(5), |text| text.parse()).context("give a number of seconds")?;
    println!("{REQUESTS} requests/s from each agent, one report a second, {seconds} s");
    println!("{:>7} {:>16} {:>16} {:>12} {:>14}", "agents", "CPU ms per s", "longest round", "MB per s", "memory MB");
    let frames = (0..VARIANTS).map(frame).collect::<Result<Vec<_>>>()?;
    for agents in SIZES {
        let figures = simulate(agents, seconds, &frames)?;
        println!(
            "{agents:>7} {:>16.1} {:>13.1} ms {:>12.2} {:>14.0}",
            figures.cpu_ns as f64 / 1e6 / seconds as f64,
            figures.longest_ns as f64 / 1e6,
            figures.bytes as f64 / 1e6 / seconds as f64,
            memory_mb()?
        );
    }
    Ok(())
}

/// What a coordinator used.
struct Figures {
    cpu_ns: u64,
    longest_ns: u64,
    bytes: u64,
}

fn simulate(agents: usize, seconds: u64, frames: &[Vec<u8>]) -> Result<Figures> {
    let mut fleet = running_fleet(agents);
    let mut figures = Figures { cpu_ns: 0, longest_ns: 0, bytes: 0 };
    let mut answers = 0;
    for second in 0..seconds {
        let (cpu_ns, begun) = (clock::thread_cpu_ns(), clock::now());
        for agent in 0..agents {
            let frame = &frames[(agent + second as usize) % frames.len()];
            figures.bytes += frame.len() as u64;
            let report: Option<Report> = read_frame(&mut frame.as_slice(), LONGEST_REPORT)?;
            fleet.process_report(agent, report.context("a frame has one report")?, second * NS_PER_S);
        }
        answers += fleet.next_round().context("all agents have reported")?.ok;
        figures.cpu_ns += clock::thread_cpu_ns() - cpu_ns;
        figures.longest_ns = figures.longest_ns.max(clock::now().since(begun));
    }
    anyhow::ensure!(answers == agents as u64 * seconds * REQUESTS, "{answers} answers were merged");
    Ok(figures)
}

fn running_fleet(agents: usize) -> Fleet {
    let mut fleet = Fleet::new((0..agents).map(|agent| format!("agent {agent}")), 0, 0);
    for agent in 0..agents {
        let greeting = Greeting { version: Version::own(), host: String::new() };
        fleet.process_report(agent, Report::Greeting(greeting), 0);
        fleet.note_task(agent, true);
        fleet.process_report(agent, Report::Ready, 0);
    }
    fleet.begin(0, NS_PER_S);
    fleet
}

/// The report of a second in which all was answered, from 0.2 ms to some tens of milliseconds.
fn frame(seed: u64) -> Result<Vec<u8>> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut sample = SliceSample {
        window_ns: NS_PER_S,
        workers: 1,
        offered: REQUESTS,
        sent: REQUESTS,
        ok: REQUESTS,
        completed: REQUESTS,
        completed_in_slice: REQUESTS,
        ..SliceSample::default()
    };
    for _ in 0..REQUESTS {
        let service_ns = (200_000.0 - 1_000_000.0 * random.random_range(f64::EPSILON..1.0).ln()) as u64;
        let lag_ns = random.random_range(1_000..60_000);
        sample.service.record_ns(service_ns);
        sample.response.record_ns(service_ns + lag_ns);
        sample.send_lag.record_ns(lag_ns);
        sample.stamp_lag.record_ns(lag_ns / 2);
    }
    Ok(encode_frame(&Report::Sample(pack_sample(sample, 0)), LONGEST_REPORT)?)
}

/// The largest memory of this process so far.
fn memory_mb() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("the kernel states no VmHWM")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kib * 1024.0 / 1e6)
}
