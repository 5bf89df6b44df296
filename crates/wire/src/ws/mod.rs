//! Both ends of a WebSocket: a handshake in HTTP/1.1, then messages in both directions. `tungstenite` implements
//! frames, masking and protocol checks, and runs in memory (docs/adr/0007-websocket-frames.md).

mod endpoint;
mod handshake;
mod stamp;

pub use endpoint::{Arrival, Endpoint, FrameError, Kind};
pub use handshake::Handshake;
pub use stamp::Stamped;
/// The `Sec-WebSocket-Accept` of a key.
pub use tungstenite::handshake::derive_accept_key as accept_for;

pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
