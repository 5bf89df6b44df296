//! What a server pushes: each message is booked on its own, and the last that is wanted ends its subscription.

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Token, Transport};
use tare_wire::ws::Stamped;

use super::core::Core;
use crate::answer::Problem;
use crate::sample::ErrorClass;

impl<C: Clock> Core<C> {
    /// Books a pushed message, or ends its subscription if it was sent after the window: in good order where the slice was
    /// to last so long, and with a problem where so many messages were wanted.
    pub(super) fn on_pushed(&mut self, token: Token, at: Nanos, stamp: Option<Stamped>) -> Option<Problem> {
        let sent = stamp.map(|stamp| (self.epoch.moment(stamp.unix_ns), stamp));
        // What comes while a batch is worked off is known by when the batch began, which may be before it was sent.
        let at = if sent.is_some_and(|(sent, _)| sent > at) { self.clock.now() } else { at };
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
        self.books.pushed(&pushed);
        if pushed.is_last {
            self.unsubscribe(token, at);
        }
        None
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
