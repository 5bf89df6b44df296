//! Percentiles compared with the truth, in a world where it is known exactly. `bench/truth` does the same in real time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use tare_sample::SliceSample;
use tare_stats::LatencyHistogram;
use tare_sys::clock::Nanos;

use super::simulation::{ANSWER, Reaction, World};
use super::{MS, constant, drive, seconds, slice, worker};
use crate::worker::WorkerSlice;

const QUANTILES: [f64; 7] = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];
/// Late enough for thousands of connections to be open.
const START: Nanos = Nanos(1_000 * MS);
const SECONDS: u64 = 60;
const PER_S: u64 = 1000;

/// When the server answers the n-th request, by its arrival.
type Server = fn(Nanos, u64) -> Nanos;

/// After 140 µs, but frozen for one second in the middle of every ten.
fn freezing(arrival: Nanos, _: u64) -> Nanos {
    let ready = arrival + Duration::from_micros(140);
    let cycle_begins = arrival.0 - arrival.since(START) % (10_000 * MS);
    let (freeze, thaw) = (Nanos(cycle_begins + 5_000 * MS), Nanos(cycle_begins + 6_000 * MS));
    if ready >= freeze && arrival < thaw { ready.max(thaw) } else { ready }
}

/// After 1.3 ms, and one in a hundred after 50 ms.
fn of_known_delays(arrival: Nanos, nth: u64) -> Nanos {
    arrival + if nth % 100 == 99 { Duration::from_millis(50) } else { Duration::from_micros(1300) }
}

fn measured(server: Server, connections: usize) -> SliceSample {
    let mut nth = 0;
    let world = World::new(Box::new(move |arrival| {
        nth += 1;
        Reaction::Answer { at: server(arrival, nth - 1), bytes: ANSWER }
    }));
    let slice = WorkerSlice { start: START, ..slice(constant(PER_S as f64), seconds(SECONDS)) };
    drive(worker(world), connections, &slice)
}

/// Response time of each request, by an oracle that simulates the queue without the loop: a due request takes the
/// connection that is free first.
fn truth_ns(server: Server, connections: usize) -> Vec<u64> {
    let mut free: BinaryHeap<Reverse<Nanos>> = (0..connections).map(|_| Reverse(Nanos::ZERO)).collect();
    let mut took: Vec<u64> = (0..SECONDS * PER_S)
        .map(|nth| {
            let intended = START + Duration::from_secs(1) * nth as u32 / PER_S as u32;
            let Reverse(soonest) = free.pop().unwrap();
            let answered = server(intended.max(soonest), nth);
            free.push(Reverse(answered));
            answered.since(intended)
        })
        .collect();
    took.sort_unstable();
    took
}

fn assert_true(said: &LatencyHistogram, truth: &[u64], what: &str) {
    assert_eq!(said.len(), truth.len() as u64, "{what}");
    for q in QUANTILES {
        let rank = ((q * truth.len() as f64).ceil() as usize).max(1);
        let (said, real) = (said.value_at_quantile_ns(q).unwrap(), truth[rank - 1]);
        assert!(said.abs_diff(real) <= real / 1000 + 1, "{what}, quantile {q}: {said} for {real}");
    }
}

#[test]
fn percentiles_on_a_freezing_server_are_the_truth_however_few_connections_wait_for_it() {
    for connections in [8, 64, 2000] {
        let sample = measured(freezing, connections);
        assert_true(&sample.response, &truth_ns(freezing, connections), &format!("{connections} connections"));
    }
    // With enough connections the truth is known without an oracle: a tenth of the requests wait for 0 to 1 s, evenly
    // spread.
    let response = measured(freezing, 2000).response;
    for (q, millis) in [(0.95, 500), (0.99, 900), (0.999, 990)] {
        let said = response.value_at_quantile_ns(q).unwrap();
        assert!(said.abs_diff(millis * MS) <= 2 * MS, "quantile {q}: {said}");
    }
}

#[test]
fn percentiles_of_known_delays_are_the_truth_by_both_clocks() {
    let sample = measured(of_known_delays, 64);
    let truth = truth_ns(of_known_delays, 64);
    assert_true(&sample.response, &truth, "response");
    assert_true(&sample.service, &truth, "service");
    assert_eq!((truth[truth.len() / 2], truth[truth.len() * 995 / 1000]), (1_300_000, 50 * MS));
}
