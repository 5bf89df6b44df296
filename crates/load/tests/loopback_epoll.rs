//! The tests of `loopback`, over epoll.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use tare_load::PollerChoice;

/// The poller under test.
const POLLER: PollerChoice = PollerChoice::Readiness;

#[path = "loopback/certificates.rs"]
mod certificates;
#[path = "loopback/connections.rs"]
mod connections;
#[path = "loopback/event_stream/mod.rs"]
mod event_stream;
#[path = "loopback/faults.rs"]
mod faults;
#[path = "loopback/grpc.rs"]
mod grpc;
#[path = "loopback/http2.rs"]
mod http2;
#[path = "loopback/http2_frames.rs"]
mod http2_frames;
#[path = "loopback/http2_raw.rs"]
mod http2_raw;
#[path = "loopback/http2_told.rs"]
mod http2_told;
#[path = "loopback/server_clock.rs"]
mod server_clock;
#[path = "loopback/slices.rs"]
mod slices;
#[path = "loopback/support.rs"]
mod support;
#[path = "loopback/tls.rs"]
mod tls;
#[path = "loopback/users/mod.rs"]
mod users;
#[path = "loopback/websocket.rs"]
mod websocket;
