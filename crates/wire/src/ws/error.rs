//! What can be wrong with a WebSocket: while it is opened, and once it stands.

use thiserror::Error;
use tungstenite::error::ProtocolError;

use crate::http::ParseError;

/// Why a server did not open a WebSocket. The connection is of no further use.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The answer is not HTTP.
    #[error(transparent)]
    Http(#[from] ParseError),
    /// It declined; a WebSocket begins with status 101.
    #[error("status {0} instead of 101; is there a WebSocket at this path?")]
    Status(u16),
    /// A header field that makes the upgrade is absent or says something else.
    #[error("101 without \"{0}\"")]
    NotUpgraded(&'static str),
    /// `Sec-WebSocket-Accept` does not follow from the key that was sent.
    #[error("Sec-WebSocket-Accept does not follow from the key: found {found}, expected {expected}")]
    WrongAccept {
        /// What the server sent, escaped; empty when it sent none.
        found: String,
        /// What it should have sent.
        expected: String,
    },
    /// An extension or a subprotocol that nobody offered.
    #[error("the server chose \"{0}\", which was not offered")]
    NotOffered(String),
}

/// Why bytes are not a WebSocket's. The peer has been told; the connection is of no further use.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame that breaks the protocol, or comes where it may not.
    #[error("{0}")]
    Protocol(ProtocolError),
    /// A message or frame of more than [`super::MAX_MESSAGE_BYTES`].
    #[error("a message of {bytes} bytes, more than {most} are not taken")]
    TooLong {
        /// As many as are known of.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// A text, or the reason of a close, that is not UTF-8.
    #[error("text that is not UTF-8")]
    NotUtf8,
    /// Nothing may follow the end of a WebSocket.
    #[error("bytes after the end of the WebSocket")]
    Ended,
}
