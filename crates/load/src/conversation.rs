//! What is said on a WebSocket, and by whom: exchanges that the client begins, or messages that the server pushes.

use std::time::Duration;

use tare_sys::clock::Nanos;
use tare_wire::ws::Stamped;

use crate::messages::Silence;

/// How the two ends of a WebSocket talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// The client sends a message, and the next one that comes is its answer: echo, request and response. Closed and open
    /// loop, response and service times are those of HTTP. The body of a [`RequestSpec`](crate::RequestSpec) is the
    /// message, its checks are of the answer ([`Check::body_is`](crate::Check::body_is) for an echo; headers and status
    /// are those of no message), and the timeout of the session is the time to wait for it.
    Exchanges,
    /// The server sends messages on its own clock, and the client subscribes to them.
    Push(Push),
}

/// Messages that a server pushes.
///
/// A user of the closed loop subscribes by opening a WebSocket, and hangs up after its messages; a
/// [`StopRule::Count`](crate::StopRule::Count) counts subscriptions, and a
/// [`StopRule::Duration`](crate::StopRule::Duration) ends them all with the first message that was sent after it.
///
/// Each message is booked as an answered request whose intended start is when the server sent it: its response time is the
/// *push latency*. It has no service time. What else is known of it is in [`MessageTally`](crate::MessageTally). A subscription
/// that breaks off is one failed request, of the window also if it was asked for in the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Push {
    /// Messages of a subscription; `u64::MAX` for as many as come.
    pub messages_per_user: u64,
    /// From one message to the next.
    pub period: Duration,
    /// Where a message says when it was sent.
    pub stamp: Stamp,
}

impl Push {
    /// How many messages one wants who has taken so many, where a number of them is wanted.
    pub(crate) const fn rest(&self, taken: u64) -> u64 {
        if self.is_endless() { 0 } else { self.messages_per_user.saturating_sub(taken) }
    }

    /// What says how many messages are missing since the last, where as many are wanted as come.
    pub(crate) fn silence(&self, since: Nanos) -> Option<Silence> {
        self.is_endless().then_some(Silence { since, period: self.period })
    }

    const fn is_endless(&self) -> bool {
        self.messages_per_user == u64::MAX
    }
}

/// Where a message says when it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamp {
    /// In a number of 13, 16 or 19 digits: milli-, micro- or nanoseconds since 1970. The finest counts if there are
    /// several.
    #[default]
    Unix,
    /// Nowhere: there is jitter and no latency.
    None,
}

impl Stamp {
    /// The stamp of a message, if it has one.
    pub(crate) fn of(self, message: &[u8]) -> Option<Stamped> {
        match self {
            Self::Unix => Stamped::of(message),
            Self::None => None,
        }
    }
}
