//! HTTP/1.1 as a client sees it: requests are encoded once, answers are read piece by piece as they arrive.

mod chunked;
mod error;
mod head;
mod request;
mod response;

pub use error::ParseError;
pub use head::{Framing, Head};
pub use httparse::Header as Field;
pub use request::{EncodeError, Method, Request, announces_chunks, push_chunks};
pub use response::{Progress, ResponseParser, Sink};

/// Bytes of a header section (status line, headers, and the trailers of a chunked body) beyond which it is refused.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Header fields beyond which an answer is refused.
pub const MAX_HEADERS: usize = 100;
