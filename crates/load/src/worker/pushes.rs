//! What a server pushes: each message is booked on its own, and the last that is wanted ends its subscription.

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Token, Transport};
use tare_wire::ws::Stamped;

use super::core::Core;
use crate::problem::Problem;
use crate::sample::ErrorClass;
use crate::stamps::Stamps;

impl<C: Clock> Core<C> {
    /// Books a pushed message, or ends its subscription if it was sent after the window: in good order where the slice was
    /// to last so long, and with a problem where so many messages were wanted.
    pub(super) fn on_pushed(&mut self, token: Token, at: Nanos, stamp: Option<Stamped>) -> Option<Problem> {
        let sent = match self.stamps {
            Stamps::Ours(epoch) | Stamps::Theirs(epoch) => stamp.map(|stamp| (epoch.moment(stamp.unix_ns), stamp)),
            Stamps::Unknown => None,
            Stamps::Sounded => {
                self.sound(token, stamp);
                None
            }
        };
        // What comes while a batch is worked off is known by when the batch began, which may be before it was sent.
        let at = if sent.is_some_and(|(sent, _)| sent > at) { self.clock.now() } else { at };
        if let (Stamps::Theirs(_), Some(stamp)) = (self.stamps, stamp) {
            self.books.sounded(stamp, at);
        }
        if sent.map_or(at, |(sent, _)| sent) >= self.window.until {
            if self.window.wants_all && self.connections[token.index()].under_way() > 0 {
                return Some(Problem::new(ErrorClass::Timeout, "not all messages within the time of the slice"));
            }
            self.unsubscribe(token, at);
            return None;
        }
        let connection = &mut self.connections[token.index()];
        let pushed = connection.push(at, sent, at + self.setup.timeout)?;
        connection.failures = 0;
        self.books.pushed(&pushed, self.stamps.tolerance_ns());
        if pushed.is_last {
            self.unsubscribe(token, at);
        }
        None
    }

    /// Takes a message for what it says of the server's clock. Half-way to the next, when both ends are as sound asleep as
    /// when one comes, a ping asks how far away the server is.
    fn sound(&mut self, token: Token, stamp: Option<Stamped>) {
        let now = self.clock.now();
        stamp.into_iter().for_each(|stamp| self.books.sounded(stamp, now));
        self.ping_at.get_or_insert((now + self.setup.protocol.period() / 2, token));
    }

    /// Sends a ping whose time has come.
    pub(super) fn ping_if_due(&mut self, now: Nanos) {
        if let Some((_, token)) = self.ping_at.take_if(|(due, _)| *due <= now) {
            self.connections[token.index()].ping(self.clock.now());
            self.flush_later(token);
        }
    }

    /// A ping has been answered that was sent at this moment.
    pub(super) fn on_ponged(&mut self, sent: Nanos, at: Nanos) {
        // As above: a batch may have begun before.
        let at = if sent > at { self.clock.now() } else { at };
        self.books.ponged(at.since(sent));
    }

    fn unsubscribe(&mut self, token: Token, at: Nanos) {
        if let Some(owed) = self.connections[token.index()].unsubscribe() {
            self.under_way -= 1;
            self.books.unsubscribed(at, &owed);
        }
    }

    /// Ends a connection from this side, with a goodbye where the protocol has one.
    pub(super) fn hang_up(&mut self, io: &mut impl Transport, token: Token) {
        self.connections[token.index()].hang_up(io, token);
        io.close(token);
    }
}
