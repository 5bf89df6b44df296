//! Bytes to send later, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use tare_sys::clock::Nanos;
use tare_sys::poll::Token;

/// Bytes to send at a time, on a connection that may be closed by then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Later {
    pub(crate) at: Nanos,
    pub(crate) token: Token,
    pub(crate) serial: u64,
    pub(crate) bytes: Arc<[u8]>,
    /// These bytes complete the answer.
    pub(crate) is_last: bool,
}

/// All waiting bytes.
#[derive(Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<Later>>);

impl Timers {
    pub(crate) fn add(&mut self, later: Later) {
        self.0.push(Reverse(later));
    }

    pub(crate) fn next(&self) -> Option<Nanos> {
        self.0.peek().map(|Reverse(later)| later.at)
    }

    pub(crate) fn pop_due(&mut self, now: Nanos) -> Option<Later> {
        if self.next()? > now {
            return None;
        }
        self.0.pop().map(|Reverse(later)| later)
    }
}
