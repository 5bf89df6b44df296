//! What fails on a connection and belongs to no request has a table of its own: failed requests and errors agree.

use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};

use super::simulation::{ANSWER, Listener, World, after};
use super::tests::{seconds, slice, worker};
use crate::cancel::Cancel;
use crate::schedule::Schedule;

/// One second of ten requests per second, one after another, on one connection.
fn ten_requests(world: World) -> SliceSample {
    let mut worker = worker(world);
    worker.prepare(1, &Cancel::new(), &mut |_| {}).unwrap();
    let slice = slice(Schedule::Constant { rate_per_s: 10.0 }, seconds(1));
    let sample = worker.run(&slice, &mut |_| {}).unwrap();
    assert_eq!((sample.offered, sample.ok + sample.failed), (10, 10));
    assert_eq!(sample.errors.total(), sample.failed, "each failed request is in one class: {:?}", sample.errors);
    sample
}

#[test]
fn an_answer_that_comes_again_is_a_connection_event_and_no_failed_request() {
    let twice = |after_ms: u64, at| (at + Duration::from_millis(after_ms), ANSWER.to_vec());
    let sample = ten_requests(World::talking(Box::new(move |_, at, _| vec![twice(1, at), twice(21, at)])));
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
