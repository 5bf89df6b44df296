//! Servers that end idle connections before the users of those have thought long enough. Each user thinks on and sends on a new
//! connection: every load ends, and has as many requests as its plan implies.

use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};
use tare_sys::clock::{Clock, Nanos};

use super::simulation::{Listener, Reaction, World, after};
use super::websocket::answering;
use super::{MS, constant, drive, seconds, slice, speaking};
use crate::cancel::Cancel;
use crate::input::request::{RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::recorder::slice::WorkerSlice;
use crate::schedule::stop_rule::StopRule;
use crate::schedule::think::Think;
use crate::schedule::{Schedule, Stages};

const HTTP1: Protocol = Protocol::Http1 { pipeline: 1 };
const ANSWER_AFTER: Duration = Duration::from_millis(1);
const IDLE: Duration = Duration::from_millis(150);
/// Longer than a server waits.
const LONG: Think = Think::Constant(Duration::from_millis(299));
const TOLD: &[u8] = b"HTTP/1.1 408 Request Time-out\r\nContent-length: 0\r\nConnection: close\r\n\r\n";

fn thinking(think: Think, header: &str) -> Requests {
    Requests { think, ..RequestSpec::get("/").header("connection", header).into() }
}

fn count(requests: u64) -> StopRule {
    StopRule::Count { requests, at_most: Duration::from_secs(3600) }
}

/// The sample of a load, which must end long before its limit.
fn run(
    protocol: Protocol,
    requests: &Requests,
    connections: usize,
    world: World,
    of: (Schedule, StopRule),
) -> SliceSample {
    let clock = world.clock();
    let sample = drive(speaking(protocol, requests, world), connections, &slice(of.0, of.1));
    assert!(clock.now() < Nanos(20_000 * MS), "it ended at {:?}", clock.now());
    sample
}

#[test]
fn users_whose_connections_end_while_they_think_send_on_new_ones() {
    for last_words in [&b""[..], TOLD] {
        for header in ["keep-alive", "close"] {
            for pipeline in [1, 3] {
                let world = World::new(after(ANSWER_AFTER)).ending_idle(IDLE, last_words);
                let of = (Schedule::Closed, count(20 * pipeline as u64));
                let sample = run(Protocol::Http1 { pipeline }, &thinking(LONG, header), 4, world, of);
                let what = format!("{last_words:?}, {header}, {pipeline} deep");
                assert_eq!((sample.ok, sample.failed), (20 * pipeline as u64, 0), "{what}: {:?}", sample.errors);
                assert_eq!(sample.connection_events.total(), 0, "{what}: {:?}", sample.connection_events);
                // Five rounds of 300 ms: the first request leaves at once.
                assert!((1200 * MS..1210 * MS).contains(&sample.window_ns), "{what}: {}", sample.window_ns);
                assert!(sample.response.max_ns().is_some_and(|ns| ns < 2 * MS), "{what}: no think time in a latency");
                assert_eq!(sample.send_lag.max_ns(), Some(0), "{what}: the time to connect is no lag of the generator");
            }
        }
    }
}

#[test]
fn connections_that_have_rested_for_long_between_two_slices_are_opened_anew() {
    for (rest_ms, opened) in [(3_900, 2), (4_000, 4)] {
        let world = World::new(after(ANSWER_AFTER));
        let (clock, connects) = (world.clock(), world.connects());
        let mut worker = speaking(HTTP1, &RequestSpec::get("/").into(), world);
        for rest in [Duration::ZERO, Duration::from_millis(rest_ms)] {
            clock.pass(rest);
            assert_eq!(worker.prepare(2, &Cancel::new(), &mut |_| {}).unwrap(), 2);
            let of = WorkerSlice { start: clock.now(), ..slice(Schedule::Closed, count(4)) };
            let sample = worker.run(&of, &mut |_| {}).unwrap();
            assert_eq!((sample.ok, sample.connection_events.total()), (4, 0));
        }
        assert_eq!(connects.get(), opened, "after {rest_ms} ms");
    }
}

#[test]
fn a_load_by_time_has_the_requests_that_its_think_times_imply() {
    let world = World::new(after(ANSWER_AFTER)).ending_idle(IDLE, TOLD);
    let sample = run(HTTP1, &thinking(LONG, "keep-alive"), 4, world, (Schedule::Closed, seconds(3)));
    assert_eq!((sample.ok, sample.failed), (40, 0));
}

#[test]
fn nobody_opens_a_connection_only_to_think() {
    let world = World::new(after(ANSWER_AFTER)).ending_idle(IDLE, b"");
    let connects = world.connects();
    run(HTTP1, &thinking(LONG, "keep-alive"), 4, world, (Schedule::Closed, count(20)));
    assert_eq!(connects.get(), 20, "one for each request");
}

#[test]
fn users_of_a_later_stage_connect_when_their_stage_begins() {
    let rising = Stages::starting_at(0.0).then(0.0, Duration::from_secs(1)).then(4.0, Duration::ZERO);
    for (think, expected) in [(LONG, 4 * 7), (Think::Constant(Duration::from_millis(99)), 4 * 20)] {
        let world = World::new(after(ANSWER_AFTER)).ending_idle(IDLE, TOLD);
        let connects = world.connects();
        let of = (Schedule::ClosedStages { users: rising.clone() }, seconds(3));
        let sample = run(HTTP1, &thinking(think, "keep-alive"), 4, world, of);
        assert_eq!((sample.ok, sample.failed), (expected, 0), "{think:?}");
        assert!(connects.get() <= expected as usize + 4, "{think:?}: {}", connects.get());
    }
}

#[test]
fn users_think_also_after_a_failed_connect_and_a_load_ends_without_a_server() {
    for think in [LONG, Think::No] {
        let world = World::new(after(ANSWER_AFTER)).ending_idle(IDLE, b"").listening(Listener::RefusesAfter(2));
        let sample = run(HTTP1, &thinking(think, "close"), 2, world, (Schedule::Closed, count(20)));
        assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Connect).count), (2, 18), "{think:?}");
    }
}

#[test]
fn a_server_that_hangs_up_on_each_request_ends_no_load() {
    for think in [LONG, Think::No] {
        let world = World::new(Box::new(|arrival| Reaction::Reset { at: arrival }));
        let sample = run(HTTP1, &thinking(think, "keep-alive"), 2, world, (Schedule::Closed, count(20)));
        assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Read).count), (0, 20), "{think:?}");
    }
}

#[test]
fn a_server_that_takes_leave_of_each_new_connection_is_tried_ever_more_slowly() {
    for schedule in [constant(1.0), Schedule::Closed] {
        let world = World::new(after(ANSWER_AFTER)).ending_idle(Duration::from_micros(100), TOLD);
        let connects = world.connects();
        let waiting = thinking(Think::Constant(Duration::from_secs(1)), "keep-alive");
        let sample = run(HTTP1, &waiting, 2, world, (schedule, seconds(2)));
        assert!(sample.failed == 0 && sample.ok >= 2, "{:?}", sample.errors);
        assert!(connects.get() < 100, "{} connects", connects.get());
    }
}

#[test]
fn websockets_that_end_while_their_users_think_are_opened_again() {
    let world = answering(ANSWER_AFTER, |_| b"ok".to_vec()).ending_idle(IDLE, b"");
    let requests = Requests { think: LONG, ..RequestSpec::get("/").into() };
    let protocol = Protocol::Exchange;
    let sample = run(protocol, &requests, 4, world, (Schedule::Closed, count(20)));
    assert_eq!((sample.ok, sample.failed, sample.connections_opened), (20, 0, 20), "{:?}", sample.errors);
}
