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

/// All that waits for its moment. What has the same moment comes in the order in which it was added.
#[derive(Debug)]
pub(crate) struct Timers<T> {
    waiting: BinaryHeap<Reverse<(Nanos, u64, T)>>,
    added: u64,
}

impl<T: Ord> Timers<T> {
    pub(crate) const fn new() -> Self {
        Self { waiting: BinaryHeap::new(), added: 0 }
    }

    pub(crate) fn add(&mut self, at: Nanos, waiting: T) {
        self.added += 1;
        self.waiting.push(Reverse((at, self.added, waiting)));
    }

    /// The first moment.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.waiting.peek().map(|Reverse((at, ..))| *at)
    }

    /// What was due first, with its moment, if that is not after `now`.
    pub(crate) fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        if self.next()? > now {
            return None;
        }
        self.waiting.pop().map(|Reverse((at, _, due))| (at, due))
    }
}
