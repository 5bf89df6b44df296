//! Why a stream or a connection ends, as its frames say it.

use std::fmt;

/// What the codes mean, by number.
const MEANINGS: [&str; 14] = [
    "not a result of an error",
    "unspecific protocol error detected",
    "unexpected internal error encountered",
    "flow-control protocol violated",
    "settings ACK not received in timely manner",
    "received frame when stream half-closed",
    "frame with invalid size",
    "refused stream before processing any application logic",
    "stream no longer needed",
    "unable to maintain the header compression context",
    "connection established in response to a CONNECT request was reset or abnormally closed",
    "detected excessive load generating behavior",
    "security properties do not meet minimum requirements",
    "endpoint requires HTTP/1.1",
];

/// The code in a RST_STREAM or a GOAWAY. It is shown by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    pub const NO_ERROR: Self = Self(0);
    pub const PROTOCOL: Self = Self(1);
    pub const FLOW_CONTROL: Self = Self(3);
    pub const FRAME_SIZE: Self = Self(6);
    pub const CANCEL: Self = Self(8);
    pub const COMPRESSION: Self = Self(9);
    pub const ENHANCE_YOUR_CALM: Self = Self(11);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match MEANINGS.get(self.0 as usize) {
            Some(meaning) => f.write_str(meaning),
            None => write!(f, "unknown reason {}", self.0),
        }
    }
}

/// What the other side sent that breaks the connection. This side says the code in a GOAWAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {what}")]
pub struct ConnectionError {
    pub code: ErrorCode,
    pub what: &'static str,
}

impl ConnectionError {
    pub const fn new(code: ErrorCode, what: &'static str) -> Self {
        Self { code, what }
    }

    /// A frame, or its place, that the protocol forbids.
    pub const fn protocol(what: &'static str) -> Self {
        Self::new(ErrorCode::PROTOCOL, what)
    }

    pub(super) const fn frame_size(what: &'static str) -> Self {
        Self::new(ErrorCode::FRAME_SIZE, what)
    }

    pub(super) const fn compression(what: &'static str) -> Self {
        Self::new(ErrorCode::COMPRESSION, what)
    }
}
