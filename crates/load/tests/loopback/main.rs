//! The engine over real sockets on loopback, against the reference server.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod certificates;
mod connections;
mod event_stream;
mod faults;
mod grpc;
mod http2;
mod http2_frames;
mod http2_raw;
mod http2_told;
mod server_clock;
mod slices;
mod support;
mod tls;
mod users;
mod websocket;
