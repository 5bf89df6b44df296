//! What a server pushed: counts, jitter, and how well the clocks agree that its latency rests on.

use serde::{Deserialize, Serialize};
use tare_record::sample::MessageTally;

use super::Distribution;

/// The messages that a server pushed, over all scored slices of a cell. Their latency is the cell's, under the load `push`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Messages {
    /// Their counts.
    #[serde(flatten)]
    pub tally: MessageTally,
    /// By how much the time between two messages of a user differed from the period, either way; needs no server's clock.
    pub jitter: Distribution,
}
