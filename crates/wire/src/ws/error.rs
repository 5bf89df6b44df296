//! Errors of a WebSocket, while it is opened and later.

use thiserror::Error;
use tungstenite::error::ProtocolError;

use crate::http::ParseError;

/// Why a server did not open a WebSocket. The connection cannot be used any more.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeError {
    #[error(transparent)]
    Http(#[from] ParseError),
    /// The server refused: a WebSocket begins with status 101.
    #[error("status {0} instead of 101; is there a WebSocket at this path?")]
    Status(u16),
    /// The server is elsewhere, most often behind TLS or a login. The place is escaped.
    #[error(
        "status {status} instead of 101; it leads to \"{location}\": give that URL with ws or wss, or log in there first"
    )]
    Redirect { status: u16, location: String },
    /// HTTP/1.0 has no upgrade.
    #[error("101 in HTTP/1.0, which cannot open a WebSocket")]
    OldVersion,
    /// A header field of the upgrade is absent or has another value.
    #[error("101 without \"{0}\"")]
    NotUpgraded(&'static str),
    /// `Sec-WebSocket-Accept` does not match the key that was sent.
    #[error("Sec-WebSocket-Accept does not follow from the key: found {found}, expected {expected}")]
    WrongAccept {
        /// The server's value, escaped; empty if it sent none.
        found: String,
        /// The correct value.
        expected: String,
    },
    /// An extension or a subprotocol that was not offered.
    #[error("the server chose \"{0}\", which was not offered")]
    NotOffered(String),
}

/// Why bytes break the WebSocket protocol. The peer was informed, and the connection cannot be used any more.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame that breaks the protocol, or is not allowed at this point.
    #[error("{0}")]
    Protocol(ProtocolError),
    /// The peer closes with a code that no close frame may have, or says that the other end has violated the protocol. The
    /// library takes 1014 for the former, which was registered after RFC 6455.
    #[error("a close with an invalid code, with 1014 (bad gateway), or for a violation of the protocol")]
    InvalidCloseCode,
    /// A message or frame of more than [`super::MAX_MESSAGE_BYTES`].
    #[error("a message of {bytes} bytes, more than {most} are not taken")]
    TooLong {
        /// The known size.
        bytes: usize,
        most: usize,
    },
    /// A text message, or the reason of a close, that is not UTF-8.
    #[error("text that is not UTF-8")]
    NotUtf8,
    /// Bytes after the close of a WebSocket.
    #[error("bytes after the end of the WebSocket")]
    Ended,
}
