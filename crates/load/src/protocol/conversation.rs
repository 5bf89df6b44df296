//! Exchanges that the client starts on a WebSocket, and messages that the server pushes: on a WebSocket, or as a stream of
//! events.

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::recorder::missing_messages::Silence;

/// Which side of a WebSocket sends messages, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// The client sends a message, and the next message from the server is the response (echo, request and response).
    /// Closed loop, open loop, response times and service times work as for HTTP. The message is the body of a
    /// [`RequestSpec`](crate::RequestSpec). Its checks apply to the response ([`Check::body_is`](crate::Check::body_is)
    /// for an echo), but checks of status and headers cannot hold. The session's timeout applies.
    Exchanges,
    /// The server sends messages on its own clock, and the client subscribes to them.
    Push(Push),
}

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
pub struct Push {
    /// Messages per subscription; `u64::MAX` means no limit.
    pub messages_per_user: u64,
    /// Time from one message to the next; zero if it is not known.
    pub period: Duration,
}

impl Push {
    /// Messages that a user still expects after this many; 0 without a limit.
    pub(crate) const fn remaining_after(&self, taken: u64) -> u64 {
        if self.is_endless() { 0 } else { self.messages_per_user.saturating_sub(taken) }
    }

    /// The time without a message since `since`, from which missing messages are counted; `None` with a limit.
    pub(crate) fn silence_since(&self, since: Nanos) -> Option<Silence> {
        (self.is_endless() && !self.period.is_zero()).then_some(Silence { since, period: self.period })
    }

    const fn is_endless(&self) -> bool {
        self.messages_per_user == u64::MAX
    }
}
