//! io_uring where there is none: outside Linux.

use std::io;

use crate::clock::Nanos;
use crate::poll::{Handler, Poller};
use crate::readiness::ReadinessTransport;

pub use NoUring as UringPoller;

const REASON: &str = "it exists on Linux only";

/// A poller that cannot exist.
pub enum NoUring {}

impl NoUring {
    /// Opens nothing.
    ///
    /// # Errors
    /// Always.
    pub fn new() -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, REASON))
    }
}

impl Poller for NoUring {
    type Transport = ReadinessTransport;

    fn transport(&mut self) -> &mut ReadinessTransport {
        match *self {}
    }

    fn wait<H: Handler<ReadinessTransport>>(&mut self, _: Option<Nanos>, _: &mut H) -> io::Result<()> {
        match *self {}
    }
}

/// Why this process cannot use io_uring.
pub fn why_unavailable() -> Option<String> {
    Some(REASON.to_owned())
}
