//! The frames of a client, written behind one another.

use super::error::ErrorCode;
use super::{FIRST_WINDOW_BYTES, flag, kind};
use crate::http::MAX_HEAD_BYTES;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The window of this side: so large that the server never waits for it.
pub const MAX_WINDOW_BYTES: u32 = 1 << 30;

const ENABLE_PUSH: u16 = 2;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_HEADER_LIST_SIZE: u16 = 6;

pub(super) fn push_head(out: &mut Vec<u8>, payload_bytes: usize, kind: u8, flags: u8, stream: u32) {
    let [_, a, b, c] = (payload_bytes as u32).to_be_bytes();
    let [d, e, f, g] = stream.to_be_bytes();
    out.extend_from_slice(&[a, b, c, kind, flags, d, e, f, g]);
}

fn push(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    push_head(out, payload.len(), kind, flags, stream);
    out.extend_from_slice(payload);
}

/// What a client sends first: its preface, its settings, and the window of the connection.
pub fn push_preface(out: &mut Vec<u8>) {
    out.extend_from_slice(PREFACE);
    let settings =
        [(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, MAX_WINDOW_BYTES), (MAX_HEADER_LIST_SIZE, MAX_HEAD_BYTES as u32)];
    push_head(out, 6 * settings.len(), kind::SETTINGS, 0, 0);
    for (id, value) in settings {
        out.extend_from_slice(&id.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
    push_window_update(out, 0, MAX_WINDOW_BYTES - FIRST_WINDOW_BYTES);
}

/// A part of a body. It fits one frame.
pub fn push_data(out: &mut Vec<u8>, stream: u32, bytes: &[u8], is_last: bool) {
    push(out, kind::DATA, if is_last { flag::END_STREAM } else { 0 }, stream, bytes);
}

pub fn push_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    push(out, kind::RST_STREAM, 0, stream, &code.0.to_be_bytes());
}

pub fn push_settings_ack(out: &mut Vec<u8>) {
    push(out, kind::SETTINGS, flag::ACK, 0, &[]);
}

/// Asks the server whether it is there.
pub fn push_ping(out: &mut Vec<u8>) {
    push(out, kind::PING, 0, 0, &[0; 8]);
}

/// The answer to a ping.
pub fn push_pong(out: &mut Vec<u8>, data: [u8; 8]) {
    push(out, kind::PING, flag::ACK, 0, &data);
}

/// The last frame of a broken connection. It names no stream, since a server opens none.
pub fn push_goaway(out: &mut Vec<u8>, code: ErrorCode) {
    push(out, kind::GOAWAY, 0, 0, &[[0; 4], code.0.to_be_bytes()].concat());
}

pub fn push_window_update(out: &mut Vec<u8>, stream: u32, bytes: u32) {
    push(out, kind::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes());
}
