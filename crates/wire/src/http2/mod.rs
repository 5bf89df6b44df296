//! HTTP/2 for a client: frames, the header sections in them, and requests that are encoded once. Source: RFC 9113
//! (frames, and the fields of a message), RFC 7541 (HPACK).

mod error;
mod fields;
mod frame;
mod hpack;
mod huffman;
mod outgoing;
mod request;
mod table;

pub use error::{ConnectionError, ErrorCode};
pub use fields::{OF_A_CONNECTION, Section};
pub use frame::{Frame, FrameReader, MAX_PAYLOAD_BYTES, Settings};
pub use hpack::Decoder;
pub use outgoing::{
    MAX_WINDOW_BYTES, push_data, push_goaway, push_ping, push_pong, push_preface, push_reset, push_settings_ack,
    push_window_update,
};
pub use request::EncodedHead;

/// Window of a new connection, and of each stream until settings change it.
pub const FIRST_WINDOW_BYTES: u32 = 65_535;

/// Largest number of a stream.
pub const MAX_STREAM: u32 = (1 << 31) - 1;

/// The kinds of frames.
mod kind {
    pub(super) const DATA: u8 = 0;
    pub(super) const HEADERS: u8 = 1;
    pub(super) const PRIORITY: u8 = 2;
    pub(super) const RST_STREAM: u8 = 3;
    pub(super) const SETTINGS: u8 = 4;
    pub(super) const PUSH_PROMISE: u8 = 5;
    pub(super) const PING: u8 = 6;
    pub(super) const GOAWAY: u8 = 7;
    pub(super) const WINDOW_UPDATE: u8 = 8;
    pub(super) const CONTINUATION: u8 = 9;
}

/// The flags of frames.
mod flag {
    pub(super) const ACK: u8 = 1;
    pub(super) const END_STREAM: u8 = 1;
    pub(super) const END_HEADERS: u8 = 4;
    pub(super) const PADDED: u8 = 8;
    pub(super) const PRIORITY: u8 = 32;
}
