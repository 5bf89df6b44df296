//! A cancelled slice ends soon, and its sample is usable.

use std::time::Duration;

use tare_sample::SliceSample;
use tare_sys::clock::{Clock, Nanos};

use super::simulation::{ANSWER, Listener, Reaction, World, after};
use super::{MS, drive, seconds, slice, worker};
use crate::cancel::Cancel;
use crate::schedule::Schedule;

/// A server that answers after 1 ms until 200 ms, and then hangs. The slice is cancelled at 250 ms.
fn hanging(cancel: &Cancel) -> World {
    World::new(Box::new(|arrival| match arrival {
        Nanos(..200_000_000) => Reaction::Answer { at: arrival + Duration::from_millis(1), bytes: ANSWER },
        _ => Reaction::Never,
    }))
    .cancelling(Nanos(250 * MS), cancel)
}

/// Runs a slice of 4 connections that begins at 100 ms; returns the sample, and when the slice was over.
fn cut_short(schedule: Schedule, drain_timeout: Duration) -> (SliceSample, Nanos) {
    let mut slice = slice(schedule, seconds(60));
    slice.spec.drain_timeout = drain_timeout;
    let world = hanging(&slice.cancel);
    let clock = world.clock();
    let sample = drive(worker(world), 4, &slice);
    assert!(sample.cancelled && sample.offered == sample.ok);
    assert_eq!((sample.failed, sample.errors.total(), sample.connections_lost), (0, 0, 0));
    (sample, clock.now())
}

#[test]
fn a_cancelled_slice_ends_its_window_at_once() {
    let mut worker = worker(World::new(after(Duration::from_millis(1))));
    worker.prepare(1, &Cancel::new(), &mut |_| {}).unwrap();
    let slice = slice(Schedule::Closed, seconds(3600));
    slice.cancel.cancel();
    let sample = worker.run(&slice, &mut |_| {}).unwrap();
    assert!(sample.cancelled && sample.window_ns == 0 && sample.cut_off == 0);
    assert!(worker.runner.now() < slice.start + Duration::from_secs(1));
}

#[test]
fn a_hung_server_cannot_hold_up_a_cancellation() {
    // Noticed within 100 ms, then drained for 500 ms, or for the shorter drain of the slice.
    let (sample, end) = cut_short(Schedule::Closed, Duration::from_secs(10));
    assert_eq!((sample.ok, sample.cut_off), (400, 4));
    assert!(end <= Nanos(850 * MS), "{end:?}");
    let (_, end) = cut_short(Schedule::Closed, Duration::from_millis(20));
    assert!(end <= Nanos(370 * MS), "{end:?}");
}

#[test]
fn requests_that_wait_for_a_connection_are_cut_off_too() {
    let (sample, _) = cut_short(Schedule::constant(1000.0), Duration::from_secs(10));
    assert_eq!(sample.ok, 100);
    // Four requests under way, and those that were due before the cancellation was noticed.
    assert!((50..=200).contains(&sample.cut_off), "{}", sample.cut_off);
}

#[test]
fn what_is_answered_in_the_short_drain_counts() {
    let slice = slice(Schedule::Closed, seconds(60));
    let world = World::new(after(Duration::from_millis(450))).cancelling(Nanos(150 * MS), &slice.cancel);
    let sample = drive(worker(world), 4, &slice);
    assert_eq!((sample.ok, sample.cut_off, sample.cancelled), (4, 0, true));
}

#[test]
fn a_cancellation_in_the_drain_cuts_the_drain_short() {
    let mut slice = slice(Schedule::Closed, seconds(1));
    slice.spec.drain_timeout = Duration::from_secs(10);
    let world = World::new(Box::new(|_| Reaction::Never)).cancelling(Nanos(1_500 * MS), &slice.cancel);
    let mut worker = worker(world);
    worker.prepare(1, &Cancel::new(), &mut |_| {}).unwrap();
    let sample = worker.run(&slice, &mut |_| {}).unwrap();
    assert_eq!((sample.window_ns, sample.cut_off, sample.failed), (1_000 * MS, 1, 0));
    assert!(worker.runner.now() <= Nanos(2_100 * MS), "{:?}", worker.runner.now());
}

#[test]
fn a_cancellation_ends_the_preparation() {
    let world = World::new(after(Duration::ZERO)).listening(Listener::Ignores);
    let cancel = Cancel::new();
    cancel.cancel();
    let mut worker = worker(world);
    worker.prepare(128, &cancel, &mut |_| {}).unwrap();
    assert_eq!(worker.runner.now(), Nanos::ZERO);
}
