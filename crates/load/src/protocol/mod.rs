//! The protocol of a connection, and how many exchanges it carries at a time.

pub(crate) mod answer;
mod arrived;
pub(crate) mod connection;
pub(crate) mod conversation;
mod event_stream;
mod http1;
mod http2;
pub(crate) mod offline;
mod only_exchange;
mod redirect;
mod subscription;
pub(crate) mod tls;
mod websocket;

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::protocol::conversation::{Conversation, Push};
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
    /// Each response is a stream of events: server-sent events, or lines. A user requests a stream, reads its events, and requests
    /// the next one. The stream ends after [`Push::messages_per_user`] events, or by itself if these have no limit. The response
    /// time is that of its first event; jitter is the time between two events. A stream without a new event within the session's
    /// timeout has failed.
    EventStream {
        push: Push,
        /// Streams at a time on each connection of HTTP/2; `None` for one after another over HTTP/1.1.
        streams: Option<usize>,
    },
}

impl Default for Protocol {
    fn default() -> Self {
        Self::Http1 { pipeline: 1 }
    }
}

impl Protocol {
    pub(crate) const fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 { .. } | Self::WebSocket(_) | Self::EventStream { streams: None, .. } => b"http/1.1",
            Self::Http2 { .. } | Self::EventStream { streams: Some(_), .. } => b"h2",
        }
    }

    /// Exchanges that one connection carries at a time. A closed loop has connections × depth users.
    pub const fn depth(self) -> usize {
        match self {
            Self::Http1 { pipeline } => pipeline,
            Self::Http2 { streams } | Self::EventStream { streams: Some(streams), .. } => streams,
            Self::WebSocket(_) | Self::EventStream { streams: None, .. } => 1,
        }
    }

    /// The messages that are missing from a subscription that was requested at `since` and got none; `None` for protocols without
    /// subscriptions.
    pub(crate) fn missing_messages(self, since: Nanos) -> Option<MissingMessages> {
        let push = self.push()?;
        Some(MissingMessages { messages: push.remaining_after(0), silence: push.silence_since(since) })
    }

    /// What the server sends on its own clock; `None` if it only answers.
    pub(crate) const fn push(self) -> Option<Push> {
        match self {
            Self::WebSocket(Conversation::Push(push)) | Self::EventStream { push, .. } => Some(push),
            Self::Http1 { .. } | Self::Http2 { .. } | Self::WebSocket(Conversation::Exchanges) => None,
        }
    }

    /// Time between two pushed messages; zero without pushes.
    pub(crate) fn period(self) -> Duration {
        self.push().map_or(Duration::ZERO, |push| push.period)
    }

    pub(crate) const fn timeout_text(self) -> &'static str {
        match self {
            Self::WebSocket(Conversation::Push(_)) => {
                "no message until the deadline; if the server pushes only after a subscription, --subscribe sends it"
            }
            Self::EventStream { .. } => "no event until the deadline",
            _ => "no complete answer until the deadline",
        }
    }
}
