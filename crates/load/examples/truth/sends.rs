//! Do requests leave when they should, and at random where that is what was asked for?

use std::error::Error;
use std::time::Duration;

use tare_load::{CustomSchedule, Schedule, Share};
use tare_reference::Options;
use tare_stats::{ExpectedMean, ExponentialFit, Level};

use crate::stage::{Stage, verdict};

const LATENESS_RATE_PER_S: f64 = 20_000.0;
/// Low enough that the microseconds which a send takes are no dead time worth seeing in some thousand gaps.
const POISSON_RATE_PER_S: f64 = 500.0;
/// A sender that wakes up by a clock of so many nanoseconds.
const TICK_NS: u64 = 1_000_000;

pub fn lateness(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!("\n## Send lag at 20000 requests/s, evenly spaced");
    let schedule = Schedule::Constant { rate_per_s: LATENESS_RATE_PER_S };
    let sample = stage.drive(Options::default(), schedule, Duration::from_secs(1) * stage.seconds)?.sample;
    let mut failed = 0;
    for (name, q, limit_us) in [("p50", 0.5, 20.0), ("p99", 0.99, 200.0)] {
        let lag_us = sample.send_lag.value_at_quantile_ns(q).unwrap_or(0) as f64 / 1e3;
        println!("{name:>8} {lag_us:>10.1} µs, at most {limit_us} µs  {}", verdict(lag_us <= limit_us, &mut failed));
    }
    let cpu_us = sample.generator_cpu_ns as f64 / 1e3 / sample.offered.max(1) as f64;
    println!("{} requests, {} blocked, {cpu_us:.1} µs of generator CPU for each", sample.offered, sample.blocked);
    Ok(failed)
}

pub fn poisson(stage: &Stage) -> Result<usize, Box<dyn Error>> {
    println!(
        "\n## Gaps between sends, 500 requests/s, held against the exponential distribution (Anderson–Darling, level 1 %)"
    );
    let poisson = Schedule::Poisson { rate_per_s: POISSON_RATE_PER_S };
    let mut failed = 0;
    for (what, schedule, is_poisson) in [
        ("Poisson", poisson, true),
        ("Poisson, sent on ticks of 1 ms", Schedule::Custom(CustomSchedule::new(on_ticks)), false),
        ("even, with uniform jitter", Schedule::Custom(CustomSchedule::new(jittered)), false),
    ] {
        let sample = stage.drive(Options::default(), schedule, Duration::from_secs(1) * stage.seconds)?.sample;
        let gaps = gaps_ns(sample.trace.iter().filter_map(|request| request.sent_ns));
        let intended = gaps_ns(sample.trace.iter().map(|request| request.intended_ns));
        let wanted = ExponentialFit::of(&intended, ExpectedMean::Estimated)?.a_squared;
        let late_us = sample.send_lag.value_at_quantile_ns(0.99).unwrap_or(0) as f64 / 1e3;
        let shape = ExponentialFit::of(&gaps, ExpectedMean::Estimated)?;
        let whole = ExponentialFit::of(&gaps, ExpectedMean::Known(1e9 / POISSON_RATE_PER_S))?;
        let rejected = shape.is_rejected_at(Level::OnePercent);
        let word = if rejected { "rejected" } else { "accepted" };
        println!(
            "{what:>32}: A² {:>7.2} of at most {:.3}, with the rate {:>7.2} of at most {:.3}: {word}  {}\n{:>32}  {} gaps; \
             as intended {wanted:.2}; send lag p99 {late_us:.0} µs",
            shape.a_squared,
            shape.critical(Level::OnePercent),
            whole.a_squared,
            whole.critical(Level::OnePercent),
            verdict(rejected != is_poisson, &mut failed),
            "",
            gaps.len()
        );
    }
    Ok(failed)
}

fn gaps_ns(moments: impl Iterator<Item = u64>) -> Vec<f64> {
    let mut moments: Vec<u64> = moments.collect();
    moments.sort_unstable();
    moments.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

/// A Poisson schedule of which every start waits for the next tick.
fn on_ticks(seed: u64) -> impl Iterator<Item = Duration> + Send {
    let alone = Share { worker: 0, workers: 1 };
    let starts = Schedule::Poisson { rate_per_s: POISSON_RATE_PER_S }.arrivals(seed, alone);
    starts.into_iter().flatten().map(|start_ns| Duration::from_nanos(start_ns.next_multiple_of(TICK_NS)))
}

/// Every so-manieth of a second, and up to as much later: looks random, and is far too regular.
fn jittered(_: u64) -> impl Iterator<Item = Duration> + Send {
    let gap_s = 1.0 / POISSON_RATE_PER_S;
    // The golden ratio's multiples fill the unit interval evenly.
    (0_u32..).map(move |nth| {
        Duration::from_secs_f64((f64::from(nth) + (f64::from(nth) * 0.618_033_988_749).fract()) * gap_s)
    })
}
