//! A cancelled slice ends soon, and its sample can be used.

use std::time::Duration;

use tare_sys::clock::{Clock, Nanos};

use super::simulation::{Listener, Reaction, Script, World, after};
use super::tests::{MS, seconds, slice, worker};
use super::{Worker, WorkerSlice};
use crate::cancel::Cancel;
use crate::sample::SliceSample;
use crate::schedule::Schedule;

/// Raises the flag with the request that arrives first at `at` or later, and answers only what came before.
fn hanging_from(at: Nanos, cancel: &Cancel) -> Script {
    let cancel = cancel.clone();
    Box::new(move |arrival| {
        if arrival < at {
            return Reaction::Answer { at: arrival + Duration::from_millis(1), bytes: super::simulation::ANSWER };
        }
        cancel.cancel();
        Reaction::Never
    })
}

/// Runs a slice with a drain of 10 s on 4 connections against a server that hangs 100 ms after the start; returns the
/// sample, and when the slice was over.
fn cut_short(schedule: Schedule, drain_timeout: Duration) -> (SliceSample, Nanos) {
    let slice = WorkerSlice { drain_timeout, ..slice(schedule, seconds(60)) };
    let world = World::new(hanging_from(Nanos(200 * MS), &slice.cancel));
    let clock = world.clock();
    let mut worker = worker(world);
    worker.prepare(4, &Cancel::new()).unwrap();
    let sample = worker.run(&slice).unwrap();
    assert!(sample.cancelled && sample.offered == sample.ok);
    assert_eq!((sample.failed, sample.errors.total(), sample.connections_lost), (0, 0, 0));
    (sample, clock.now())
}

#[test]
fn a_cancelled_slice_ends_its_window_at_once() {
    let mut worker = worker(World::new(after(Duration::from_millis(1))));
    worker.prepare(1, &Cancel::new()).unwrap();
    let slice = slice(Schedule::Closed, seconds(3600));
    slice.cancel.cancel();
    let sample = worker.run(&slice).unwrap();
    assert!(sample.cancelled && sample.window_ns == 0 && sample.cut_off == 0);
    assert!(worker.core.now() < slice.start + Duration::from_secs(1));
}

#[test]
fn a_hung_server_cannot_hold_up_a_cancellation() {
    // Noticed within 100 ms, drained for 500 ms.
    let (sample, end) = cut_short(Schedule::Closed, Duration::from_secs(10));
    assert_eq!((sample.ok, sample.cut_off), (400, 4));
    assert!(end <= Nanos(801 * MS), "{end:?}");
    let (_, end) = cut_short(Schedule::Closed, Duration::from_millis(20));
    assert!(end <= Nanos(321 * MS), "{end:?}");
}

#[test]
fn requests_that_wait_for_a_connection_are_cut_off_too() {
    let (sample, _) = cut_short(Schedule::Constant { rate_per_s: 1000.0 }, Duration::from_secs(10));
    assert_eq!(sample.ok, 100);
    // Four on the wire, and what was due until the cancellation was noticed.
    assert!((4..=101).contains(&sample.cut_off), "{}", sample.cut_off);
}

#[test]
fn what_is_answered_in_the_short_drain_counts() {
    let slice = slice(Schedule::Closed, seconds(60));
    let cancel = slice.cancel.clone();
    let mut worker = worker(World::new(Box::new(move |arrival| {
        cancel.cancel();
        Reaction::Answer { at: arrival + Duration::from_millis(300), bytes: super::simulation::ANSWER }
    })));
    worker.prepare(4, &Cancel::new()).unwrap();
    let sample = worker.run(&slice).unwrap();
    assert_eq!((sample.ok, sample.cut_off, sample.cancelled), (4, 0, true));
}

#[test]
fn a_cancellation_in_the_drain_cuts_the_drain_short() {
    let cancel = Cancel::new();
    let mut slice = slice(Schedule::Closed, seconds(1));
    slice.drain_timeout = Duration::from_secs(10);
    slice.cancel = cancel.clone();
    // The one answer of the drain comes when it has lasted 1 s, and with it the cancellation.
    let mut count = 0;
    let mut worker: Worker<_, _> = worker(World::new(Box::new(move |_| {
        count += 1;
        match count {
            1 => Reaction::Answer { at: Nanos(1_050 * MS), bytes: super::simulation::ANSWER },
            _ => {
                cancel.cancel();
                Reaction::Never
            }
        }
    })));
    worker.prepare(1, &Cancel::new()).unwrap();
    let sample = worker.run(&slice).unwrap();
    assert_eq!((sample.ok, sample.cut_off, sample.failed), (1, 1, 0));
    assert!(worker.core.now() <= Nanos(1_700 * MS), "{:?}", worker.core.now());
}

#[test]
fn a_cancellation_ends_the_preparation() {
    let world = World::new(after(Duration::ZERO)).listening(Listener::Ignores);
    let cancel = Cancel::new();
    cancel.cancel();
    let mut worker = worker(world);
    worker.prepare(128, &cancel).unwrap();
    assert_eq!(worker.core.now(), Nanos::ZERO);
}
