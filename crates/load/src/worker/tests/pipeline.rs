//! Several requests under way on one connection: which answer belongs to which, and what is lost with a connection.

use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};
use tare_sys::clock::Nanos;

use super::simulation::{ANSWER, Reaction, World, after};
use super::{MS, constant, drive, seconds, slice, with_protocol};
use crate::protocol::Protocol;
use crate::schedule::Schedule;
use crate::schedule::stop_rule::StopRule;
use crate::worker::WorkerSlice;

fn run(pipeline: u32, connections: usize, world: World, slice: &WorkerSlice) -> SliceSample {
    let sample = drive(with_protocol(Protocol::Http1 { pipeline }, world), connections, slice);
    assert_eq!((sample.response.len(), sample.failed_time.len()), (sample.ok, sample.failed));
    sample
}

fn count(requests: u64) -> WorkerSlice {
    slice(Schedule::Closed, StopRule::Count { requests, at_most: Duration::from_secs(20) })
}

#[test]
fn a_connection_has_as_many_users_as_it_is_deep() {
    let world = World::new(after(Duration::from_millis(2)));
    let sample = run(16, 3, world, &slice(Schedule::Closed, seconds(1)));
    assert_eq!((sample.offered, sample.ok, sample.connections_opened), (24_000, 24_000, 3));
}

#[test]
fn answers_that_come_together_each_settle_their_request_and_the_next_leave_together() {
    const THREE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\
        HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let mut arrived = 0;
    let script = Box::new(move |arrival: Nanos| {
        arrived += 1;
        let at = arrival + Duration::from_millis(1);
        if arrived % 3 == 0 { Reaction::Answer { at, bytes: THREE } } else { Reaction::Never }
    });
    let world = World::new(script);
    let sends = world.sends();
    let sample = run(3, 1, world, &count(30));
    assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Status).count, sample.connections_lost), (20, 10, 0));
    assert_eq!(sends.get(), 10);
    assert_eq!(sample.response.max_ns().map(|ns| ns / 10_000), Some(MS / 10_000));
}

#[test]
fn a_place_of_an_open_schedule_is_free_as_soon_as_one_answer_is_there() {
    let world = World::new(after(Duration::from_millis(10)));
    let sample = run(4, 1, world, &slice(Schedule::constant(400.0), seconds(1)));
    assert_eq!((sample.offered, sample.ok, sample.blocked), (400, 400, 0));
}

#[test]
fn what_is_behind_an_answer_that_does_not_come_is_lost_with_it() {
    let world = World::new(Box::new(|_| Reaction::Never));
    let sample = run(4, 1, world, &count(4));
    assert_eq!((sample.errors.for_class(ErrorClass::Timeout).count, sample.connections_lost), (4, 1));
}

#[test]
fn what_is_behind_the_last_answer_of_a_connection_is_a_read_error() {
    const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    let script = Box::new(|arrival| Reaction::Answer { at: arrival + Duration::from_millis(1), bytes: LAST });
    let sample = run(4, 1, World::new(script), &count(8));
    assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Read).count, sample.connections_lost), (2, 6, 2));
    assert!(sample.errors.for_class(ErrorClass::Read).example.contains("the answer before"));
}

#[test]
fn a_reset_fails_everything_under_way() {
    let mut arrived = 0;
    let script = Box::new(move |arrival: Nanos| {
        arrived += 1;
        let at = arrival + Duration::from_millis(1);
        if arrived == 4 {
            Reaction::Reset { at }
        } else {
            Reaction::Answer { at: at + Duration::from_millis(1), bytes: ANSWER }
        }
    });
    let sample = run(4, 1, World::new(script), &count(12));
    assert_eq!((sample.ok, sample.errors.for_class(ErrorClass::Read).count), (8, 4));
}

#[test]
fn one_answer_too_many_breaks_the_connection() {
    const TWICE: &[u8] =
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let script = Box::new(|arrival| Reaction::Answer { at: arrival + Duration::from_millis(1), bytes: TWICE });
    let sample = run(2, 1, World::new(script), &count(2));
    // The first two answers are taken for both requests. The bytes after them answer no request.
    assert_eq!((sample.ok, sample.failed, sample.connections_lost), (2, 0, 1));
    assert_eq!(sample.connection_events.for_class(ErrorClass::Protocol).count, 1);
}

/// A server of HTTP/2 that answers nothing. With the request on this stream it says that it takes no more.
fn silent_until(last_stream: u8) -> World {
    const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    World::with_byte_script(Box::new(move |_, now: Nanos, sent: &[u8]| {
        let frame = match sent {
            [b'P', b'R', b'I', ..] => SETTINGS.to_vec(),
            [_, _, _, 1, _, _, _, _, stream, ..] if *stream == last_stream => {
                [&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, last_stream][..], &[0; 4]].concat()
            }
            _ => return Vec::new(),
        };
        vec![(now + Duration::from_millis(1), frame)]
    }))
}

#[test]
fn a_timeout_on_a_connection_that_takes_no_more_requests_loses_no_other() {
    // The second leaves 100 ms after the first, and is overdue 100 ms after it.
    let worker = with_protocol(Protocol::Http2 { streams: 2 }, silent_until(3));
    let stop = StopRule::Count { requests: 2, at_most: Duration::from_secs(20) };
    let sample = drive(worker, 1, &slice(constant(10.0), stop));
    let timeouts = sample.errors.for_class(ErrorClass::Timeout).count;
    assert_eq!((sample.offered, timeouts, sample.connections_lost, sample.window_ns), (2, 2, 1, 10_100 * MS));
}

#[test]
fn a_request_that_waited_until_another_timed_out_was_blocked() {
    // The second is due 2 s after the first, and leaves when that times out.
    let worker = with_protocol(Protocol::Http2 { streams: 1 }, silent_until(0));
    let stop = StopRule::Count { requests: 2, at_most: Duration::from_secs(20) };
    let sample = drive(worker, 1, &slice(constant(0.5), stop));
    assert_eq!((sample.sent, sample.failed, sample.blocked, sample.blocked_ns), (2, 2, 1, 8_000 * MS));
}
