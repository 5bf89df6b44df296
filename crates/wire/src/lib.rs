//! Converts bytes to protocol events and back, without sockets and clock: received bytes go in, events come out.

pub mod events;
pub mod grpc;
pub mod http;
pub mod http2;
pub mod ws;
