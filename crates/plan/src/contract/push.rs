//! What a server sends on its own clock, over a WebSocket or as a stream of events, as the contract describes it.

use serde::{Deserialize, Serialize};

use tare_units::Span;

/// A user reads no more, as with `--messages`.
const MOST_MESSAGES: u32 = 1_000_000;

/// The messages that come once a WebSocket is open, or the events of a response, and how many of them a user reads. Each message of
/// a WebSocket says when it was sent: milli-, micro- or nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// From one message to the next, as far as that is known.
    pub period: Span,
    pub messages: u32,
}

impl Push {
    /// How long a user reads.
    pub fn span(&self) -> Span {
        Span(self.period.0 * self.messages)
    }

    /// Why these messages cannot be pushed; `None` if they can.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        if self.period.0.is_zero() {
            Some("period must be above 0")
        } else if self.messages < 2 {
            Some("messages must be at least 2: jitter is about the time between two")
        } else if self.messages > MOST_MESSAGES {
            Some("messages must be at most 1000000")
        } else {
            None
        }
    }
}
