//! What a server sent on its own clock: counts, jitter or gaps, and how well the clocks agree that push latency rests on.

use serde::{Deserialize, Serialize};
use tare_record::MessageTally;

use super::Distribution;

/// The messages that a server pushed, over all scored slices of a cell or over a load. Their latency is the cell's under the
/// load `push`, or the response time of the load. That of events of streams is the time to the first event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageSummary {
    #[serde(flatten)]
    pub tally: MessageTally,
    /// Absolute difference between the push period and the time between two messages of a user. It needs no server's clock.
    /// Empty for events.
    pub jitter: Distribution,
    /// Of events: the time between two of a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Distribution>,
}

impl MessageSummary {
    /// Of these messages or events, with the time between two of them: their jitter, or their gaps.
    pub(crate) fn new(tally: MessageTally, are_events: bool, between: Distribution) -> Self {
        match are_events {
            true => Self { tally, jitter: Distribution::default(), gap: Some(between) },
            false => Self { tally, jitter: between, gap: None },
        }
    }

    /// How the time between two of them is called, and what it is.
    pub fn between(&self) -> (&'static str, &Distribution) {
        self.gap.as_ref().map_or(("jitter", &self.jitter), |gap| ("gap", gap))
    }
}
