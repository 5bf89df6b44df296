//! The protocol of a connection, and how many exchanges it carries at a time.

pub(crate) mod answer;
mod arrived;
pub(crate) mod connection;
pub(crate) mod conversation;
mod http1;
mod http2;
pub(crate) mod offline;
mod redirect;
pub(crate) mod subscription;
pub(crate) mod tls;
mod websocket;

use std::time::Duration;

pub use tare_sample::Protocol;

use crate::protocol::conversation::Push;

pub(crate) const fn speaks_http2(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::Http2 { .. } | Protocol::Events { streams: Some(_), .. })
}

/// What the server sends on its own clock; `None` if it only answers.
pub(crate) const fn push_of(protocol: Protocol) -> Option<Push> {
    match protocol {
        Protocol::Push { period, messages } => Some(Push { messages, period: period.0 }),
        Protocol::Events { messages, .. } => Some(Push { messages, period: Duration::ZERO }),
        Protocol::Http1 { .. } | Protocol::Http2 { .. } | Protocol::Exchange => None,
    }
}

pub(crate) const fn timeout_text(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Push { .. } => "no message until the deadline",
        Protocol::Events { .. } => "no event until the deadline",
        _ => "no complete answer until the deadline",
    }
}
