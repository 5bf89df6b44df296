//! Connections are opened in steps, and all of them in time.

use std::time::Duration;

use tare_sys::clock::{Clock, Nanos};

use super::simulation::{Listener, Reaction, World, after};
use super::{MS, drive, one_of, seconds, slice, worker};
use crate::cancel::Cancel;
use crate::schedule::Schedule;

/// A server that accepts a step in slightly less time than the pause lasts.
fn world() -> World {
    World::new(after(Duration::from_millis(1))).listening(Listener::AcceptsAfter(Duration::from_micros(4900)))
}

/// How long one of several workers takes to open its connections, and the largest number that waited for the server
/// meanwhile.
fn preparation(workers: usize, connections: usize) -> (Nanos, usize) {
    let world = world();
    let (clock, most) = (world.clock(), world.most_unaccepted());
    let mut worker = one_of(workers, world, Box::new(|| None));
    worker.prepare(connections, &Cancel::new(), &mut |_| {}).unwrap();
    assert!(worker.runner.connections.is_prepared());
    (clock.now(), most.get())
}

#[test]
fn never_more_than_a_step_waits_to_be_accepted() {
    for (workers, connections, most, at_most_ms) in
        [(1, 20, 20, 1), (1, 128, 32, 20), (1, 2500, 32, 400), (2, 64, 16, 20), (2, 1250, 16, 400), (64, 5, 1, 25)]
    {
        let (took, waited) = preparation(workers, connections);
        assert_eq!(waited, most, "{connections} connections of one of {workers} workers");
        assert!(took < Nanos(at_most_ms * MS), "{connections} of one of {workers} workers took {took:?}");
    }
}

#[test]
fn a_slow_server_is_given_the_time_that_it_needs() {
    let world = world().listening(Listener::AcceptsAfter(Duration::from_millis(22)));
    let (clock, most, backlog) = (world.clock(), world.most_unaccepted(), world.backlog());
    let mut worker = one_of(1, world, backlog);
    worker.prepare(128, &Cancel::new(), &mut |_| {}).unwrap();
    assert!(worker.runner.connections.is_prepared());
    assert_eq!(most.get(), 32);
    assert!((66 * MS..100 * MS).contains(&clock.now().0), "{:?}", clock.now());
}

#[test]
fn a_server_that_gets_on_may_take_longer_than_the_connect_timeout_but_not_for_ever() {
    for (accepts_after_ms, took_ms) in [(600, 1_800..1_900), (900, 2_700..2_800)] {
        let world = world().listening(Listener::AcceptsAfter(Duration::from_millis(accepts_after_ms)));
        let (clock, backlog) = (world.clock(), world.backlog());
        let mut worker = one_of(1, world, backlog);
        worker.prepare(128, &Cancel::new(), &mut |_| {}).unwrap();
        let took = clock.now().0 / MS;
        assert!(worker.runner.connections.is_prepared(), "{accepts_after_ms} ms");
        assert!(took_ms.contains(&took), "{accepts_after_ms} ms a step took {took} ms");
    }
    let world = world().listening(Listener::AcceptsAfter(Duration::from_millis(900)));
    let (clock, backlog) = (world.clock(), world.backlog());
    let mut worker = one_of(1, world, backlog);
    worker.prepare(2500, &Cancel::new(), &mut |_| {}).unwrap();
    assert!(!worker.runner.connections.is_prepared());
    // Twelve connect timeouts, and the pauses between 79 steps.
    assert!((12_000..12_500).contains(&(clock.now().0 / MS)), "{:?}", clock.now());
}

#[test]
fn who_waits_for_a_slow_server_is_told_how_far_it_is() {
    for (accepts_after, connections, expected) in [
        (Duration::from_millis(600), 128, &[32, 32, 64, 64, 96, 96, 96][..]),
        // Progress is not reported within the first quarter of a second.
        (Duration::from_micros(4900), 1500, &[]),
    ] {
        let world = world().listening(Listener::AcceptsAfter(accepts_after));
        let backlog = world.backlog();
        let mut told = Vec::new();
        let open = one_of(1, world, backlog).prepare(connections, &Cancel::new(), &mut |open| told.push(open)).unwrap();
        assert_eq!((open, &*told), (connections, expected), "{accepts_after:?}");
    }
}

#[test]
fn a_full_backlog_is_not_pressed_further() {
    let world = world().listening(Listener::Ignores);
    let (clock, most) = (world.clock(), world.most_unaccepted());
    worker(world).prepare(128, &Cancel::new(), &mut |_| {}).unwrap();
    assert_eq!(most.get(), 32);
    // The connect timeout and four pauses.
    assert!(clock.now() <= Nanos(1_020 * MS));
}

#[test]
fn connections_that_were_lost_together_come_back_in_steps() {
    let world = World::new(Box::new(|arrival| {
        let at = Nanos(200 * MS);
        if arrival < at { Reaction::Reset { at } } else { Reaction::Never }
    }))
    .listening(Listener::AcceptsAfter(Duration::from_micros(4900)));
    let most = world.most_unaccepted();
    let sample = drive(worker(world), 128, &slice(Schedule::Closed, seconds(1)));
    assert_eq!((sample.connections_opened, most.get()), (256, 32));
}
