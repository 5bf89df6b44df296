//! Frames of a server, and how the requests end upon them.

use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::poll::Token;
use tare_wire::http::Method;

use super::Http2;
use crate::input::check::Check;
use crate::input::request::{Parts, RequestSet, RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::protocol::connection::{Exchange, Step};
use crate::protocol::offline::{Outbox, RequestEnd, outcome_of_bytes};
use crate::recorder::Times;

const HEADERS: u8 = 1;

/// A frame of the server.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
}

#[test]
fn an_answer_counts_although_what_follows_it_in_the_same_piece_breaks_the_connection() {
    let settings = frame(4, 0, 0, b"");
    let answer = [frame(HEADERS, 4, 1, b"\x88"), frame(0, 1, 1, b"ok")].concat();
    let no_more_streams = frame(4, 0, 0, b"\0\x03\0\0\0\0");
    for (piece, what) in [
        ([answer.clone(), frame(HEADERS, 4, 3, b"\x90")].concat(), "a head without a status"),
        ([answer.clone(), frame(4, 0, 0, b"\0\x02\0\0\0\x02")].concat(), "a forbidden setting"),
        ([no_more_streams, answer, frame(0, 1, 0, b"x")].concat(), "data of no stream, after a limit of no streams"),
    ] {
        let request = RequestSpec::get("/").expecting(Check::status(200));
        let pieces = [&settings[..], &piece];
        let outcome = outcome_of_bytes(Protocol::Http2 { streams: 2 }, &Requests::of(vec![request]), pieces).unwrap();
        assert!(outcome.ended.contains(&(0, RequestEnd::Answered)), "{what}: {outcome:?}");
        let of_second = outcome.ended.iter().find(|(number, _)| *number == 1).map(|(_, end)| *end);
        let other = of_second.or(outcome.broken.map(RequestEnd::Failed));
        assert_eq!(other, Some(RequestEnd::Failed(ErrorClass::Protocol)), "{what}: {outcome:?}");
    }
}

/// How the request ends upon these bytes behind the settings, and the connection, if it had ended before.
fn ends_upon(bytes: &[u8], size: usize) -> (Option<RequestEnd>, Option<ErrorClass>) {
    let settings = frame(4, 0, 0, b"");
    let requests = Requests::of(vec![RequestSpec::get("/").expecting(Check::status(200))]);
    let pieces = std::iter::once(&settings[..]).chain(bytes.chunks(size));
    let outcome = outcome_of_bytes(Protocol::Http2 { streams: 1 }, &requests, pieces).unwrap();
    match outcome.ended.first() {
        Some((_, end)) => (Some(*end), outcome.broken),
        None => (outcome.broken.map(RequestEnd::Failed), None),
    }
}

#[test]
fn what_breaks_a_connection_behind_its_last_answer_is_told() {
    let answer = [frame(HEADERS, 4, 1, b"\x88"), frame(0, 1, 1, b"ok")].concat();
    for (end, class, what) in [
        (frame(HEADERS, 5, 99, b"\x88"), ErrorClass::Protocol, "a head on an idle stream"),
        (vec![0xff; 40], ErrorClass::Protocol, "bytes that are no frames"),
        (frame(0, 1, 0, b"x"), ErrorClass::Protocol, "data of no stream"),
        (frame(7, 0, 0, b"\0\0\0\x01\0\0\0\x01"), ErrorClass::Read, "a GOAWAY with an error"),
    ] {
        let bytes = [answer.clone(), end].concat();
        for size in [bytes.len(), 1, 7] {
            let expected = (Some(RequestEnd::Answered), Some(class));
            assert_eq!(ends_upon(&bytes, size), expected, "{what}, in pieces of {size}");
        }
    }
}

#[test]
fn what_fails_the_last_stream_of_a_connection_is_told_once() {
    let expected = (Some(RequestEnd::Failed(ErrorClass::Protocol)), None);
    assert_eq!(ends_upon(&frame(0, 1, 0, b"x"), usize::MAX), expected);
}

#[test]
fn what_a_server_says_when_it_ends_a_connection_is_told() {
    let requests = RequestSet::encode("localhost", &Requests::of(vec![RequestSpec::get("/")])).unwrap();
    for (reason, says) in [
        (&b""[..], ": detected excessive load generating behavior"),
        (b"too_many_pings", ": detected excessive load generating behavior: \"too_many_pings\""),
        (b"\x1b", ": detected excessive load generating behavior: \"\\x1b\""),
    ] {
        let mut http2 = Http2::new("http://localhost".into(), None);
        http2.open();
        let end = frame(7, 0, 0, &[&b"\0\0\0\0\0\0\0\x0b"[..], reason].concat());
        let step = http2.receive(&mut &*[frame(4, 0, 0, b""), end].concat(), &requests);
        assert!(matches!(&step, Step::Broken(problem) if problem.text.ends_with(says)), "{step:?}, not {says}");
    }
}

#[test]
fn an_answer_that_has_no_body_has_no_data() {
    for (method, head) in [
        (Method::GET, &b"\x89"[..]),
        // A status of 304, and the length of the body that would have come.
        (Method::GET, b"\x8b\x0f\x0d\x015"),
        (Method::HEAD, b"\x88\x0f\x0d\x015"),
    ] {
        for (data, end) in [(&b""[..], RequestEnd::Answered), (b"12345", RequestEnd::Failed(ErrorClass::Protocol))] {
            let statuses = [200, 204, 304].map(Check::status);
            let request = statuses.into_iter().fold(RequestSpec::new(method.clone(), "/"), RequestSpec::expecting);
            let settings = frame(4, 0, 0, b"");
            let answer = [frame(HEADERS, 4, 1, head), frame(0, 1, 1, data)].concat();
            let pieces = [&settings[..], &answer];
            let protocol = Protocol::Http2 { streams: 1 };
            let outcome = outcome_of_bytes(protocol, &Requests::of(vec![request]), pieces).unwrap();
            assert_eq!(outcome.ended, [(0, end)], "{method} {head:?}");
        }
    }
}

#[test]
fn a_request_that_waits_for_a_stream_leaves_when_there_is_one() {
    let requests = RequestSet::encode("localhost", &Requests::of(vec![RequestSpec::get("/")])).unwrap();
    let parts = Arc::new(Parts::new(Method::GET, "/".to_owned(), Vec::new(), [][..].into()));
    let mut http2 = Http2::new("http://localhost".into(), None);
    http2.open();
    for intended in [1, 2] {
        let times = Times { intended: Nanos(intended), sent: Some(Nanos(intended)), ..Times::default() };
        http2.begin(Exchange::new(&requests, 0, times, Nanos(100)), Arc::clone(&parts));
    }
    // One stream at a time; the first answer makes room for the second request. The first one has waited for the connection.
    http2.received_at = Nanos(10);
    http2.receive(&mut &*frame(4, 0, 0, b"\0\x03\0\0\0\x01"), &requests);
    for (at, stream, blocked_until) in [(20, 1, None), (30, 3, Some(Nanos(20)))] {
        http2.received_at = Nanos(at);
        let Step::Finished(exchange, None) = http2.receive(&mut &*frame(HEADERS, 5, stream, b"\x88"), &requests) else {
            panic!("stream {stream} has no answer")
        };
        let (times, left) = (exchange.times, Some(Nanos(at - 10)));
        assert_eq!(
            (times.sent, times.blocked_until, times.connected_at),
            (left, blocked_until, left),
            "stream {stream}"
        );
    }
}

#[test]
fn a_request_that_is_sent_again_has_no_part_of_the_first_answer() {
    let request = RequestSpec::get("/").expecting(Check::length(4));
    let requests = RequestSet::encode("localhost", &Requests::of(vec![request])).unwrap();
    let parts = Arc::new(Parts::new(Method::GET, "/".to_owned(), Vec::new(), [][..].into()));
    let mut http2 = Http2::new("http://localhost".into(), None);
    http2.open();
    http2.begin(Exchange::new(&requests, 0, Times::default(), Nanos(1)), parts);
    let begun = [frame(4, 0, 0, b""), frame(HEADERS, 4, 1, b"\x88"), frame(0, 0, 1, b"part")].concat();
    assert!(matches!(http2.receive(&mut &*begun, &requests), Step::More));
    let Step::Returned(mut returned) = http2.receive(&mut &*frame(7, 0, 0, &[0; 8]), &requests) else {
        panic!("it was not processed, says the server")
    };
    assert_eq!((returned.exchange.times.status, returned.exchange.progress().as_str()), (0, ""));
    returned.exchange.answer.take_body(b"full", &requests.get(0).expectation);
    assert!(matches!(returned.exchange.complete(&requests, ""), Step::Finished(_, None)));
}

#[test]
fn a_timeout_says_why_the_request_has_not_left() {
    let requests = RequestSet::encode("localhost", &Requests::of(vec![RequestSpec::get("/")])).unwrap();
    let parts = Parts::new(Method::POST, "/".to_owned(), Vec::new(), b"12345"[..].into());
    let text_upon = |bytes: &[u8]| {
        let mut http2 = Http2::new("http://localhost".into(), None);
        http2.open();
        http2.begin(Exchange::new(&requests, 0, Times::default(), Nanos(1)), Arc::new(parts.clone()));
        http2.receive(&mut &*bytes, &requests);
        http2.flush(&mut Outbox::default(), Token(0));
        let overdue = http2.take_overdue(Nanos(1)).unwrap();
        overdue.progress()
    };
    let settings = |payload: &[u8]| frame(4, 0, 0, payload);
    for (bytes, says) in [
        (vec![], "sent no SETTINGS"),
        (settings(b"\0\x03\0\0\0\0"), "permits no more streams"),
        (settings(b"\0\x04\0\0\0\x02"), "gives no window"),
        (settings(b""), ""),
        ([settings(b""), frame(HEADERS, 4, 1, b"\x08\x03103")].concat(), "only an interim status"),
        ([settings(b"\0\x04\0\0\0\x02"), frame(HEADERS, 4, 1, b"\x88")].concat(), "status 200 came"),
    ] {
        let text = text_upon(&bytes);
        assert!(text.contains(says) && text.is_empty() == says.is_empty(), "{text}, not {says}");
    }
}

#[test]
fn a_connection_on_which_a_ping_is_not_answered_in_the_time_of_a_request_is_given_up() {
    let requests = RequestSet::encode("localhost", &Requests::of(vec![RequestSpec::get("/")])).unwrap();
    let parts = Arc::new(Parts::new(Method::GET, "/".to_owned(), Vec::new(), b""[..].into()));
    let mut http2 = Http2::new("http://localhost".into(), None);
    http2.open();
    http2.receive(&mut &*frame(4, 0, 0, b""), &requests);
    // How many requests are taken, each of which had 10 ns, and whether the connection is given up.
    let overdue = |http2: &mut Http2, deadlines: &[u64], now: u64| {
        for deadline in deadlines {
            let times = Times { intended: Nanos(deadline - 10), ..Times::default() };
            http2.begin(Exchange::new(&requests, 0, times, Nanos(*deadline)), Arc::clone(&parts));
        }
        let taken = std::iter::from_fn(|| http2.take_overdue(Nanos(now))).count();
        (taken, http2.is_retired())
    };
    assert_eq!(overdue(&mut http2, &[11, 11, 99], 11), (2, false), "they left before the ping");
    http2.receive(&mut &*frame(6, 1, 0, b"12345678"), &requests);
    assert_eq!(overdue(&mut http2, &[21], 21), (1, false), "the ping was answered");
    assert_eq!(overdue(&mut http2, &[30], 30), (1, false), "the answer may still come");
    assert_eq!(overdue(&mut http2, &[31], 31), (2, true), "with the one that was not overdue");
    http2.open();
    assert_eq!(overdue(&mut http2, &[41, 99], 41), (2, true), "the server sent no settings");
}

#[test]
fn no_more_pings_leave_than_a_server_of_grpc_takes_before_it_answers_again() {
    let requests = RequestSet::encode("localhost", &Requests::of(vec![RequestSpec::get("/")])).unwrap();
    let parts = Arc::new(Parts::new(Method::GET, "/".to_owned(), Vec::new(), b""[..].into()));
    let mut http2 = Http2::new("http://localhost".into(), None);
    http2.open();
    http2.receive(&mut &*frame(4, 0, 0, b""), &requests);
    // Whether a ping leaves with the reset of an overdue request. The server answers it.
    let pings_at = |http2: &mut Http2, now: u64| {
        http2.begin(Exchange::new(&requests, 0, Times::default(), Nanos(now)), Arc::clone(&parts));
        assert!(http2.take_overdue(Nanos(now)).is_some());
        let has_pinged = http2.out.ends_with(&frame(6, 0, 0, &[0; 8]));
        http2.receive(&mut &*frame(6, 1, 0, &[0; 8]), &requests);
        has_pinged
    };
    let of_silent_server = [10, 20, 30, 40].map(|now| pings_at(&mut http2, now));
    assert_eq!(of_silent_server, [true, true, false, false]);
    assert!(!http2.is_retired());
    http2.begin(Exchange::new(&requests, 0, Times::default(), Nanos(99)), Arc::clone(&parts));
    http2.receive(&mut &*frame(HEADERS, 5, 9, b"\x88"), &requests);
    assert!(pings_at(&mut http2, 50), "an answer has come");
}
