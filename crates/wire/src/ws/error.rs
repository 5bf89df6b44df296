//! Errors of a WebSocket, while it is opened and later.

use thiserror::Error;
use tungstenite::error::ProtocolError;

/// Why a server did not open a WebSocket, in words. The connection cannot be used any more.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct HandshakeError(pub String);

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
    #[error("a message of {bytes} bytes, more than {most} are not taken")]
    TooLong { bytes: usize, most: usize },
    /// A text message, or the reason of a close, that is not UTF-8.
    #[error("text that is not UTF-8")]
    NotUtf8,
    #[error("bytes after the end of the WebSocket")]
    Ended,
}
