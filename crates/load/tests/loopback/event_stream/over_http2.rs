//! Streams of events over HTTP/2: planted times, several streams a connection, and ends of all kinds.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::server::Builder;
use http::Response;
use tare_load::{
    Check, ErrorClass, Protocol, RequestSpec, Schedule, SessionSpec, SliceSample, SliceSpec, StopRule, TlsSpec,
    TlsTrust,
};
use tokio::time::sleep;

use super::{by_request, statuses, two_requests};
use crate::certificates::{Authority, Validity};
use crate::http2::{Answering, each, server};
use crate::http2_raw::{END_HEADERS, HEADERS, SETTINGS, STATUS_200, field, frame, receive};
use crate::{support, tls};

const MS: u64 = 1_000_000;
const FIRST: Duration = Duration::from_millis(20);
const GAP: Duration = Duration::from_millis(10);

/// Users on two connections, `streams` on each, who read streams of up to so many events.
fn spec(address: SocketAddr, streams: u32, messages: Option<u64>) -> SessionSpec {
    SessionSpec {
        protocol: Protocol::Events { messages, streams: Some(streams) },
        connections: 2,
        ..support::spec(address, vec![RequestSpec::get("/").expecting(Check::status(200))])
    }
}

fn read(spec: &SessionSpec, streams: u64) -> SliceSample {
    support::drive(spec, &support::count(streams, 2))
}

/// Begins a stream at once, sends so many events in their times, and then does something else.
async fn send_events(mut answering: Answering, events: u64) -> Option<h2::SendStream<Bytes>> {
    let head = Response::builder().header("content-type", "text/event-stream").body(()).unwrap();
    let mut sending = answering.send_response(head, false).ok()?;
    for number in 0..events {
        sleep(if number == 0 { FIRST } else { GAP }).await;
        sending.send_data(Bytes::from_static(b"data: 1\n\n"), false).ok()?;
    }
    Some(sending)
}

fn ending_after(events: u64) -> SocketAddr {
    each(move |_, answering| async move { send_events(answering, events).await?.send_data(Bytes::new(), true).ok() })
}

fn hold_planted_times(sample: &SliceSample, streams: u64, events: u64) {
    assert_eq!((sample.ok, sample.failed), (streams * events, 0), "{:?}", sample.errors);
    assert_eq!((sample.messages.subscriptions, sample.messages.missing), (streams, 0));
    assert_eq!((sample.response.len(), sample.jitter.len()), (streams, streams * (events - 1)));
    assert!(sample.response.min_ns().is_some_and(|first| first >= 20 * MS));
    // An event that was late is followed by a shorter gap, and the median is not.
    assert!(sample.jitter.value_at_quantile_ns(0.5).is_some_and(|gap| gap >= 5 * MS));
}

#[test]
fn planted_times_are_those_of_each_of_several_streams() {
    // A generator that stands still for 100 ms gets all events of the streams under way at once: a third at most.
    for (streams, all) in [(1, 24), (8, 48)] {
        let sample = read(&spec(ending_after(5), streams, None), all);
        hold_planted_times(&sample, all, 5);
        assert_eq!(statuses(&sample), [(200, all, 0)]);
        assert_eq!(sample.connections_opened, 2, "streams follow one another and share connections");
    }
}

#[test]
fn events_count_for_the_request_of_their_stream() {
    let sample = read(&SessionSpec { requests: two_requests(), ..spec(ending_after(5), 4, None) }, 24);
    assert_eq!(by_request(&sample), [("a", 12, 60, 12), ("b", 12, 60, 12)]);
}

#[test]
fn a_user_who_has_read_enough_resets_the_stream_and_keeps_the_connection() {
    let address = each(|_, answering| async move {
        let mut sending = send_events(answering, 1000).await?;
        std::future::poll_fn(|context| sending.poll_reset(context)).await.ok().filter(|why| *why == Reason::CANCEL)?;
        None
    });
    let sample = read(&spec(address, 4, Some(3)), 24);
    hold_planted_times(&sample, 24, 3);
    assert_eq!((sample.connections_opened, sample.connections_lost), (2, 0));
}

#[test]
fn streams_that_stall_break_off_or_end_too_early_fail_alone() {
    let stalling = each(|_, answering| async move {
        let _held = send_events(answering, 2).await?;
        std::future::pending().await
    });
    let timeout = Duration::from_millis(200);
    let sample = read(&SessionSpec { timeout, ..spec(stalling, 2, Some(5)) }, 4);
    let stalled = sample.errors.for_class(ErrorClass::Timeout);
    assert_eq!((stalled.count, stalled.example.as_str()), (4, "no event until the deadline"));
    assert_eq!((sample.messages.received, sample.messages.missing, sample.connections_opened), (8, 12, 2));
    let resetting = each(|_, answering| async move {
        let mut sending = send_events(answering, 2).await?;
        // A reset takes the data with it that has not left.
        sleep(GAP).await;
        sending.send_reset(Reason::INTERNAL_ERROR);
        None
    });
    for (address, says) in [
        (resetting, "stream reset (RST_STREAM) by the server"),
        (ending_after(2), "the stream ended after 2 of 5 events"),
    ] {
        let sample = read(&spec(address, 2, Some(5)), 4);
        let broken = sample.errors.for_class(ErrorClass::Read);
        assert!(broken.count == 4 && broken.example.starts_with(says), "{:?}", sample.errors);
        assert_eq!((sample.messages.received, sample.messages.missing, sample.connections_opened), (8, 12, 2));
    }
}

#[test]
fn what_is_no_stream_is_told() {
    let refusing = each(|_, mut answering| async move {
        let head = Response::builder().status(503).body(()).unwrap();
        answering.send_response(head, true).ok().map(|_| ())
    });
    for (address, class, status, says) in [
        (refusing, ErrorClass::Status, 503, "status 503 instead of 200"),
        (ending_after(0), ErrorClass::Validation, 200, "the response ended without an event"),
    ] {
        let sample = read(&spec(address, 2, None), 4);
        let failed = sample.errors.for_class(class);
        assert!(failed.count == 4 && failed.example.starts_with(says), "{:?}", sample.errors);
        assert_eq!(statuses(&sample), [(status, 4, 4)]);
    }
}

#[test]
fn streams_without_an_end_are_read_until_the_window_ends() {
    let spec = spec(ending_after(1000), 4, None);
    let slice = SliceSpec::new(Schedule::Closed, 2, StopRule::Duration(Duration::from_millis(200)));
    let sample = support::drive(&spec, &slice);
    assert_eq!((sample.failed, sample.messages.subscriptions), (0, 8), "{:?}", sample.errors);
}

#[test]
fn users_who_get_no_stream_before_the_end_have_not_subscribed() {
    let mut permitting_two = Builder::new();
    permitting_two.max_concurrent_streams(2);
    let address = server(permitting_two, |mut connection| async move {
        while let Some(Ok((_, answering))) = connection.accept().await {
            tokio::task::spawn_local(send_events(answering, 1000));
        }
        None
    });
    let slice = SliceSpec::new(Schedule::Closed, 2, StopRule::Duration(Duration::from_millis(200)));
    let sample = support::drive(&spec(address, 4, None), &slice);
    let without = sample.errors.for_class(ErrorClass::Timeout);
    assert_eq!((sample.messages.subscriptions, sample.failed, without.count), (4, 4, 4), "{:?}", sample.errors);
    assert!(without.example.contains("a user got no stream before the load ended"), "{}", without.example);
}

/// Answers streams of five events, one after another.
fn serve_in_turn(mut stream: impl Read + Write) -> Option<()> {
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).ok()?;
    stream.read_exact(&mut [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()]).ok()?;
    loop {
        let (kind, id, _) = receive(&mut stream)?;
        if kind != HEADERS {
            continue;
        }
        let block = [STATUS_200, &field("content-type", "text/event-stream")].concat();
        stream.write_all(&frame(HEADERS, END_HEADERS, id, &block)).ok()?;
        for number in 0..5 {
            thread::sleep(if number == 0 { FIRST } else { GAP });
            stream.write_all(&frame(0, u8::from(number == 4), id, b"data: 1\n\n")).ok()?;
        }
    }
}

#[test]
fn planted_times_are_the_same_over_tls() {
    let mut config = Authority::new().issue("localhost", Validity::Now).server();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let address = tls::server(config, |stream| {
        stream.sock.set_nodelay(true).unwrap();
        serve_in_turn(stream);
    });
    let tls = Some(TlsSpec { trust: TlsTrust::Any, ..TlsSpec::new("localhost") });
    hold_planted_times(&read(&SessionSpec { tls, ..spec(address, 1, None) }, 6), 6, 5);
}
