//! A conversation in which the server sends by itself: messages that it pushes on a WebSocket, or as a stream of events.

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::recorder::missing_messages::Silence;

/// Messages that a server pushes: on a WebSocket, or as the events of a response.
///
/// A user of the closed loop subscribes when it opens a WebSocket, and closes it after its last message. A
/// [`StopRule::Count`](crate::StopRule::Count) counts subscriptions. A
/// [`StopRule::Duration`](crate::StopRule::Duration) ends each subscription with its first message that was sent after
/// that time.
///
/// Each message counts as an answered request. Its intended start is the moment at which the server sent it, so its
/// response time is the *push latency*. It has no service time. [`MessageTally`](crate::MessageTally) has its other
/// figures. A subscription that breaks off counts as one failed request of the window, even if it was requested in the
/// discarded head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Push {
    /// Messages per subscription; `None` means no limit.
    pub(crate) messages: Option<u64>,
    /// Time from one message to the next; zero if it is not known.
    pub(crate) period: Duration,
}

impl Push {
    /// Events, whose period is not known.
    pub(crate) const fn of_events(messages: Option<u64>) -> Self {
        Self { messages, period: Duration::ZERO }
    }

    /// Messages that a user still expects after this many; 0 without a limit.
    pub(crate) fn remaining_after(&self, taken: u64) -> u64 {
        self.messages.map_or(0, |messages| messages.saturating_sub(taken))
    }

    /// The time without a message since `since`, from which missing messages are counted; `None` with a limit.
    pub(crate) fn silence_since(&self, since: Nanos) -> Option<Silence> {
        (self.messages.is_none() && !self.period.is_zero()).then_some(Silence { since, period: self.period })
    }
}
