//! A server of HTTP/2 that writes any frames, right or wrong.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};

use tare_load::{Check, LoadSession, Protocol, RequestSpec, SessionSpec, SliceSample};

use crate::support::{self, count, crude_server, run};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const HAS_PRIORITY: u8 = 32;

/// `:status: 200`, from the static table.
pub const STATUS_200: &[u8] = &[0x88];

/// A frame that was received: its kind, its stream, and its payload.
pub type Received = (u8, u32, Vec<u8>);

/// The answer to the request on a stream.
pub type Answer = fn(u32) -> Vec<u8>;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A literal field that enters no table.
pub fn field(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| vec![u8::try_from(text.len()).unwrap()];
    [vec![0], length(name), name.into(), length(value), value.into()].concat()
}

pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    fields.iter().flat_map(|(name, value)| field(name, value)).collect()
}

/// A header section in one frame.
pub fn head(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, flags | END_HEADERS, stream, &[STATUS_200, &block(fields)].concat())
}

/// Trailers, which end the stream.
pub fn trailers(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &block(fields))
}

pub fn body(stream: u32) -> Vec<u8> {
    frame(DATA, END_STREAM, stream, b"1")
}

/// A head and a body, with other frames between them.
pub fn around(stream: u32, between: &[u8]) -> Vec<u8> {
    [&head(stream, 0, &[]), between, &body(stream)].concat()
}

pub fn setting(id: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&id.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

pub fn receive(stream: &mut impl Read) -> Option<Received> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let [_, a, b, c] = u32::from_be_bytes([0, head[0], head[1], head[2]]).to_be_bytes();
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    stream.read_exact(&mut payload).ok()?;
    Some((head[3], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload))
}

/// A server that gives every request this answer, in pieces of this many bytes. It passes on the frames that it receives.
pub fn server(answer: Answer, piece_bytes: usize) -> (SocketAddr, Receiver<Received>) {
    server_with(&frame(SETTINGS, 0, 0, &[]), answer, piece_bytes)
}

/// The same, with these settings.
pub fn server_with(settings: &[u8], answer: Answer, piece_bytes: usize) -> (SocketAddr, Receiver<Received>) {
    let (sender, receiver) = channel();
    let settings = settings.to_vec();
    let address = crude_server(move |mut stream| {
        let _ = stream.set_nodelay(true);
        let _ = stream.write_all(&settings);
        let _ = stream.read_exact(&mut [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()]);
        while let Some(received) = receive(&mut stream) {
            if received.0 == HEADERS {
                let answer = answer(received.1);
                let _ = answer.chunks(piece_bytes).try_for_each(|piece| stream.write_all(piece));
            }
            let _ = sender.send(received);
        }
    });
    (address, receiver)
}

pub fn drive(address: SocketAddr, requests: u64) -> SliceSample {
    drive_with(RequestSpec::get("/"), address, requests)
}

pub fn drive_with(request: RequestSpec, address: SocketAddr, requests: u64) -> SliceSample {
    drive_streams(1, request, address, requests)
}

pub fn drive_streams(streams: u32, request: RequestSpec, address: SocketAddr, requests: u64) -> SliceSample {
    let request = request.expecting(Check::body_is(*b"1")).expecting(Check::status(200));
    let spec = SessionSpec { protocol: Protocol::Http2 { streams }, ..support::spec(address, vec![request]) };
    run(&mut LoadSession::open(&spec).unwrap(), &count(requests, 1))
}
