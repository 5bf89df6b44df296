//! What is known of the messages of WebSockets beyond what all answers have in common.

use serde::{Deserialize, Serialize};
use tare_stats::histogram::LatencyHistogram;

use crate::packed::PackedHistogram;

/// The messages that a server pushed during a slice; those of one that only answers have no such entry.
///
/// `H` is as in [`crate::sample::SliceRecord`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Messages<H = LatencyHistogram> {
    /// Their counts.
    pub tally: MessageTally,
    /// By how much the time between two messages of a user differed from the period, either way; needs no server's clock.
    pub jitter: H,
}

/// Counts of pushed messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageTally {
    /// Came, duplicates among them.
    pub received: u64,
    /// Did not come.
    pub missing: u64,
    /// Of those received: came when the next was already due.
    pub late: u64,
    /// Of those received: had been sent before another that had come already.
    pub out_of_order: u64,
    /// Of those received: had the same stamp as the one before.
    pub duplicated: u64,
    /// Of those received: came before they were sent, by their stamps.
    pub ahead: u64,
    /// Pings answered; they are no messages.
    pub pings: u64,
    /// Users who read to the end.
    pub subscriptions: u64,
    /// How coarse the stamps were; 0 without stamps.
    pub stamp_unit_ns: u64,
    /// How far the difference between the server's clock and the generator's may have been from what was reckoned with.
    pub clock_within_ns: u64,
}

impl MessageTally {
    /// Adds another slice's: counts add up, uncertainties are the largest.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.received, other.received),
            (&mut self.missing, other.missing),
            (&mut self.late, other.late),
            (&mut self.out_of_order, other.out_of_order),
            (&mut self.duplicated, other.duplicated),
            (&mut self.ahead, other.ahead),
            (&mut self.pings, other.pings),
            (&mut self.subscriptions, other.subscriptions),
        ] {
            *mine += theirs;
        }
        self.stamp_unit_ns = self.stamp_unit_ns.max(other.stamp_unit_ns);
        self.clock_within_ns = self.clock_within_ns.max(other.clock_within_ns);
    }
}

impl Messages {
    /// Those of several slices together; `None` where nothing was pushed.
    pub fn sum<'a>(each: impl Iterator<Item = &'a Messages<PackedHistogram>>) -> Option<Self> {
        each.fold(None, |sum, one| {
            let mut sum: Self = sum.unwrap_or_default();
            sum.tally.add(&one.tally);
            one.jitter.merge_into(&mut sum.jitter);
            Some(sum)
        })
    }

    /// The same with its histogram packed.
    pub fn pack(self) -> Messages<PackedHistogram> {
        Messages { tally: self.tally, jitter: PackedHistogram::from(&self.jitter) }
    }
}
