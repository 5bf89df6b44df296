//! Streams of events over real sockets: planted times, streams that end early, late or never, and their connections.

mod over_http2;

use std::io::Write;
use std::time::Duration;

use tare_load::{Check, ErrorClass, LoadSession, Protocol, RequestSpec, Requests, SessionSpec, SliceSample};
use tare_reference::Options;

use crate::support::{self, count, drive};

const MS: u64 = 1_000_000;

fn protocol(messages: Option<u64>) -> Protocol {
    Protocol::Events { messages, streams: None }
}

/// Reads `streams` streams of `events` events by two users.
fn read(spec: SessionSpec, events: Option<u64>, streams: u64) -> SliceSample {
    drive(&SessionSpec { protocol: protocol(events), connections: 2, ..spec }, &count(streams, 2))
}

fn spec_of(options: Options) -> (tare_reference::Running, SessionSpec) {
    let server = support::server(options);
    let spec = support::spec(server.address(), vec![RequestSpec::get("/events")]);
    (server, spec)
}

#[test]
fn planted_times_are_those_to_the_first_event_and_between_two() {
    let (_server, spec) = spec_of(Options { first_event_ms: 8, event_gap_ms: 3, events: 5, ..Options::default() });
    let sample = read(spec, None, 6);
    assert_eq!((sample.ok, sample.failed, sample.messages.subscriptions), (30, 0, 6), "{:?}", sample.errors);
    assert_eq!((sample.response.len(), sample.service.len(), sample.jitter.len()), (6, 6, 24));
    assert!(sample.response.min_ns().is_some_and(|first| first >= 8 * MS));
    // An event that was late is followed by a shorter gap, and the median is not.
    assert!(sample.jitter.value_at_quantile_ns(0.5).is_some_and(|gap| gap >= 2 * MS));
    assert_eq!((sample.connections_opened, sample.messages.missing), (2, 0), "streams follow one another");
}

/// Requests of two names, which take turns.
fn two_requests() -> Requests {
    Requests::of(["a", "b"].map(|name| RequestSpec { name: Some(name.to_owned()), ..RequestSpec::get("/events") }))
}

/// How many streams of each request were read, how many events they had, and how many of these were first ones.
fn by_request(sample: &SliceSample) -> Vec<(&str, u64, u64, u64)> {
    sample.by_request.iter().map(|one| (&*one.name, one.ok, one.messages, one.response.samples())).collect()
}

#[test]
fn events_count_for_the_request_of_their_stream() {
    let (_server, spec) = spec_of(Options { events: 5, ..Options::default() });
    let sample = read(SessionSpec { requests: two_requests(), ..spec }, None, 6);
    assert_eq!(by_request(&sample), [("a", 3, 15, 3), ("b", 3, 15, 3)]);
}

/// How many responses had each status, and how many of them failed.
fn statuses(sample: &SliceSample) -> Vec<(u16, u64, u64)> {
    sample.statuses.0.iter().map(|(status, tally)| (*status, tally.count, tally.failed)).collect()
}

#[test]
fn a_response_counts_once_by_its_status_however_many_events_it_has() {
    for (wanted, failed) in [(None, 0), (Some(3), 0), (Some(8), 6)] {
        let (_server, spec) = spec_of(Options { events: 5, ..Options::default() });
        assert_eq!(statuses(&read(spec, wanted, 6)), [(200, 6, failed)], "{wanted:?} of 5 events");
    }
    let refused = read_answer("HTTP/1.1 503 No\r\nContent-Length: 3\r\n\r\nno\n");
    assert_eq!(statuses(&refused), [(503, 2, 2)]);
}

#[test]
fn a_user_who_has_read_enough_closes_the_connection() {
    let (_server, spec) = spec_of(Options { events: 1_000, event_gap_ms: 1, ..Options::default() });
    let sample = read(spec, Some(3), 6);
    assert_eq!((sample.ok, sample.failed, sample.messages.subscriptions), (18, 0, 6), "{:?}", sample.errors);
    // One of the two users may have connected once more before the other took the last stream.
    assert!(
        matches!((sample.connections_opened, sample.connections_lost), (6..=7, 0)),
        "{}",
        sample.connections_opened
    );
}

#[test]
fn a_stream_that_stalls_or_ends_too_early_has_failed() {
    let (_silent, spec) = spec_of(Options { events: 0, ..Options::default() });
    let stalled = read(SessionSpec { timeout: Duration::from_millis(200), ..spec }, None, 2);
    let timeout = stalled.errors.for_class(ErrorClass::Timeout);
    assert_eq!((timeout.count, timeout.example.as_str()), (2, "no event until the deadline"));
    let (_short, spec) = spec_of(Options { events: 5, ..Options::default() });
    let early = read(spec, Some(8), 2);
    let broken = early.errors.for_class(ErrorClass::Read);
    assert_eq!((broken.count, broken.example.as_str()), (2, "the stream ended after 5 of 8 events"));
    assert_eq!((early.messages.received, early.messages.missing), (10, 6));
}

#[test]
fn a_stream_without_an_end_is_read_until_the_window_ends() {
    let (_server, spec) = spec_of(Options { events: 1_000, event_gap_ms: 5, ..Options::default() });
    let spec = SessionSpec { protocol: protocol(None), connections: 2, ..spec };
    let slice = tare_load::SliceSpec::new(
        tare_load::Schedule::Closed,
        2,
        tare_load::StopRule::Duration(Duration::from_millis(200)),
    );
    let sample = drive(&spec, &slice);
    assert_eq!((sample.failed, sample.messages.subscriptions), (0, 2), "{:?}", sample.errors);
}

/// Reads two streams of a server that answers every connection by these bytes and closes it.
fn read_answer(answer: &'static str) -> SliceSample {
    read_events_of(answer, None)
}

/// The same, up to so many events of each; all that come without a number.
fn read_events_of(answer: &'static str, events: Option<u64>) -> SliceSample {
    let address = support::crude_server(move |mut stream| {
        if support::read_head(&mut stream).is_some() {
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    let spec = support::spec(address, vec![RequestSpec::get("/").expecting(Check::status(200))]);
    read(spec, events, 2)
}

#[test]
fn lines_are_events_too_and_a_stream_may_end_with_its_connection() {
    let lines = read_answer("HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n{}\n{}\n{}\n");
    assert_eq!((lines.ok, lines.failed, lines.messages.subscriptions), (6, 0, 2), "{:?}", lines.errors);
}

#[test]
fn the_last_line_of_a_stream_that_ends_too_early_has_come_too() {
    for answer in ["HTTP/1.1 200 OK\r\n\r\n{}\n{}\n{}", "HTTP/1.1 200 OK\r\n\r\n{}\n{}\n{}\n"] {
        let early = read_events_of(answer, Some(5));
        let broken = early.errors.for_class(ErrorClass::Read);
        assert_eq!((broken.count, broken.example.as_str()), (2, "the stream ended after 3 of 5 events"));
        assert_eq!((early.messages.received, early.messages.missing), (6, 4), "{answer}");
    }
}

#[test]
fn what_is_no_stream_is_told() {
    for (answer, class, says) in [
        ("HTTP/1.1 503 No\r\nContent-Length: 3\r\n\r\nno\n", ErrorClass::Status, "status 503 instead of 200"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ErrorClass::Validation, "the response ended without an event"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n",
            ErrorClass::Read,
            "connection closed inside the stream, after 1 events",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nx\ny\n",
            ErrorClass::Validation,
            "events encoded as gzip, which cannot be told apart",
        ),
        ("SSH-2.0-OpenSSH\r\n\r\n", ErrorClass::Protocol, "SSH"),
    ] {
        let sample = read_answer(answer);
        let failed = sample.errors.for_class(class);
        assert!(failed.count == 2 && failed.example.contains(says), "{says}: {:?}", sample.errors);
    }
}

#[test]
fn a_body_cannot_be_checked() {
    let (_server, spec) = spec_of(Options::default());
    let requests = vec![RequestSpec::get("/events").expecting(Check::length(3))].into();
    let error =
        LoadSession::open(&SessionSpec { protocol: protocol(Some(1)), requests, ..spec }).err().unwrap().to_string();
    assert!(error.starts_with("a check of the body of a stream of events"), "{error}");
}
