//! Errors of an answer, one variant per cause.

use thiserror::Error;

use super::{MAX_HEAD_BYTES, MAX_HEADERS};

/// Why bytes are not an HTTP/1.1 answer. After an error the connection cannot be used any more.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ParseError {
    #[error("not an HTTP answer: {0}")]
    Malformed(httparse::Error),
    #[error("header section longer than {} KiB", MAX_HEAD_BYTES / 1024)]
    HeadTooLong,
    #[error("more than {MAX_HEADERS} header fields")]
    TooManyHeaders,
    /// Content-Length is not a plain decimal number that fits 64 bits.
    #[error("Content-Length is not a number of bytes")]
    BadContentLength,
    #[error("more than one Content-Length")]
    RepeatedContentLength,
    /// Both Content-Length and Transfer-Encoding, as in request smuggling.
    #[error("both Content-Length and Transfer-Encoding")]
    AmbiguousLength,
    #[error("Transfer-Encoding names chunked more than once")]
    RepeatedChunked,
    #[error("Transfer-Encoding gives chunked a parameter, and it has none")]
    ChunkedParameter,
    #[error("chunk size is not a hexadecimal number")]
    BadChunkSize,
    #[error("chunk size overflows")]
    ChunkSizeOverflow,
    #[error("chunk extension is not NAME or NAME=VALUE")]
    BadChunkExtension,
    #[error("trailer is not a header field")]
    BadTrailer,
    #[error("chunk is not ended by CR LF")]
    BadChunkEnd,
    #[error("chunk extensions or trailers longer than {} KiB", MAX_HEAD_BYTES / 1024)]
    TrailersTooLong,
    #[error("connection closed before an answer")]
    NoAnswer,
    #[error("connection closed inside the headers")]
    TruncatedHead,
    #[error("connection closed inside the body")]
    TruncatedBody,
}

impl ParseError {
    /// Whether the stream ended too early, in contrast to a wrong byte.
    pub const fn is_truncation(self) -> bool {
        matches!(self, Self::NoAnswer | Self::TruncatedHead | Self::TruncatedBody)
    }
}
