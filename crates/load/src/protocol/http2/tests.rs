//! Answers that the `h2` crate's server writes, as the inspector sees them: another program's frames and compression.

use std::pin::Pin;

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use proptest::prelude::*;

use super::field_block::{Decoder, Section};
use super::*;
use crate::input::check::Check;
use crate::input::request::{RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::protocol::offline::{RequestEnd, outcome_of_bytes};

/// A status, and the fields of the head and of the trailers.
type WrittenAnswer = (u16, Vec<(String, String)>, Vec<(String, String)>);

const HEADERS: u8 = 1;

fn fields() -> impl Strategy<Value = Vec<(String, String)>> {
    // None of a connection, which HTTP/2 forbids; some in the table of HPACK.
    let name = prop_oneof!["x-[a-z0-9-]{0,12}", Just("server".to_owned()), Just("etag".to_owned())];
    proptest::collection::vec((name, "([!-~]([ -~]{0,30}[!-~])?)?"), 0..6)
}

fn map_of(fields: &[(String, String)]) -> HeaderMap {
    let pair = |(name, value): &(String, String)| {
        (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
    };
    fields.iter().map(pair).collect()
}

/// Polls something that never has to wait, because both ends are in memory.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// What a server writes that gives these answers on one connection, one after another.
fn frames_of(answers: &[WrittenAnswer]) -> Vec<u8> {
    let (mut client, pipe) = (Link::open().unwrap(), Pipe::default());
    let mut frames = Vec::new();
    let mut idle = Context::from_waker(Waker::noop());
    let mut shake = Box::pin(h2::server::handshake(pipe.clone()));
    let mut server = None;
    for (status, head, trailers) in answers {
        let mut asked = None;
        for _ in 0..4 {
            let _ = Pin::new(&mut client.machine).poll(&mut idle);
            if asked.is_none() && client.machine.max_concurrent_send_streams() > 0 {
                let request = http::Request::get("http://localhost/").body(()).unwrap();
                asked = Some(client.sender.clone().send_request(request, true).unwrap());
                let _ = Pin::new(&mut client.machine).poll(&mut idle);
            }
            client.pipe.drain_written(|bytes| pipe.push_received(bytes));
            if server.is_none() {
                server = match shake.as_mut().poll(&mut idle) {
                    Poll::Ready(made) => Some(made.unwrap()),
                    Poll::Pending => None,
                };
            }
            let Some(server) = &mut server else { continue };
            if let Poll::Ready(Some(Ok((_, mut respond)))) = server.poll_accept(&mut idle) {
                let mut answer = Response::new(());
                *answer.status_mut() = StatusCode::from_u16(*status).unwrap();
                *answer.headers_mut() = map_of(head);
                let mut body = respond.send_response(answer, false).unwrap();
                body.send_data(Bytes::from_static(b"ok"), trailers.is_empty()).unwrap();
                if !trailers.is_empty() {
                    body.send_trailers(map_of(trailers)).unwrap();
                }
            }
            let _ = server.poll_closed(&mut idle);
            pipe.drain_written(|bytes| {
                frames.extend_from_slice(bytes);
                client.pipe.push_received(bytes);
            });
        }
        let (answer, _) = asked.unwrap();
        assert!(now(answer).is_some_and(|answer| answer.is_ok()), "the answer has arrived");
    }
    frames
}

/// What each header section has.
fn sections(mut frames: &[u8]) -> Option<Vec<Section>> {
    let (mut decoder, mut found) = (Decoder::new(), Vec::new());
    while let Some((head, rest)) = frames.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        if head[3] == HEADERS {
            found.push(decoder.decode(&rest[..length])?);
        }
        frames = &rest[length..];
    }
    Some(found)
}

/// A part of a header section, and how it is written.
#[derive(Clone, Debug)]
enum Written {
    Indexed(u8),
    /// The upper bits of its first byte, the index of its name or the name, and its value. Texts may be in Huffman code.
    Literal(u8, Result<u8, &'static str>, u16, bool),
    Resize(u16),
}

impl Written {
    fn encode(&self) -> Vec<u8> {
        let text = |text: &str, is_huffman: bool| {
            let raw = if is_huffman { huffman::encoded(text.as_bytes()) } else { text.into() };
            [vec![raw.len() as u8 | if is_huffman { 0x80 } else { 0 }], raw].concat()
        };
        match self {
            Self::Indexed(index) => integer(0x80, 7, u16::from(*index)),
            Self::Resize(size) => integer(0x20, 5, *size),
            Self::Literal(first, name, value, is_huffman) => {
                let bits = if *first == 0x40 { 6 } else { 4 };
                let name = match name {
                    Ok(index) => integer(*first, bits, u16::from(*index)),
                    Err(name) => [vec![*first], text(name, *is_huffman)].concat(),
                };
                [name, text(&value.to_string(), *is_huffman)].concat()
            }
        }
    }
}

fn integer(first: u8, bits: u32, value: u16) -> Vec<u8> {
    let most = (1 << bits) - 1;
    if value < most {
        return vec![first | value as u8];
    }
    let rest = value - most;
    [vec![first | most as u8], vec![rest as u8 | 0x80, (rest >> 7) as u8 | 0x80, (rest >> 14) as u8]].concat()
}

fn written() -> impl Strategy<Value = Written> {
    let index = || prop_oneof![1_u8..62, 62_u8..66, 0_u8..130];
    let name = prop_oneof![
        index().prop_map(Ok),
        prop_oneof![Just(":status"), Just("server"), Just("x-a"), Just("a-rather-long-name-of-a-header")].prop_map(Err),
    ];
    let kind = prop_oneof![Just(0x40_u8), Just(0), Just(0x10)];
    prop_oneof![
        index().prop_map(Written::Indexed),
        (kind, name, 200_u16..600, any::<bool>())
            .prop_map(|(kind, name, value, is_huffman)| Written::Literal(kind, name, value, is_huffman)),
        (0_u16..4200).prop_map(Written::Resize),
    ]
}

/// What the crate's client reads of such a header section on each stream: its status, or `None` if it is malformed. An
/// error ends the connection.
fn as_the_crate_reads(blocks: &[Vec<u8>]) -> Vec<Result<Option<u16>, ()>> {
    let mut client = Link::open().unwrap();
    let mut idle = Context::from_waker(Waker::noop());
    client.pipe.push_received(&frame(4, 0, 0, b""));
    let _ = Pin::new(&mut client.machine).poll(&mut idle);
    let mut read = Vec::new();
    for block in blocks {
        let request = http::Request::get("http://localhost/").body(()).unwrap();
        let (answer, stream) = client.sender.clone().send_request(request, true).unwrap();
        let _ = Pin::new(&mut client.machine).poll(&mut idle);
        client.pipe.push_received(&frame(HEADERS, 5, stream.stream_id().as_u32() as u8, block));
        if Pin::new(&mut client.machine).poll(&mut idle).is_ready() {
            read.push(Err(()));
            break;
        }
        read.push(Ok(now(answer).and_then(Result::ok).map(|answer| answer.status().as_u16())));
    }
    read
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_another_program_writes_is_allowed_and_its_pseudo_headers_are_found(
        answers in proptest::collection::vec((200_u16..600, fields(), fields()), 1..8),
    ) {
        let frames = frames_of(&answers);
        for size in [frames.len(), 1, 7] {
            let mut inspector = FrameInspector::new();
            (1..16).step_by(2).for_each(|stream| inspector.note_request(stream));
            let forbidden: Vec<_> = frames.chunks(size).flat_map(|piece| inspector.forbidden_in(piece)).collect();
            prop_assert_eq!(forbidden, [], "in pieces of {}", size);
        }
        let mut expected = Vec::new();
        for (status, _, trailers) in &answers {
            expected.push(Section { status: Some(*status), ..Section::default() });
            expected.extend((!trailers.is_empty()).then(Section::default));
        }
        prop_assert_eq!(sections(&frames), Some(expected));
    }

    #[test]
    fn header_sections_are_decoded_as_by_the_crate(
        blocks in proptest::collection::vec(proptest::collection::vec(written(), 1..5), 1..20),
    ) {
        // Most sections begin with a status, so that not all are malformed.
        let encode = |block: &Vec<Written>| [&b"\x88"[..], &block.iter().flat_map(Written::encode).collect::<Vec<_>>()].concat();
        let blocks: Vec<Vec<u8>> = blocks.iter().map(encode).collect();
        let mut decoder = Decoder::new();
        for (block, read) in blocks.iter().zip(as_the_crate_reads(&blocks)) {
            let section = decoder.decode(block);
            prop_assert_eq!(section.is_some(), read.is_ok(), "{}", block.escape_ascii());
            if let Ok(Some(status)) = read {
                prop_assert_eq!(section.and_then(|section| section.status), Some(status), "{}", block.escape_ascii());
            }
        }
    }
}

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
        ([answer.clone(), frame(HEADERS, 4, 3, b"\x88\x84")].concat(), "a forbidden pseudo-header"),
        ([answer.clone(), frame(4, 0, 0, b"\0\x02\0\0\0\x01")].concat(), "a forbidden setting"),
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

#[test]
fn an_answer_fails_by_itself_although_the_server_then_resets_it_or_leaves() {
    let settings = frame(4, 0, 0, b"");
    let without_status = frame(HEADERS, 4, 1, b"\x90");
    let reset = frame(3, 0, 1, b"\0\0\0\x08");
    let goaway = frame(7, 0, 0, b"\0\0\0\0\0\0\0\x02");
    for (end, what) in [(reset, "a reset"), (goaway, "a GOAWAY")] {
        let piece = [without_status.clone(), end].concat();
        for size in [1, piece.len()] {
            let requests = Requests::of(vec![RequestSpec::get("/").expecting(Check::status(200))]);
            let pieces = std::iter::once(&settings[..]).chain(piece.chunks(size));
            let outcome = outcome_of_bytes(Protocol::Http2 { streams: 1 }, &requests, pieces).unwrap();
            let first = outcome.ended.first();
            assert_eq!(first, Some(&(0, RequestEnd::Failed(ErrorClass::Protocol))), "{what}, in pieces of {size}");
        }
    }
}

/// How the first request ends, and the connection, upon these bytes behind the settings.
fn ends_upon(bytes: &[u8], size: usize) -> (Option<RequestEnd>, Option<ErrorClass>) {
    let settings = frame(4, 0, 0, b"");
    let requests = Requests::of(vec![RequestSpec::get("/").expecting(Check::status(200))]);
    let pieces = std::iter::once(&settings[..]).chain(bytes.chunks(size));
    let outcome = outcome_of_bytes(Protocol::Http2 { streams: 1 }, &requests, pieces).unwrap();
    (outcome.ended.first().map(|(_, end)| *end), outcome.broken)
}

#[test]
fn what_breaks_a_connection_behind_its_last_answer_is_told() {
    let answer = [frame(HEADERS, 4, 1, b"\x88"), frame(0, 1, 1, b"ok")].concat();
    for (end, class, what) in [
        (frame(HEADERS, 5, 99, b"\x88"), ErrorClass::Protocol, "a head on an idle stream"),
        (vec![0xff; 40], ErrorClass::Protocol, "bytes that are no frames"),
        (frame(0, 1, 0, b"x"), ErrorClass::Protocol, "data of no stream"),
        (frame(7, 0, 0, b"\0\0\0\x01\0\0\0\x01"), ErrorClass::Read, "a GOAWAY with an error"),
        (answer.clone(), ErrorClass::Protocol, "the same answer again"),
        (frame(0, 1, 1, b"more"), ErrorClass::Protocol, "data behind the end"),
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
fn a_body_behind_a_status_that_permits_none_fails() {
    for (block, status) in [(b"\x89", 204), (b"\x8b", 304)] {
        for (body, expected) in [(&b""[..], RequestEnd::Answered), (b"ok", RequestEnd::Failed(ErrorClass::Protocol))] {
            let bytes = [frame(HEADERS, 4, 1, block), frame(0, 1, 1, body)].concat();
            let request = RequestSpec::get("/").expecting(Check::status(status));
            let pieces = [&frame(4, 0, 0, b"")[..], &bytes];
            let outcome =
                outcome_of_bytes(Protocol::Http2 { streams: 1 }, &Requests::of(vec![request]), pieces).unwrap();
            assert_eq!(outcome.ended, [(0, expected)], "status {status}: {outcome:?}");
        }
    }
}
