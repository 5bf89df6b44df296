//! What is spoken on a connection, and how many exchanges it carries at a time.

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::conversation::Conversation;
use crate::messages::Owed;

/// The protocol of a session.
///
/// A server may end a connection in good order (`Connection: close`, GOAWAY) while requests are under way that it will
/// not answer. These are read errors: nothing is sent twice, since nobody but the server knows what it has done. Only what
/// a GOAWAY says was not processed is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1, over TLS with ALPN `http/1.1`.
    Http1 {
        /// Requests that a connection has under way at a time, sent without waiting for the answers before; 1 is
        /// the plain exchange of request and answer.
        pipeline: usize,
    },
    /// HTTP/2: over TLS by ALPN `h2`, otherwise with prior knowledge.
    Http2 {
        /// Streams that a connection has under way at a time. What exceeds the server's own limit waits in the
        /// connection, and that wait counts as service time.
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
    /// Its name in TLS's negotiation.
    pub(crate) const fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 { .. } | Self::WebSocket(_) => b"http/1.1",
            Self::Http2 { .. } => b"h2",
        }
    }

    /// Exchanges that one connection carries at a time: the users of a closed loop are connections × depth.
    pub const fn depth(self) -> usize {
        match self {
            Self::Http1 { pipeline } => pipeline,
            Self::Http2 { streams } => streams,
            Self::WebSocket(_) => 1,
        }
    }

    /// What one is owed who has wanted to subscribe since then, and could not; `None` where nobody subscribes.
    pub(crate) fn owed(self, since: Nanos) -> Option<Owed> {
        match self {
            Self::WebSocket(Conversation::Push(push)) => {
                Some(Owed { messages: push.rest(0), silence: push.silence(since) })
            }
            _ => None,
        }
    }

    /// From one pushed message to the next; nothing where none is pushed.
    pub(crate) const fn period(self) -> Duration {
        match self {
            Self::WebSocket(Conversation::Push(push)) => push.period,
            _ => Duration::ZERO,
        }
    }

    /// What has befallen somebody who has waited until the deadline.
    pub(crate) const fn silence(self) -> &'static str {
        match self {
            Self::WebSocket(Conversation::Push(_)) => "no message until the deadline",
            _ => "no complete answer until the deadline",
        }
    }
}
