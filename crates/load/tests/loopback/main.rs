//! The engine over real sockets on loopback, against the reference server.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use tare_load::PollerChoice;

/// The poller under test: io_uring if the kernel allows it. `loopback_epoll` runs the same tests over epoll.
const POLLER: PollerChoice = PollerChoice::Auto;

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
