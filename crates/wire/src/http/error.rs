//! Errors of an answer, one variant per cause.

use thiserror::Error;

use super::{MAX_HEAD_BYTES, MAX_HEADERS};

/// Why bytes are not an HTTP/1.1 answer. After an error the connection cannot be used any more.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The status line or a header field breaks the grammar.
    #[error("not an HTTP answer: {0}")]
    Malformed(httparse::Error),
    /// The header section exceeds [`MAX_HEAD_BYTES`].
    #[error("header section longer than {} KiB", MAX_HEAD_BYTES / 1024)]
    HeadTooLong,
    /// More than [`MAX_HEADERS`] header fields.
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
    /// Transfer-Encoding names `chunked` more than once.
    #[error("Transfer-Encoding names chunked more than once")]
    RepeatedChunked,
    /// Transfer-Encoding gives `chunked` a parameter.
    #[error("Transfer-Encoding gives chunked a parameter, and it has none")]
    ChunkedParameter,
    #[error("chunk size is not a hexadecimal number")]
    BadChunkSize,
    /// A chunk size that does not fit 64 bits.
    #[error("chunk size overflows")]
    ChunkSizeOverflow,
    /// A chunk extension that is not a name, or a name and a value.
    #[error("chunk extension is not NAME or NAME=VALUE")]
    BadChunkExtension,
    /// A line behind the last chunk that is not a field.
    #[error("trailer is not a header field")]
    BadTrailer,
    /// A chunk that is not followed by CR LF.
    #[error("chunk is not ended by CR LF")]
    BadChunkEnd,
    /// Chunk extensions or trailers exceed [`MAX_HEAD_BYTES`].
    #[error("chunk extensions or trailers longer than {} KiB", MAX_HEAD_BYTES / 1024)]
    TrailersTooLong,
    /// The connection ended before the first byte of an answer.
    #[error("connection closed before an answer")]
    NoAnswer,
    /// The connection ended inside the header section.
    #[error("connection closed inside the headers")]
    TruncatedHead,
    /// The connection ended inside the body.
    #[error("connection closed inside the body")]
    TruncatedBody,
}

impl ParseError {
    /// Whether the stream ended too early, in contrast to a wrong byte.
    pub const fn is_truncation(self) -> bool {
        matches!(self, Self::NoAnswer | Self::TruncatedHead | Self::TruncatedBody)
    }
}
