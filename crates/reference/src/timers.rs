//! What is to happen later, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use tare_sys::clock::Nanos;
use tare_sys::poll::Token;

/// Bytes to send later, on a connection that may be closed by then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Later {
    pub(crate) token: Token,
    pub(crate) serial: u64,
    /// The stream that they answer, and the status of the answer, over HTTP/2; 0 over HTTP/1.1, where the bytes have it.
    pub(crate) stream: u32,
    pub(crate) status: u16,
    pub(crate) bytes: Arc<[u8]>,
    /// These bytes complete the answer.
    pub(crate) is_last: bool,
}

/// All that waits for its moment.
#[derive(Debug)]
pub(crate) struct Timers<T>(BinaryHeap<Reverse<(Nanos, T)>>);

impl<T: Ord> Timers<T> {
    pub(crate) const fn new() -> Self {
        Self(BinaryHeap::new())
    }

    pub(crate) fn add(&mut self, at: Nanos, waiting: T) {
        self.0.push(Reverse((at, waiting)));
    }

    /// The first moment.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// What was due first, with its moment, if that is not after `now`.
    pub(crate) fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        if self.next()? > now {
            return None;
        }
        self.0.pop().map(|Reverse(due)| due)
    }
}
