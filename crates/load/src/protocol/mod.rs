//! The protocol of a connection, and how many exchanges it carries at a time.

pub(crate) mod answer;
pub(crate) mod connection;
pub(crate) mod conversation;
mod http1;
mod http2;
pub(crate) mod offline;
pub(crate) mod tls;
mod websocket;

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::protocol::conversation::Conversation;
use crate::recorder::missing_messages::MissingMessages;

/// The protocol of a session.
///
/// A server may end a connection correctly (`Connection: close`, GOAWAY) while requests are under way that it will not
/// answer. These are read errors. No request is sent twice, since only the server knows which ones it has processed.
/// The exception is a request that a GOAWAY declares unprocessed: it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1, over TLS with ALPN `http/1.1`.
    Http1 {
        /// Requests under way on a connection at a time, sent before earlier responses have arrived. 1 means no
        /// pipelining.
        pipeline: usize,
    },
    /// HTTP/2: over TLS by ALPN `h2`, otherwise with prior knowledge.
    Http2 {
        /// Streams under way on a connection at a time. Streams above the server's own limit wait in the connection,
        /// and that wait counts as service time.
        streams: usize,
    },
    /// WebSocket over HTTP/1.1 (RFC 6455). The path and the headers of the first request open each connection.
    WebSocket(Conversation),
}

impl Default for Protocol {
    fn default() -> Self {
        Self::Http1 { pipeline: 1 }
    }
}

impl Protocol {
    /// The protocol's name in ALPN.
    pub(crate) const fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 { .. } | Self::WebSocket(_) => b"http/1.1",
            Self::Http2 { .. } => b"h2",
        }
    }

    /// Exchanges that one connection carries at a time. A closed loop has connections × depth users.
    pub const fn depth(self) -> usize {
        match self {
            Self::Http1 { pipeline } => pipeline,
            Self::Http2 { streams } => streams,
            Self::WebSocket(_) => 1,
        }
    }

    /// The messages that are missing from a subscription that was requested at `since` and got none; `None` for protocols without
    /// subscriptions.
    pub(crate) fn missing_messages(self, since: Nanos) -> Option<MissingMessages> {
        match self {
            Self::WebSocket(Conversation::Push(push)) => {
                Some(MissingMessages { messages: push.remaining_after(0), silence: push.silence_since(since) })
            }
            _ => None,
        }
    }

    /// Whether the server pushes messages without requests.
    pub(crate) const fn is_push(self) -> bool {
        matches!(self, Self::WebSocket(Conversation::Push(_)))
    }

    /// Time between two pushed messages; zero without pushes.
    pub(crate) const fn period(self) -> Duration {
        match self {
            Self::WebSocket(Conversation::Push(push)) => push.period,
            _ => Duration::ZERO,
        }
    }

    /// The error text of a timeout.
    pub(crate) const fn timeout_text(self) -> &'static str {
        match self {
            Self::WebSocket(Conversation::Push(_)) => "no message until the deadline",
            _ => "no complete answer until the deadline",
        }
    }
}
