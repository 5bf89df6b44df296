//! What a server pushes over a WebSocket on its own clock, as the contract describes it.

use serde::{Deserialize, Serialize};

use tare_units::Span;

/// The messages that come once a WebSocket is open, and how many of them a user reads. Each message says when it was sent:
/// milli-, micro- or nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// From one message to the next.
    pub period: Span,
    /// Messages that each user reads.
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
        } else {
            None
        }
    }
}
