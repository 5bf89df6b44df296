//! What is spoken on connections, with whom, and how requests follow one another.

use serde::{Deserialize, Serialize};
use tare_units::Span;

/// The protocol of the connections of a load. Requests that a server leaves unanswered when it ends a connection
/// correctly (`Connection: close`, GOAWAY) are read errors. None is sent twice, since only the server knows which it has
/// processed, except what a GOAWAY calls unprocessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1, over TLS with ALPN `http/1.1`.
    Http1 {
        /// Requests under way at a time on each connection; 1 means no pipelining.
        pipeline: u32,
    },
    /// HTTP/2: over TLS by ALPN `h2`, otherwise with prior knowledge.
    Http2 {
        /// Streams under way at a time on each connection. Those above the server's limit wait, as service time.
        streams: u32,
    },
    /// Each response is a stream of server-sent events, or of lines. The response time is that of its first event. A
    /// stream without a new event within the session's timeout has failed.
    Events {
        /// Events that are read of each stream; `None` for all that come.
        messages: Option<u64>,
        /// HTTP/2: streams under way at a time on each connection; `None` for one after another over HTTP/1.1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        streams: Option<u32>,
    },
    /// WebSocket over HTTP/1.1 (RFC 6455), opened by the path and the headers of the first request. The body of each is
    /// sent, and the next message from the server is its response. Checks of status and headers cannot hold.
    Exchange,
    /// WebSocket: the server pushes messages on its own clock, and the client subscribes to them.
    Push {
        /// Time from one message to the next.
        period: Span,
        /// Messages that each user reads; `None` for all that come in time.
        messages: Option<u64>,
    },
}

/// HTTP/1.1 without pipelining.
impl Default for Protocol {
    fn default() -> Self {
        Self::Http1 { pipeline: 1 }
    }
}

impl Protocol {
    /// Exchanges that one connection carries at a time. A closed loop has connections × depth users.
    pub const fn depth(self) -> u32 {
        match self {
            Self::Http1 { pipeline } => pipeline,
            Self::Http2 { streams } | Self::Events { streams: Some(streams), .. } => streams,
            Self::Exchange | Self::Push { .. } | Self::Events { streams: None, .. } => 1,
        }
    }
}

/// How the requests of an open loop follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Each leaves when the rate's integral has grown by one: at equal distances if the rate is constant.
    Even,
    /// At random and independently: a Poisson process, whose intensity is the rate.
    Poisson,
}

/// Which server certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TlsTrust {
    /// Servers that the authorities of the operating system have certified.
    System,
    /// Servers that the authorities in this PEM file have certified, or whose own certificate is in it. No others.
    Authorities { file: String },
    /// Any: certificates are not checked.
    Any,
}
