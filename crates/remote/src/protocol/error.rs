//! Errors of the protocol.

use thiserror::Error;

/// Bytes that break the protocol.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The pipe failed or ended within a message.
    #[error("the connection broke: {0}")]
    Pipe(#[from] std::io::Error),
    /// A received message that is too long.
    #[error("a message of {bytes} bytes, more than {limit}: is it text that a shell prints at login?")]
    TooLong {
        /// Its stated length.
        bytes: u64,
        /// The most that is accepted.
        limit: u64,
    },
    /// A message that is too long to be sent.
    #[error("a message of {bytes} bytes, more than {limit}: are the files of its requests too large?")]
    TooLongToSend {
        /// Its length.
        bytes: u64,
        /// The most that is sent.
        limit: u64,
    },
    /// Orders that end before the first.
    #[error(
        "no orders come on standard input; tare load --agents and tare run --agents start this, and give it orders"
    )]
    NoOrders,
    /// Bytes that cannot be decoded.
    #[error("bytes that are no message: {0}")]
    Undecodable(#[from] prost::DecodeError),
    /// A message of no known kind.
    #[error("a message of no kind that protocol {known} has; use the same version of tare on both sides", known = super::message::PROTOCOL)]
    UnknownKind,
    /// A message in a phase where it is not allowed.
    #[error("{0} at the wrong time")]
    WrongPhase(&'static str),
    /// The other side speaks another version.
    #[error("it speaks protocol {theirs} of tare {version}, and this is protocol {ours}; use the same version of tare on both sides", ours = super::message::PROTOCOL)]
    Version {
        /// The protocol of the other side.
        theirs: u32,
        /// Its version of tare.
        version: String,
    },
    /// A sample whose counts contradict one another.
    #[error("a sample that cannot be true: {0}")]
    Sample(String),
}
