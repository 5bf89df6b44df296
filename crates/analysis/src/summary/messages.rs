//! What a server pushed: counts, jitter, and how well the clocks agree that its latency rests on.

use serde::{Deserialize, Serialize};
use tare_record::MessageTally;

use super::Distribution;

/// The messages that a server pushed, over all scored slices of a cell or over a load. Their latency is the cell's under the
/// load `push`, or the response time of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageSummary {
    #[serde(flatten)]
    pub tally: MessageTally,
    /// Absolute difference between the push period and the time between two messages of a user. It needs no server's clock.
    pub jitter: Distribution,
}
