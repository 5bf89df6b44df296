//! Every way in which a server can break, over real sockets. Each counts in its class, none hangs, none is a success.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use crate::support::{
    TIMEOUT, count, crude_server, drive, exhaust, get, held_address, planted, read_head, run, server, session,
    session_that_waits, spec,
};
use tare_load::{Check, ErrorClass, LoadSession, Protocol, RequestSpec, Schedule, SessionSpec, SliceSample, StopRule};
use tare_reference::{FaultKind, Options};

/// Eight requests of one user. The server answers four before it breaks.
fn slice_against(kind: FaultKind) -> SliceSample {
    let server = planted(kind, 4);
    let never_answers = matches!(kind, FaultKind::Hang | FaultKind::SlowLoris);
    let timeout = if never_answers { Duration::from_millis(500) } else { TIMEOUT };
    run(&mut session_that_waits(timeout, server.address(), 1, vec![get()]), &count(8, 1))
}

fn assert_all_after_four(kind: FaultKind, class: ErrorClass, example: &str) {
    let sample = slice_against(kind);
    assert_eq!((sample.ok, sample.failed), (4, 4), "{kind:?}: {:?}", sample.errors);
    assert_eq!(sample.errors.for_class(class).count, 4, "{kind:?}: {:?}", sample.errors);
    let found = &sample.errors.for_class(class).example;
    assert!(found.contains(example), "{kind:?}: {found}");
}

#[test]
fn a_healthy_server_has_no_errors() {
    let server = server(Options::default());
    let sample = run(&mut session(server.address(), 8, vec![get()]), &count(1000, 8));
    assert_eq!((sample.ok, sample.failed, sample.completed), (1000, 0, 1000));
    assert_eq!(sample.errors.total(), 0);
}

#[test]
fn a_hanging_server_is_a_timeout() {
    assert_all_after_four(FaultKind::Hang, ErrorClass::Timeout, "deadline");
}

#[test]
fn an_answer_that_trickles_is_a_timeout() {
    assert_all_after_four(FaultKind::SlowLoris, ErrorClass::Timeout, "deadline");
}

#[test]
fn a_connection_closed_without_an_answer_is_a_read_error() {
    assert_all_after_four(FaultKind::Close, ErrorClass::Read, "closed before an answer");
}

#[test]
fn a_connection_closed_inside_the_headers_is_a_read_error() {
    assert_all_after_four(FaultKind::TruncatedHeaders, ErrorClass::Read, "inside the headers");
}

#[test]
fn a_connection_closed_inside_the_body_is_a_read_error() {
    assert_all_after_four(FaultKind::CloseMidBody, ErrorClass::Read, "inside the body");
}

#[test]
fn a_wrong_body_is_a_validation_error_and_keeps_the_connection() {
    assert_all_after_four(FaultKind::WrongBody, ErrorClass::Validation, "body differs at byte 0");
    assert_eq!(slice_against(FaultKind::WrongBody).connections_lost, 0);
}

#[test]
fn a_500_is_a_status_error() {
    assert_all_after_four(FaultKind::Status500, ErrorClass::Status, "status 500 instead of 200");
}

#[test]
fn garbage_is_a_protocol_error_that_is_quoted_escaped() {
    assert_all_after_four(FaultKind::Garbage, ErrorClass::Protocol, "\\x16\\x03");
}

#[test]
fn an_endless_body_is_a_protocol_error() {
    assert_all_after_four(FaultKind::Flood, ErrorClass::Protocol, "the body went on after");
}

#[test]
fn a_refused_connection_is_a_connect_error_and_backs_off() {
    let (_held, address) = held_address();
    let mut slice = count(u64::MAX, 4);
    slice.stop = StopRule::Duration(Duration::from_millis(300));
    let sample = run(&mut session(address, 4, vec![get()]), &slice);
    let refused = sample.errors.for_class(ErrorClass::Connect);
    assert!(refused.count > 0 && refused.count == sample.failed && sample.ok == 0, "{:?}", sample.errors);
    // With back-offs of 1, 2, 4 … 256 ms, each of the four makes at most ten attempts within the slice.
    assert!(refused.count <= 40, "{} attempts", refused.count);
}

#[test]
fn a_server_that_accepts_nothing_does_not_hang_an_open_slice() {
    // The kernel completes the handshake for the backlog, and the server never answers.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut slice = count(0, 2);
    slice.schedule = Schedule::constant(1000.0);
    slice.stop = StopRule::Duration(Duration::from_millis(200));
    slice.drain_timeout = Duration::from_millis(50);
    let sample = run(&mut session(listener.local_addr().unwrap(), 2, vec![get()]), &slice);
    assert_eq!((sample.offered, sample.ok), (200, 0));
    assert_eq!(sample.errors.for_class(ErrorClass::Timeout).count, 200);
    assert!(sample.blocked > 190, "all but those that left waited for a connection");
}

#[test]
fn a_server_that_was_away_is_found_again() {
    let (_held, address) = held_address();
    let mut session = session(address, 2, vec![get()]);
    assert_eq!(run(&mut session, &count(3, 2)).ok, 0);
    let _server = server(Options { port: address.port(), ..Options::default() });
    assert_eq!(run(&mut session, &count(50, 2)).ok, 50);
}

#[test]
fn a_server_that_closes_after_each_answer_is_no_error() {
    let server = server(Options::default());
    let mut request = get();
    request.headers.push(("Connection".to_owned(), "close".to_owned()));
    let sample = run(&mut session(server.address(), 2, vec![request]), &count(40, 2));
    assert_eq!((sample.ok, sample.connections_lost), (40, 0), "{:?}", sample.errors);
    // Both users may have opened one for the last request.
    assert!((40..=41).contains(&sample.connections_opened), "{}", sample.connections_opened);
}

#[test]
fn large_bodies_are_sent_whole_however_slowly_the_server_reads() {
    let server = server(Options::default());
    let body: std::sync::Arc<[u8]> = vec![b'a'; 5 * 1024 * 1024].into();
    let expected = b"Ok [0], bytes length = 5242880".to_vec();
    let request = RequestSpec::post("/pathBytes0", body).expecting(Check::body_is(expected));
    let mut session = session(server.address(), 3, vec![request]);
    let mut slice = count(12, 3);
    slice.drain_timeout = Duration::from_secs(5);
    let sample = run(&mut session, &slice);
    assert_eq!((sample.ok, sample.bytes_out > 12 * 5 * 1024 * 1024), (12, true), "{:?}", sample.errors);
}

#[test]
fn a_server_that_speaks_before_it_is_asked_breaks_the_protocol() {
    let address = crude_server(|mut stream| {
        let _ = stream.write_all(b"220 mail.example.org ESMTP\r\n");
        exhaust(stream);
    });
    let mut slice = count(0, 2);
    slice.schedule = Schedule::constant(100.0);
    slice.stop = StopRule::Duration(Duration::from_millis(300));
    slice.drain_timeout = Duration::from_millis(50);
    let sample = run(&mut session(address, 2, vec![get()]), &slice);
    assert_eq!((sample.offered, sample.ok), (30, 0));
    assert!(sample.errors.for_class(ErrorClass::Protocol).example.contains("220 mail"), "{:?}", sample.errors);
}

#[test]
fn a_server_of_another_protocol_is_named() {
    let settings: &'static [u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    let alert: &'static [u8] = &[21, 3, 1, 0, 2, 2, 22];
    let events = Protocol::Events { messages: None, streams: None };
    for (first, protocol, says) in [
        (settings, Protocol::Http1 { pipeline: 1 }, "the server answers in HTTP/2, and not in HTTP/1.1"),
        (settings, events, "the server answers in HTTP/2, and not in HTTP/1.1"),
        (alert, Protocol::Http1 { pipeline: 1 }, "the server answers in TLS, and not in HTTP/1.1"),
        (alert, events, "the server answers in TLS, and not in HTTP/1.1"),
        (alert, Protocol::Http2 { streams: 1 }, "the server answers in TLS, and not in HTTP/2"),
    ] {
        let address = crude_server(move |mut stream| {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(first);
            exhaust(stream);
        });
        let spec = SessionSpec { protocol, ..spec(address, vec![RequestSpec::get("/")]) };
        let sample = drive(&spec, &count(2, 1));
        let broken = sample.errors.for_class(ErrorClass::Protocol);
        assert_eq!(broken.example, says, "{:?}", sample.errors);
    }
}

#[test]
fn a_server_that_closes_without_a_word_may_speak_tls() {
    for (protocol, class, scheme) in [
        (Protocol::Http1 { pipeline: 1 }, ErrorClass::Read, "https"),
        (Protocol::Http2 { streams: 1 }, ErrorClass::Read, "https"),
        (Protocol::Exchange, ErrorClass::Upgrade, "wss"),
    ] {
        let address = crude_server(|mut stream| {
            let _ = stream.read(&mut [0; 1024]);
        });
        let sample = drive(&SessionSpec { protocol, ..spec(address, vec![RequestSpec::get("/")]) }, &count(2, 1));
        let closed = sample.errors.for_class(class);
        let says = format!("if the server speaks TLS on this port, write {scheme}:// in the URL");
        assert!(closed.count == 2 && closed.example.ends_with(&says), "{:?}", sample.errors);
    }
}

#[test]
fn a_long_error_page_is_a_wrong_status() {
    let address = crude_server(|mut stream| {
        let page = "stack trace ".repeat(20_000);
        let head = format!("HTTP/1.1 503 Service Unavailable\r\nContent-Length: {}\r\n\r\n", page.len());
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all((head + &page).as_bytes());
        exhaust(stream);
    });
    let sample = run(&mut session(address, 1, vec![get()]), &count(3, 1));
    assert_eq!(sample.errors.for_class(ErrorClass::Status).count, 3, "{:?}", sample.errors);
}

#[test]
fn chunked_answers_and_bodies_until_close_are_checked_too() {
    for answer in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1",
        "HTTP/1.0 200 OK\r\n\r\n1",
    ] {
        let address = crude_server(move |mut stream| {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer.as_bytes());
        });
        let sample = run(&mut session(address, 1, vec![get()]), &count(1, 1));
        assert_eq!((sample.ok, sample.failed), (1, 0), "{answer:?}: {:?}", sample.errors);
    }
}

/// Whether three requests of one user fail in this class, and the first problem has this text.
fn assert_broken(address: SocketAddr, class: ErrorClass, says: &str) {
    let sample = run(&mut session(address, 1, vec![get()]), &count(3, 1));
    let broken = sample.errors.for_class(class);
    assert_eq!((sample.ok, broken.count), (0, 3), "{says}: {:?}", sample.errors);
    assert!(broken.example.contains(says), "{}", broken.example);
}

/// Gives every request the same answer and then ends the connection, or keeps it open until the client closes it.
fn answering(answer: String, and_leaves: bool) -> SocketAddr {
    crude_server(move |mut stream| {
        while stream.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {
            if stream.write_all(answer.as_bytes()).is_err() || and_leaves {
                return;
            }
        }
    })
}

#[test]
fn headers_and_lengths_that_cannot_be_are_errors_of_the_protocol() {
    for (head, says) in [
        (format!("X: {}\r\nContent-Length: 1", "a".repeat(310_000)), "longer than 300 KiB"),
        ("Content-Length: 1\r\nContent-Length: 1".to_owned(), "more than one Content-Length"),
        ("Content-Length: -1".to_owned(), "not a number of bytes"),
        ("Content-Length: 99999999999999999999".to_owned(), "not a number of bytes"),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked".to_owned(), "both"),
    ] {
        assert_broken(answering(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n1"), false), ErrorClass::Protocol, says);
    }
    let overflow = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n1".to_owned();
    assert_broken(answering(overflow, false), ErrorClass::Protocol, "chunk size overflows");
}

#[test]
fn redirects_are_not_followed() {
    let redirect = "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n".to_owned();
    assert_broken(answering(redirect, false), ErrorClass::Status, "status 302");
}

#[test]
fn a_half_closed_connection_is_read_to_its_end() {
    let halves = |answer: &'static [u8]| {
        crude_server(move |mut stream| {
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            exhaust(stream);
        })
    };
    let whole = run(&mut session(halves(b"HTTP/1.1 200 OK\r\n\r\n1"), 1, vec![get()]), &count(3, 1));
    assert_eq!((whole.ok, whole.connections_lost), (3, 0), "{:?}", whole.errors);
    assert_broken(halves(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1"), ErrorClass::Read, "inside the body");
}

#[test]
fn a_pipeline_over_real_sockets_settles_every_request() {
    let address = crude_server(|mut stream| {
        while read_head(&mut stream).is_some() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1");
        }
    });
    let mut session = LoadSession::open(&SessionSpec {
        protocol: Protocol::Http1 { pipeline: 16 },
        connections: 4,
        timeout: Duration::from_secs(5),
        ..spec(address, vec![get()])
    })
    .unwrap();
    let sample = run(&mut session, &count(2000, 4));
    assert_eq!((sample.ok, sample.connections_opened), (2000, 4), "{:?}", sample.errors);
}
