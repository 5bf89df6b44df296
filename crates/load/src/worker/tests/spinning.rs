//! A spinning worker, in a world where sleeps end late.

use std::time::Duration;

use tare_sample::SliceSample;

use super::simulation::{World, after};
use super::{MS, constant, drive, seconds, slice, worker};
use crate::schedule::sending::Sending;

const US: u64 = 1_000;
const OVERSLEPT: Duration = Duration::from_micros(60);

/// Two seconds at a rate, against a server with this delay.
fn sample(sending: Sending, rate_per_s: f64, takes: Duration) -> SliceSample {
    let mut slice = slice(constant(rate_per_s), seconds(2));
    slice.spec.sending = sending;
    drive(worker(World::new(after(takes)).drowsy(OVERSLEPT)), 8, &slice)
}

fn median(histogram: &tare_stats::LatencyHistogram) -> u64 {
    histogram.value_at_quantile_ns(0.5).unwrap()
}

#[test]
fn who_sleeps_sends_and_stamps_as_late_as_it_wakes_up() {
    let sample = sample(Sending::Exact, 100.0, Duration::from_millis(1));
    assert!(median(&sample.send_lag).abs_diff(60 * US) < US);
    assert!(median(&sample.service).abs_diff(MS + 60 * US) < 2 * US);
    assert!(median(&sample.stamp_lag).abs_diff(60 * US) < US, "and says so");
    assert_eq!(sample.generator_spin_ns, 0);
}

#[test]
fn who_stays_awake_sends_and_stamps_on_time() {
    let sample = sample(Sending::Spinning, 100.0, Duration::from_millis(1));
    assert_eq!((sample.ok, sample.blocked), (200, 0));
    assert!(sample.send_lag.max_ns() <= Some(2 * US), "{:?}", sample.send_lag.max_ns());
    assert!(sample.response.max_ns().unwrap().abs_diff(MS) < 2 * US);
    assert!(sample.stamp_lag.max_ns() <= Some(2 * US), "{:?}", sample.stamp_lag.max_ns());
}

#[test]
fn who_stays_awake_sleeps_where_nothing_is_near() {
    // Of each 100 ms it polls 0.1 ms before the request is due, partly spent on waking up, and 0.01 ms until the
    // answer.
    let sample = sample(Sending::Spinning, 10.0, Duration::from_micros(10));
    assert!((1..20 * 110 * US).contains(&sample.generator_spin_ns), "{} ns", sample.generator_spin_ns);
}

#[test]
fn an_answer_that_takes_long_is_slept_for_and_right_within_a_hundredth() {
    let sample = sample(Sending::Spinning, 10.0, Duration::from_millis(80));
    assert!(median(&sample.service).abs_diff(80 * MS) <= 80 * MS / 100);
    // It polls for a hundred times the lateness of a sleep, and not for the whole 80 ms.
    assert!(sample.generator_spin_ns < 20 * 11 * MS, "{} ns", sample.generator_spin_ns);
}
