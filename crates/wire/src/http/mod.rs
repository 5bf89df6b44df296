//! HTTP/1.1 for a client: requests are encoded once, and answers are read piece by piece as they arrive.

mod chunked;
mod error;
pub mod grammar;
mod head;
mod request;
mod response;

pub use chunked::Chunked;
pub use error::ParseError;
pub use head::{Body, Head};
pub use http::Method;
pub use httparse::Header as Field;
pub use request::{EncodeError, Request, announces_chunks, announces_close, method_named, push_chunks};
pub use response::{Progress, ResponseParser, Sink, begins_http2, begins_tls_alert, count_line_ends, status_line};

/// Largest header section in bytes (status line, headers, and the trailers of a chunked body). curl has the same limit.
pub const MAX_HEAD_BYTES: usize = 300 * 1024;
/// Largest number of header fields. curl has the same limit.
pub const MAX_HEADERS: usize = 5000;
