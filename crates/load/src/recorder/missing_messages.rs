//! The messages that are missing when a subscription ends.

use std::time::Duration;

use tare_sys::clock::Nanos;

/// The messages that are missing from a subscription when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MissingMessages {
    /// How many of a fixed number of messages are missing.
    pub(crate) messages: u64,
    /// Without a fixed number: the time since the last message.
    pub(crate) silence: Option<Silence>,
}

/// A time without a message, while one was due in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    pub(crate) since: Nanos,
    pub(crate) period: Duration,
}

impl MissingMessages {
    /// The number of missing messages between two moments.
    pub(crate) fn count(&self, from: Nanos, until: Nanos) -> u64 {
        self.messages + self.silence.map_or(0, |silence| silence.due_messages(from, until))
    }
}

impl Silence {
    /// The number of messages that were due. A message counts as missing when it is late by half a period.
    fn due_messages(&self, from: Nanos, until: Nanos) -> u64 {
        let (silent_ns, period_ns) = (until.since(self.since.max(from)), Nanos::from(self.period).0.max(1));
        (silent_ns.saturating_add(period_ns / 2) / period_ns).saturating_sub(1)
    }
}
