//! Checks that requests leave at their intended starts, and that Poisson sends are random.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use tare_load::{Schedule, Sending, Share, SliceSample};
use tare_reference::Options;
use tare_stats::LatencyHistogram;

use crate::exponential::{ExpectedMean, ExponentialFit};
use crate::stage::{Spread, Stage, verdict};

const LATENESS_RATE_PER_S: f64 = 20_000.0;
/// So low that the microseconds of a send do not show as dead time in some thousand gaps.
const POISSON_RATE_PER_S: f64 = 500.0;
/// A sender with a tick of this many nanoseconds.
const TICK_NS: u64 = 1_000_000;

/// Number of alternations between the two ways of waiting.
const ROUNDS: u32 = 5;

/// Alternates between sleeping and spinning. The targets apply to spinning.
pub fn lateness(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!("\n## Send lag at 20000 requests/s, evenly spaced, in {ROUNDS} turns; medians of these, in µs");
    let length = Duration::from_secs(1) * stage.seconds / ROUNDS;
    let mut turns = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (sending, seen) in [Sending::Exact, Sending::Spinning].into_iter().zip(&mut turns) {
            let schedule = Schedule::constant(LATENESS_RATE_PER_S);
            seen.push(Seen::of(
                &stage.drive_as(sending, Spread::Connections, Options::default(), schedule, length)?.sample,
            ));
        }
    }
    println!(
        "{:>16} {:>8} {:>8} {:>12} {:>12} {:>12}",
        "", "p50", "p99", "service p50", "CPU/request", "awake/request"
    );
    let mut failed = 0;
    for (sending, seen) in [Sending::Exact, Sending::Spinning].into_iter().zip(&turns) {
        let middle = Seen::median(seen);
        let limits = [(middle.lag_p50_us, 20.0), (middle.lag_p99_us, 200.0)];
        let holds = limits.iter().all(|(lag_us, limit_us)| lag_us <= limit_us);
        let word = if sending == Sending::Spinning { verdict(holds, &mut failed) } else { "" };
        println!("{:>16} {middle}  {word}", sending.to_string());
    }
    println!("{:>16} at most 20 and 200", "");
    Ok(failed)
}

/// The result of one turn, in microseconds.
#[derive(Clone, Copy)]
struct Seen {
    lag_p50_us: f64,
    lag_p99_us: f64,
    service_us: f64,
    cpu_us: f64,
    awake_us: f64,
}

impl Seen {
    fn of(sample: &SliceSample) -> Self {
        let at = |histogram: &LatencyHistogram, q| histogram.value_at_quantile_ns(q).unwrap_or(0) as f64 / 1e3;
        let each = |ns: u64| ns as f64 / 1e3 / sample.offered.max(1) as f64;
        Self {
            lag_p50_us: at(&sample.send_lag, 0.5),
            lag_p99_us: at(&sample.send_lag, 0.99),
            service_us: at(&sample.service, 0.5),
            cpu_us: each(sample.generator_cpu_ns),
            awake_us: each(sample.generator_spin_ns),
        }
    }

    /// The median of each figure on its own.
    fn median(seen: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> f64| {
            let mut all: Vec<f64> = seen.iter().map(of).collect();
            all.sort_unstable_by(f64::total_cmp);
            all[all.len() / 2]
        };
        Self {
            lag_p50_us: middle(|seen| seen.lag_p50_us),
            lag_p99_us: middle(|seen| seen.lag_p99_us),
            service_us: middle(|seen| seen.service_us),
            cpu_us: middle(|seen| seen.cpu_us),
            awake_us: middle(|seen| seen.awake_us),
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lag_p50_us, lag_p99_us, service_us, cpu_us, awake_us } = self;
        write!(f, "{lag_p50_us:>8.1} {lag_p99_us:>8.1} {service_us:>12.1} {cpu_us:>12.1} {awake_us:>12.1}")
    }
}

pub fn poisson(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!(
        "\n## Gaps between sends, 500 requests/s, held against the exponential distribution (Anderson–Darling, level 1 %)"
    );
    let (schedule, length) = (Schedule::poisson(POISSON_RATE_PER_S), Duration::from_secs(1) * stage.seconds);
    let sample = stage.drive(Spread::Connections, Options::default(), schedule, length)?.sample;
    let sent = sample.trace.iter().filter_map(|request| request.sent_ns).collect();
    let mut failed = 0;
    // The test would notice other senders: it rejects two that look random and are not.
    for (what, moments, is_poisson) in [
        ("Poisson", sent, true),
        ("Poisson on ticks of 1 ms, unsent", until(length, on_ticks()), false),
        ("even with jitter, unsent", until(length, jittered()), false),
    ] {
        let gaps = gaps_ns(moments);
        let shape = ExponentialFit::from_gaps(&gaps, ExpectedMean::Estimated);
        let whole = ExponentialFit::from_gaps(&gaps, ExpectedMean::Known(1e9 / POISSON_RATE_PER_S));
        let rejected = shape.is_rejected();
        let word = if rejected { "rejected" } else { "accepted" };
        println!(
            "{what:>32}: A² {:>7.2} of at most {:.3}, with the rate {:>7.2} of at most {:.3}: {word}  {}\n{:>32}  {} gaps",
            shape.a_squared,
            shape.critical(),
            whole.a_squared,
            whole.critical(),
            verdict(rejected != is_poisson, &mut failed),
            "",
            gaps.len()
        );
    }
    let intended = gaps_ns(sample.trace.iter().map(|request| request.intended_ns).collect());
    let wanted = ExponentialFit::from_gaps(&intended, ExpectedMean::Estimated).a_squared;
    let late_us = sample.send_lag.value_at_quantile_ns(0.99).unwrap_or(0) as f64 / 1e3;
    println!("{:>32}  A² of the intended sends {wanted:.2}; send lag p99 {late_us:.0} µs", "");
    Ok(failed)
}

fn gaps_ns(mut moments: Vec<u64>) -> Vec<f64> {
    moments.sort_unstable();
    moments.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

/// The starts before `length`, in nanoseconds.
fn until(length: Duration, starts: impl Iterator<Item = u64>) -> Vec<u64> {
    starts.take_while(|start_ns| u128::from(*start_ns) < length.as_nanos()).collect()
}

/// A Poisson schedule in which every start waits for the next tick.
fn on_ticks() -> impl Iterator<Item = u64> {
    let alone = Share { worker: 0, workers: 1 };
    let starts = Schedule::poisson(POISSON_RATE_PER_S).arrivals(1, alone);
    starts.into_iter().flatten().map(|start_ns| start_ns.next_multiple_of(TICK_NS))
}

/// Evenly spaced starts, each delayed by up to one period: looks random, and is much too regular.
fn jittered() -> impl Iterator<Item = u64> {
    let gap_ns = 1e9 / POISSON_RATE_PER_S;
    // The multiples of the golden ratio fill the unit interval evenly.
    (0_u32..).map(move |nth| ((f64::from(nth) + (f64::from(nth) * 0.618_033_988_749).fract()) * gap_ns) as u64)
}
