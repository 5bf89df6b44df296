//! Requests that leave in ticks, and the start of their times.

use std::time::Duration;

use tare_sample::SliceSample;

use super::simulation::{World, after};
use super::{MS, constant, drive, seconds, slice, worker};
use crate::schedule::sending::Sending;

/// One second of 1,000 requests/s in ticks of 10 ms, answered after 1 ms each.
fn in_ticks(connections: usize) -> SliceSample {
    let mut slice = slice(constant(1000.0), seconds(1));
    slice.spec.sending = Sending::Tick(Duration::from_millis(10));
    drive(worker(World::new(after(Duration::from_millis(1)))), connections, &slice)
}

#[test]
fn response_times_count_from_the_intended_start_and_service_times_from_the_tick() {
    let sample = in_ticks(16);
    assert_eq!((sample.offered, sample.ok, sample.blocked), (1000, 1000, 0));
    let near =
        |value: Option<u64>, expected: u64| value.is_some_and(|value| value.abs_diff(expected) <= expected / 100);
    assert!(near(sample.service.max_ns(), MS));
    // The first of each ten waits for nine more milliseconds, the last not at all.
    assert!(near(sample.send_lag.max_ns(), 9 * MS) && sample.send_lag.value_at_quantile_ns(0.01) == Some(0));
    assert!(near(sample.response.max_ns(), 10 * MS));
}

#[test]
fn who_waits_for_a_tick_is_not_blocked_and_who_waits_beyond_it_is() {
    // One request leaves at the start, then ten at each of 99 ticks and nine at the last: five at once, the others
    // after the first answers.
    let sample = in_ticks(5);
    assert_eq!((sample.ok, sample.blocked), (1000, 99 * 5 + 4));
}
