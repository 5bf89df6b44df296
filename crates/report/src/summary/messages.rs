//! What a server pushed: counts, jitter, and how well the clocks agree that its latency rests on.

use serde::{Deserialize, Serialize};

use super::Distribution;

/// The messages that a server pushed, over all scored slices of a cell. Their latency is the cell's, under the load `push`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Messages {
    /// Messages that came, duplicates among them.
    pub received: u64,
    /// Messages that did not come.
    pub missing: u64,
    /// Of those received, how many came when the next was already due.
    pub late: u64,
    /// Of those received, how many had been sent before another that had come already.
    pub out_of_order: u64,
    /// Of those received, how many had the same stamp as the one before.
    pub duplicated: u64,
    /// Of those received, how many came before they were sent, by their stamps.
    pub ahead: u64,
    /// Pings answered; they are no messages.
    pub pings: u64,
    /// Users who read to the end.
    pub subscriptions: u64,
    /// How coarse the server's stamps are, and so its latency.
    pub stamp_unit_ns: u64,
    /// The server's clock and the generator's differ by no more than this from what was reckoned with.
    pub clock_within_ns: u64,
    /// By how much the time between two messages of a user differed from the period, either way; needs no server's clock.
    pub jitter: Distribution,
}
