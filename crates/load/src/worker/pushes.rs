//! When pushed messages were sent, and when the next ping leaves. Pings measure the round trip to the server.

use std::time::Duration;

use tare_sys::clock::Nanos;
use tare_sys::poll::Token;
use tare_wire::ws::Stamped;

use crate::recorder::stamps::Stamps;

/// How one worker reads the stamps of pushed messages, and its next ping.
pub(super) struct Pushes {
    /// Time between two messages of a subscription.
    period: Duration,
    stamps: Stamps,
    /// When the next ping leaves, and on which connection.
    ping: Option<(Nanos, Token)>,
}

impl Pushes {
    pub(super) const fn new(period: Duration) -> Self {
        Self { period, stamps: Stamps::Unknown, ping: None }
    }

    pub(super) const fn begin_slice(&mut self, stamps: Stamps) {
        self.stamps = stamps;
        self.ping = None;
    }

    /// How the stamps of this slice are read.
    pub(super) const fn stamps(&self) -> Stamps {
        self.stamps
    }

    /// The moment at which a message with this stamp was sent, and the stamp; `None` if that is unknown.
    pub(super) fn sent_at(&self, stamp: Option<Stamped>) -> Option<(Nanos, Stamped)> {
        match self.stamps {
            Stamps::Ours(epoch) | Stamps::Theirs(epoch) => {
                stamp.map(|stamp| (epoch.monotonic_from_unix(stamp.unix_ns), stamp))
            }
            Stamps::Unknown | Stamps::Probing => None,
        }
    }

    /// A message arrived. Half a period later a ping leaves, unless one is planned. Both ends are then as idle as
    /// before a message.
    pub(super) fn plan_ping(&mut self, token: Token, now: Nanos) {
        self.ping.get_or_insert((now + self.period / 2, token));
    }

    pub(super) fn next_ping(&self) -> Option<Nanos> {
        self.ping.map(|(at, _)| at)
    }

    pub(super) fn take_due_ping(&mut self, now: Nanos) -> Option<Token> {
        self.ping.take_if(|(at, _)| *at <= now).map(|(_, token)| token)
    }
}
