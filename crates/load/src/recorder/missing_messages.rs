//! The messages that are missing when a subscription ends.

use std::time::Duration;

use tare_sys::clock::Nanos;

/// The messages that are missing from a subscription when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MissingMessages {
    /// How many of a fixed number of messages are missing.
    pub(crate) messages: u64,
    /// Without a fixed number: the time of the last message, and the period in which each other was due.
    pub(crate) silence: Option<(Nanos, Duration)>,
}

impl MissingMessages {
    /// The number of missing messages between two moments. One that is late by half a period counts as missing.
    pub(crate) fn count(&self, from: Nanos, until: Nanos) -> u64 {
        let due = |(since, period): (Nanos, Duration)| {
            let (silent_ns, period_ns) = (until.since(since.max(from)), Nanos::from(period).0);
            (silent_ns.saturating_add(period_ns / 2) / period_ns).saturating_sub(1)
        };
        self.messages + self.silence.map_or(0, due)
    }
}
