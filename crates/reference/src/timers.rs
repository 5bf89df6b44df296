//! What is to happen later, in order of time.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use tare_sys::clock::Nanos;
use tare_sys::poll::Token;

use crate::http2::Stream;

/// What is to happen on a connection that may be closed by then.
pub(crate) struct Later {
    pub(crate) token: Token,
    pub(crate) serial: u64,
    pub(crate) action: Action,
}

pub(crate) enum Action {
    /// Sends bytes of an answer, which they may complete.
    Send { bytes: Arc<[u8]>, is_last: bool },
    /// Sends an event of a stream, with whose last one the answer ends.
    Event { bytes: Arc<[u8]>, is_last: bool },
    /// Answers a request over HTTP/2.
    Answer { stream: Box<Stream>, status: u16, body: Bytes },
    /// Pushes the message that is due at this moment.
    Push { stamp: Nanos },
}

/// All that waits for its moment. What has the same moment comes in the order in which it was added.
#[derive(Default)]
pub(crate) struct Timers {
    waiting: BTreeMap<(Nanos, u64), Later>,
    added: u64,
}

impl Timers {
    pub(crate) fn add(&mut self, at: Nanos, later: Later) {
        self.added += 1;
        self.waiting.insert((at, self.added), later);
    }

    /// The first moment.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.waiting.first_key_value().map(|((at, _), _)| *at)
    }

    /// What was due first, with its moment, if that is not after `now`.
    pub(crate) fn pop_due(&mut self, now: Nanos) -> Option<(Nanos, Later)> {
        let first = self.waiting.first_entry().filter(|first| first.key().0 <= now)?;
        let ((at, _), later) = first.remove_entry();
        Some((at, later))
    }
}
