//! What fails on a connection and belongs to no request has a table of its own: failed requests and errors agree.

use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};

use super::simulation::{ANSWER, Listener, Reaction, World, after};
use super::{constant, drive, seconds, slice, speaking, worker};
use crate::input::request::{RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::schedule::stop_rule::StopRule;
use crate::schedule::think::Think;
use crate::schedule::{Schedule, Stages};

/// One second of ten requests per second, one after another, on one connection.
fn ten_requests(world: World) -> SliceSample {
    let sample = drive(worker(world), 1, &slice(constant(10.0), seconds(1)));
    assert_eq!(sample.offered, 10);
    assert_eq!(sample.errors.total(), sample.failed, "each failed request is in one class: {:?}", sample.errors);
    sample
}

#[test]
fn an_answer_that_comes_again_is_a_connection_event_and_no_failed_request() {
    let twice = |after_ms: u64, at| (at + Duration::from_millis(after_ms), ANSWER.to_vec());
    let sample = ten_requests(World::with_byte_script(Box::new(move |_, at, _| vec![twice(1, at), twice(21, at)])));
    assert_eq!((sample.ok, sample.failed), (10, 0));
    let unasked = sample.connection_events.for_class(ErrorClass::Protocol);
    assert_eq!((unasked.count, sample.connection_events.total()), (10, 10));
    assert!(unasked.example.contains("bytes without a request"), "{}", unasked.example);
}

#[test]
fn attempts_to_connect_that_no_request_waits_for_are_connection_events() {
    let sample = ten_requests(World::new(after(Duration::ZERO)).listening(Listener::Refuses));
    assert_eq!((sample.ok, sample.failed), (0, 10));
    assert_eq!(sample.errors.for_class(ErrorClass::Timeout).count, 10, "no connection took them");
    assert!(sample.connection_events.for_class(ErrorClass::Connect).count > 0);
}

/// Three users of a server that takes their first connections, resets them after 20 answers, and refuses all others.
#[test]
fn every_failed_connect_of_a_closed_loop_is_in_one_of_the_two_tables() {
    let hundred = StopRule::Count { requests: 100, at_most: Duration::from_secs(5) };
    let leaving = Stages::starting_at(3.0).then(1.0, Duration::from_secs(1));
    for (schedule, think, stop) in [
        (Schedule::Closed, Think::No, seconds(1)),
        (Schedule::Closed, Think::Constant(Duration::from_millis(40)), seconds(1)),
        (Schedule::Closed, Think::Constant(Duration::from_millis(40)), hundred),
        (Schedule::Closed, Think::No, hundred),
        (Schedule::ClosedStages { users: leaving.clone() }, Think::No, seconds(1)),
        (Schedule::ClosedStages { users: leaving.clone() }, Think::Constant(Duration::from_millis(40)), seconds(1)),
    ] {
        let mut answered = 0;
        let script = Box::new(move |arrival| {
            answered += 1;
            if answered <= 20 {
                Reaction::Answer { at: arrival, bytes: ANSWER }
            } else {
                Reaction::Reset { at: arrival }
            }
        });
        let world = World::new(script).listening(Listener::RefusesAfter(3));
        let connects = world.connects();
        let requests = Requests { think, ..RequestSpec::get("/").into() };
        let what = format!("{schedule:?}, {think:?}, {stop:?}");
        let sample = drive(speaking(Protocol::default(), &requests, world), 3, &slice(schedule, stop));
        let failed = sample.errors.for_class(ErrorClass::Connect).count;
        let events = sample.connection_events.for_class(ErrorClass::Connect).count;
        assert_eq!(sample.errors.total(), sample.failed, "{what}");
        assert_eq!(failed + events, connects.get() as u64 - 3, "{what}: {failed} + {events}");
    }
}
