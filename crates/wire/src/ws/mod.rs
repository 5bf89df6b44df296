//! WebSocket as its two ends see it: a handshake in HTTP/1.1, then messages both ways. What a frame is, how it is masked
//! and what breaks the protocol is `tungstenite`'s, driven in memory (docs/adr/0007-websocket-frames.md).

mod endpoint;
mod error;
mod handshake;
mod stamp;

pub use endpoint::{Arrival, Endpoint, Kind};
pub use error::{FrameError, HandshakeError};
pub use handshake::{Handshake, accept_for};
pub use stamp::Stamped;

/// Bytes of one message beyond which it is refused.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
