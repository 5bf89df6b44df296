//! Requests that end their connection, and bytes that no request asked for.

use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};

use super::simulation::{Reaction, World, after};
use super::{drive, slice, speaking};
use crate::input::check::Check;
use crate::input::request::{RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::schedule::Schedule;
use crate::schedule::stop_rule::StopRule;

const DELAY: Duration = Duration::from_millis(1);

fn closing() -> Requests {
    RequestSpec::get("/").header("connection", "x, Close").expecting(Check::body_is(*b"ok")).into()
}

fn staying() -> Requests {
    RequestSpec::get("/").expecting(Check::body_is(*b"ok")).into()
}

fn run(pipeline: u32, requests: &Requests, world: World, count: u64) -> SliceSample {
    let stop = StopRule::Count { requests: count, at_most: Duration::from_secs(20) };
    drive(speaking(Protocol::Http1 { pipeline }, requests, world), 1, &slice(Schedule::Closed, stop))
}

/// A world whose server gives every request the same answer.
fn answering(bytes: &'static [u8]) -> World {
    World::new(Box::new(move |arrival| Reaction::Answer { at: arrival + DELAY, bytes }))
}

#[test]
fn a_request_that_announces_close_is_the_last_of_its_connection() {
    for pipeline in [1, 4] {
        let sample = run(pipeline, &closing(), World::new(after(DELAY)), 20);
        assert_eq!((sample.ok, sample.failed, sample.connections_opened), (20, 0, 20), "{:?}", sample.errors);
        assert_eq!(sample.connections_lost, 0);
    }
}

#[test]
fn requests_before_one_that_closes_share_its_connection() {
    let mut list = staying().list;
    list.extend(staying().list);
    list.extend(closing().list);
    for pipeline in [1, 2, 8] {
        let sample = run(pipeline, &Requests::of(list.clone()), World::new(after(DELAY)), 30);
        assert_eq!((sample.ok, sample.failed, sample.connections_opened), (30, 0, 10), "{:?}", sample.errors);
    }
}

#[test]
fn no_request_follows_an_answer_with_which_the_server_ends_the_connection() {
    let world = World::new(Box::new(|arrival| Reaction::LastAnswer { at: arrival + DELAY }));
    let sample = run(1, &staying(), world, 20);
    assert_eq!((sample.ok, sample.failed, sample.connections_opened), (20, 0, 20), "{:?}", sample.errors);
}

#[test]
fn empty_lines_behind_an_answer_mean_nothing() {
    for bytes in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\r\n"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\r\n\r\n\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\r",
        b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ] {
        for pipeline in [1, 4] {
            let sample = run(pipeline, &staying(), answering(bytes), 12);
            assert_eq!((sample.ok, sample.failed, sample.connections_opened), (12, 0, 1), "{pipeline}");
            assert_eq!(sample.connection_events.total(), 0, "{:?}", sample.connection_events);
        }
    }
}

#[test]
fn other_bytes_behind_an_answer_break_the_connection_and_no_request() {
    for bytes in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!!"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\r\n!!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok!!",
    ] {
        let sample = run(1, &staying(), answering(bytes), 5);
        let broken = sample.connection_events.for_class(ErrorClass::Protocol);
        assert_eq!((sample.ok, sample.failed, broken.count, sample.connections_lost), (5, 0, 5, 5));
        assert_eq!(broken.example, "2 bytes without a request: \"!!\"");
    }
}
