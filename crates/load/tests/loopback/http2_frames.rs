//! Answers of HTTP/2 frame by frame, as RFC 9113 allows and forbids them.

use std::io::Write;

use tare_load::{ErrorClass, RequestSpec};

use crate::http2_raw::*;
use crate::support;

/// Answers that RFC 9113 allows.
const ALLOWED: &[(&str, Answer)] = &[
    ("a head and a body", |s| around(s, &[])),
    ("an empty frame of data at the end", |s| {
        [head(s, 0, &[]), frame(DATA, 0, s, b"1"), frame(DATA, END_STREAM, s, b"")].concat()
    }),
    ("many empty frames of data", |s| around(s, &frame(DATA, 0, s, b"").repeat(50))),
    ("padded data", |s| [head(s, 0, &[]), frame(DATA, END_STREAM | PADDED, s, &[3, b'1', 0, 0, 0])].concat()),
    ("padded headers", |s| [frame(HEADERS, END_HEADERS | PADDED, s, &[2, 0x88, 0, 0]), body(s)].concat()),
    ("headers with a priority", |s| {
        [frame(HEADERS, END_HEADERS | HAS_PRIORITY, s, &[0, 0, 0, 0, 16, 0x88]), body(s)].concat()
    }),
    ("headers in two frames", |s| {
        let parts = [frame(HEADERS, 0, s, STATUS_200), frame(CONTINUATION, END_HEADERS, s, &field("x-a", "b"))];
        [parts.concat(), body(s)].concat()
    }),
    ("headers in single bytes", |s| {
        let rest: Vec<u8> = field("x-a", "b").iter().flat_map(|byte| frame(CONTINUATION, 0, s, &[*byte])).collect();
        [frame(HEADERS, 0, s, STATUS_200), rest, frame(CONTINUATION, END_HEADERS, s, &[]), body(s)].concat()
    }),
    ("two interim answers", |s| {
        [frame(HEADERS, END_HEADERS, s, &field(":status", "103")).repeat(2), around(s, &[])].concat()
    }),
    ("trailers", |s| [head(s, 0, &[]), frame(DATA, 0, s, b"1"), trailers(s, &[("x-a", "b")])].concat()),
    ("a length that fits", |s| [head(s, 0, &[("content-length", "1")]), body(s)].concat()),
    ("an empty value", |s| [head(s, 0, &[("x-a", "")]), body(s)].concat()),
    ("white space inside a value", |s| [head(s, 0, &[("x-a", "b c\td")]), body(s)].concat()),
    ("the same field twice", |s| [head(s, 0, &[("x-a", "b"), ("x-a", "c")]), body(s)].concat()),
    ("a frame of an unknown kind", |s| around(s, &frame(0xfe, 0xff, s, b"?"))),
    ("an unknown flag", |s| [head(s, 0, &[]), frame(DATA, END_STREAM | 0x40, s, b"1")].concat()),
    ("an unknown setting", |s| around(s, &setting(0xfefe, 1))),
    ("a ping", |s| around(s, &frame(PING, 0, 0, &[7; 8]))),
    ("a hundred pings", |s| around(s, &frame(PING, 0, 0, &[7; 8]).repeat(100))),
    ("a pong that nobody asked for", |s| around(s, &frame(PING, 1, 0, &[7; 8]))),
    ("a priority", |s| around(s, &frame(PRIORITY, 0, s, &[0, 0, 0, 0, 16]))),
    ("a smaller window", |s| around(s, &setting(4, 0))),
    ("a larger window", |s| around(s, &setting(4, (1 << 31) - 1))),
    ("larger frames", |s| around(s, &setting(5, (1 << 24) - 1))),
    ("no header table", |s| around(s, &setting(1, 0))),
    ("a hundred settings", |s| around(s, &setting(3, 100).repeat(100))),
    ("a window of a stream", |s| around(s, &frame(WINDOW_UPDATE, 0, s, &[0, 1, 0, 0]))),
    ("a window of the connection", |s| around(s, &frame(WINDOW_UPDATE, 0, 0, &[0, 1, 0, 0]))),
    ("a window of an ended stream", |s| [around(s, &[]), frame(WINDOW_UPDATE, 0, s, &[0, 0, 0, 1])].concat()),
    ("a reset without an error behind the answer", |s| {
        [around(s, &[]), frame(RST_STREAM, 0, s, &[0, 0, 0, 0])].concat()
    }),
    ("a reset of an ended stream", |s| [around(s, &[]), frame(RST_STREAM, 0, s, &[0, 0, 0, 8])].concat()),
    ("a table update at the start of a block", |s| [frame(HEADERS, END_HEADERS, s, &[0x20, 0x88]), body(s)].concat()),
    ("a status in the dynamic table", |s| {
        let literal = [&[0x48, 3][..], b"200"].concat();
        let block = if s == 1 { literal } else { vec![0x80 | 62] };
        [frame(HEADERS, END_HEADERS, s, &block), body(s)].concat()
    }),
];

/// Answers that RFC 9113 forbids. Each must fail at once, and never by a timeout.
const FORBIDDEN: &[(&str, Answer)] = &[
    ("an unknown pseudo-header", |s| [head(s, 0, &[(":x", "y")]), body(s)].concat()),
    ("a status behind a field", |s| {
        [frame(HEADERS, END_HEADERS, s, &block(&[("x-a", "b"), (":status", "200")])), body(s)].concat()
    }),
    ("two statuses", |s| [head(s, 0, &[(":status", "200")]), body(s)].concat()),
    ("no status", |s| [frame(HEADERS, END_HEADERS, s, &field("x-a", "b")), body(s)].concat()),
    ("a status of two digits", |s| [frame(HEADERS, END_HEADERS, s, &field(":status", "20")), body(s)].concat()),
    ("a status in words", |s| [frame(HEADERS, END_HEADERS, s, &field(":status", "2x0")), body(s)].concat()),
    ("a name in capitals", |s| [head(s, 0, &[("X-A", "b")]), body(s)].concat()),
    ("a name with a blank", |s| [head(s, 0, &[("x a", "b")]), body(s)].concat()),
    ("an empty name", |s| [head(s, 0, &[("", "b")]), body(s)].concat()),
    ("a value with a line end", |s| [head(s, 0, &[("x-a", "b\r\nc")]), body(s)].concat()),
    ("a value with NUL", |s| [head(s, 0, &[("x-a", "b\0")]), body(s)].concat()),
    ("a header of the connection", |s| [head(s, 0, &[("connection", "close")]), body(s)].concat()),
    ("chunks", |s| [head(s, 0, &[("transfer-encoding", "chunked")]), body(s)].concat()),
    ("a length that is too short", |s| [head(s, 0, &[("content-length", "0")]), body(s)].concat()),
    ("a length that is too long", |s| [head(s, 0, &[("content-length", "2")]), body(s)].concat()),
    ("a length that is none", |s| [head(s, 0, &[("content-length", "x")]), body(s)].concat()),
    ("two lengths", |s| [head(s, 0, &[("content-length", "1"), ("content-length", "2")]), body(s)].concat()),
    ("data before the head", |s| [frame(DATA, 0, s, b"1"), around(s, &[])].concat()),
    ("an interim answer that ends the stream", |s| {
        frame(HEADERS, END_HEADERS | END_STREAM, s, &field(":status", "103"))
    }),
    ("a change of the protocol", |s| {
        [frame(HEADERS, END_HEADERS, s, &field(":status", "101")), around(s, &[])].concat()
    }),
    ("trailers that do not end the stream", |s| {
        [head(s, 0, &[]), frame(DATA, 0, s, b"1"), frame(HEADERS, END_HEADERS, s, &field("x-a", "b"))].concat()
    }),
    ("a continuation of nothing", |s| [frame(CONTINUATION, END_HEADERS, s, STATUS_200), body(s)].concat()),
    ("another frame inside a header section", |s| {
        let parts = [frame(HEADERS, 0, s, STATUS_200), frame(PING, 0, 0, &[0; 8])];
        [parts.concat(), frame(CONTINUATION, END_HEADERS, s, &[]), body(s)].concat()
    }),
    ("a continuation of another stream", |s| {
        [frame(HEADERS, 0, s, STATUS_200), frame(CONTINUATION, END_HEADERS, s + 2, &[])].concat()
    }),
    ("continuations without end", |s| {
        let more = frame(CONTINUATION, 0, s, &vec![0; 16_384]);
        [frame(HEADERS, 0, s, STATUS_200), more.repeat(1500)].concat()
    }),
    ("empty continuations without end", |s| {
        [frame(HEADERS, 0, s, STATUS_200), frame(CONTINUATION, 0, s, &[]).repeat(100_000)].concat()
    }),
    ("an index beyond the table", |s| [frame(HEADERS, END_HEADERS, s, &[0x88, 0xff, 0x20]), body(s)].concat()),
    ("index zero", |s| [frame(HEADERS, END_HEADERS, s, &[0x88, 0x80]), body(s)].concat()),
    ("a table larger than allowed", |s| {
        [frame(HEADERS, END_HEADERS, s, &[0x3f, 0xe1, 0xff, 0x03, 0x88]), body(s)].concat()
    }),
    ("a header section cut short", |s| [frame(HEADERS, END_HEADERS, s, &[0x88, 0, 3, b'x']), body(s)].concat()),
    ("data on no stream", |s| around(s, &frame(DATA, 0, 0, b"1"))),
    ("headers on no stream", |s| around(s, &frame(HEADERS, END_HEADERS, 0, STATUS_200))),
    ("data on an idle stream", |s| around(s, &frame(DATA, 0, s + 100, b"1"))),
    ("headers on a stream of the server", |s| around(s, &frame(HEADERS, END_HEADERS, 2, STATUS_200))),
    ("a reset of an idle stream", |s| around(s, &frame(RST_STREAM, 0, s + 100, &[0; 4]))),
    ("a reset of no stream", |s| around(s, &frame(RST_STREAM, 0, 0, &[0; 4]))),
    ("a reset of another length", |s| around(s, &frame(RST_STREAM, 0, s, &[0; 3]))),
    ("settings on a stream", |s| around(s, &frame(SETTINGS, 0, s, &[]))),
    ("settings of another length", |s| around(s, &frame(SETTINGS, 0, 0, &[0; 5]))),
    ("an acknowledgement with settings", |s| around(s, &frame(SETTINGS, 1, 0, &[0; 6]))),
    ("an initial window that is too large", |s| around(s, &setting(4, 1 << 31))),
    ("frames that are too small", |s| around(s, &setting(5, 1))),
    ("push neither on nor off", |s| around(s, &setting(2, 2))),
    ("a ping on a stream", |s| around(s, &frame(PING, 0, s, &[0; 8]))),
    ("a ping of another length", |s| around(s, &frame(PING, 0, 0, &[0; 7]))),
    ("a goodbye on a stream", |s| around(s, &frame(GOAWAY, 0, s, &[0; 8]))),
    ("a goodbye of another length", |s| around(s, &frame(GOAWAY, 0, 0, &[0; 7]))),
    ("a window grown by nothing", |s| around(s, &frame(WINDOW_UPDATE, 0, 0, &[0; 4]))),
    ("a stream's window grown by nothing", |s| around(s, &frame(WINDOW_UPDATE, 0, s, &[0; 4]))),
    ("a window that is too large", |s| around(s, &frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]))),
    ("a window of another length", |s| around(s, &frame(WINDOW_UPDATE, 0, 0, &[0; 3]))),
    ("a window of an idle stream", |s| around(s, &frame(WINDOW_UPDATE, 0, s + 100, &[0, 0, 0, 1]))),
    ("a push", |s| around(s, &frame(PUSH_PROMISE, END_HEADERS, s, &[0, 0, 0, 2, 0x82, 0x84, 0x86]))),
    ("more padding than data", |s| [head(s, 0, &[]), frame(DATA, END_STREAM | PADDED, s, &[9, b'1'])].concat()),
    ("more padding than headers", |s| [frame(HEADERS, END_HEADERS | PADDED, s, &[9, 0x88]), body(s)].concat()),
    ("a frame that is too long", |s| around(s, &frame(DATA, 0, s, &vec![0; 16_385]))),
    ("a priority of another length", |s| around(s, &frame(PRIORITY, 0, s, &[0; 4]))),
    ("bytes that are no frames", |_| vec![0xff; 64]),
];

#[test]
fn allowed_answers_are_read() {
    for (name, answer) in ALLOWED {
        for piece_bytes in [usize::MAX, 1, 10] {
            let sample = drive(server(*answer, piece_bytes).0, 2);
            assert_eq!((sample.ok, sample.failed), (2, 0), "{name}: {:?}", sample.errors);
        }
    }
}

#[test]
fn an_answer_before_the_end_of_the_request_is_complete() {
    let upload = vec![b'x'; 3 << 20];
    for answer in [
        (|s| around(s, &[])) as Answer,
        |s| [around(s, &[]), frame(RST_STREAM, 0, s, &[0; 4])].concat(),
        |s| [head(s, 0, &[("content-length", "1")]), body(s), frame(RST_STREAM, 0, s, &[0; 4])].concat(),
    ] {
        let sample = drive_with(RequestSpec::post("/", &upload[..]), server(answer, usize::MAX).0, 3);
        assert_eq!((sample.ok, sample.failed), (3, 0), "{:?}", sample.errors);
    }
}

#[test]
fn forbidden_answers_fail_and_are_named() {
    let mut wrong = Vec::new();
    for (name, answer) in FORBIDDEN {
        let sample = drive(server(*answer, usize::MAX).0, 1);
        if sample.failed != 1 || sample.errors.for_class(ErrorClass::Timeout).count > 0 {
            wrong.push(format!("{name}: {} ok, {:?}", sample.ok, sample.errors));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FORBIDDEN.len(), wrong.join("\n"));
}

#[test]
fn a_server_that_floods_and_never_reads_is_given_up() {
    let address = support::crude_server(|mut stream| {
        let _ = stream.write_all(&frame(SETTINGS, 0, 0, &[]));
        let pings = frame(PING, 0, 0, &[7; 8]).repeat(1000);
        while stream.write_all(&pings).is_ok() {}
    });
    let sample = drive(address, 1);
    let broken = sample.errors.for_class(ErrorClass::Protocol);
    assert!(broken.count == 1 && broken.example.contains("pings or settings without end"), "{:?}", sample.errors);
}
