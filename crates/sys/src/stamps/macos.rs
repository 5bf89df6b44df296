//! Stamps of received bytes on macOS: there are none for TCP.

use std::io;
use std::os::fd::BorrowedFd;

use super::StampPair;
use crate::clock::Nanos;

/// A log that cannot exist.
#[derive(Debug)]
pub(crate) enum NoStamps {}

impl NoStamps {
    /// # Errors
    /// Always.
    pub(crate) fn new() -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "macOS does not stamp the bytes of TCP"))
    }

    pub(crate) fn take(&mut self) -> Vec<StampPair> {
        match *self {}
    }

    pub(crate) fn receive(&mut self, _: BorrowedFd<'_>, _: &mut [u8], _: Nanos) -> io::Result<usize> {
        match *self {}
    }
}
