//! The server's own list of the requests that it answered: to compare a client's figures with.

use tare_sys::clock::Nanos;

/// One answered request, or one event of a stream, on the monotonic clock of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Its index in the order of arrival, from 0.
    pub nth: u64,
    /// When the server noticed it; after a stall, the end of the stall.
    pub received: Nanos,
    /// When the answer was about to be sent.
    pub answered: Nanos,
}
