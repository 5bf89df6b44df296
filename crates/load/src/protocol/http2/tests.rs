//! Answers that the `h2` crate's server writes, as the inspector sees them: another program's frames and compression.

use std::pin::Pin;

use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use proptest::prelude::*;

use super::field_block::PseudoHeaders;
use super::*;
use crate::input::check::Check;
use crate::input::request::{RequestSpec, Requests};
use crate::protocol::Protocol;
use crate::protocol::offline::{RequestEnd, outcome_of_bytes};

/// A status, and the fields of the head and of the trailers.
type Written = (u16, Vec<(String, String)>, Vec<(String, String)>);

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
fn frames_of(answers: &[Written]) -> Vec<u8> {
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
            client.pipe.leave(|bytes| pipe.arrive(bytes));
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
            pipe.leave(|bytes| {
                frames.extend_from_slice(bytes);
                client.pipe.arrive(bytes);
            });
        }
        let (answer, _) = asked.unwrap();
        assert!(now(answer).is_some_and(|answer| answer.is_ok()), "the answer has arrived");
    }
    frames
}

/// The pseudo-headers of each header section.
fn pseudo_headers(mut frames: &[u8]) -> Vec<PseudoHeaders> {
    let mut found = Vec::new();
    while let Some((head, rest)) = frames.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        if head[3] == HEADERS {
            found.push(PseudoHeaders::of(&rest[..length]));
        }
        frames = &rest[length..];
    }
    found
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
            let forbidden = frames.chunks(size).find_map(|piece| inspector.forbidden_in(piece));
            prop_assert_eq!(forbidden, None, "in pieces of {}", size);
        }
        let expected: Vec<bool> = answers
            .iter()
            .flat_map(|(_, _, trailers)| if trailers.is_empty() { vec![true] } else { vec![true, false] })
            .collect();
        let found = pseudo_headers(&frames);
        // A status that is in the table of the connection can be any field, as far as the inspector knows.
        prop_assert!(found.iter().all(|section| !section.has_request), "{:?}", found);
        prop_assert_eq!(found.len(), expected.len());
        for (section, is_head) in found.iter().zip(expected) {
            prop_assert!(is_head || !section.has_status, "{:?}", found);
        }
        prop_assert!(found[0].is_final, "the first status is in no table yet: {:?}", found);
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
