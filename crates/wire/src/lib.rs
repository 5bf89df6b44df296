//! Bytes to protocol events and back. No sockets, no clock: what arrives is handed in, what it means is handed out.

pub mod http;
pub mod ws;
