//! What a client of HTTP/2 tells a server that breaks the protocol.

use std::sync::mpsc::Receiver;

use tare_load::{ErrorClass, RequestSpec};

use crate::http2_raw::*;
use crate::support;

/// The reason that the client gives in the first frame of this kind, and the frame's stream.
fn reason(frames: &Receiver<Received>, kind: u8) -> Option<(u32, u32)> {
    let next = || frames.recv_timeout(support::TIMEOUT).ok();
    let (_, stream, payload) = std::iter::from_fn(next).find(|(found, ..)| *found == kind)?;
    let reason = payload.get(if kind == GOAWAY { 4 } else { 0 }..)?.first_chunk()?;
    Some((stream, u32::from_be_bytes(*reason)))
}

/// Servers that set a smaller table break the connection if they do not hear that (nghttp2, Node, Netty).
#[test]
fn the_first_head_after_a_smaller_table_says_that_none_is_used() {
    for (id, value, expected) in [(1, 0, 0x20), (1, 4095, 0x20), (1, 4096, 0x82), (1, 65_536, 0x82)] {
        let (address, frames) = server_with(&setting(id, value), |s| around(s, &[]), usize::MAX);
        drive(address, 2);
        let received = std::iter::from_fn(|| frames.recv_timeout(support::TIMEOUT).ok());
        let heads = received.filter(|(kind, ..)| *kind == HEADERS).take(2);
        let first_bytes: Vec<(u32, u8)> = heads.map(|(_, stream, payload)| (stream, payload[0])).collect();
        assert_eq!(first_bytes, [(1, expected), (3, 0x82)], "a table of {value} bytes");
    }
}

const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;

#[test]
fn a_broken_connection_is_told_to_the_server() {
    for (answer, expected) in [
        ((|s| around(s, &frame(DATA, 0, 0, b"1"))) as Answer, PROTOCOL_ERROR),
        (|s| around(s, &frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])), FLOW_CONTROL_ERROR),
        (|s| around(s, &setting(2, 2)), PROTOCOL_ERROR),
    ] {
        let (address, frames) = server(answer, usize::MAX);
        drive_streams(2, RequestSpec::get("/"), address, 2);
        assert_eq!(reason(&frames, GOAWAY), Some((0, expected)));
    }
}

/// A correct answer on every stream but 3.
fn on_3_only(stream: u32, answer: Vec<u8>) -> Vec<u8> {
    if stream == 3 { answer } else { around(stream, &[]) }
}

#[test]
fn a_malformed_answer_fails_alone_and_its_stream_is_reset() {
    for (answer, expected) in [
        ((|s| on_3_only(s, [head(s, 0, &[("connection", "close")]), body(s)].concat())) as Answer, PROTOCOL_ERROR),
        (|s| on_3_only(s, [head(s, 0, &[("content-length", "2")]), body(s)].concat()), PROTOCOL_ERROR),
    ] {
        let (address, frames) = server(answer, usize::MAX);
        let sample = drive_streams(4, RequestSpec::get("/"), address, 12);
        let failed = sample.errors.for_class(ErrorClass::Protocol).count;
        assert_eq!((sample.ok, failed, sample.connections_lost), (11, 1, 0), "{:?}", sample.errors);
        assert_eq!(reason(&frames, RST_STREAM), Some((3, expected)));
    }
}
