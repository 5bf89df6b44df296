//! What a server pushes: each message is booked on its own, and the last that is wanted ends its subscription.

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Token, Transport};

use super::core::Core;
use crate::conversation::Stamped;

impl<C: Clock> Core<C> {
    /// Books a pushed message. Nobody waits for those that were sent after the window.
    pub(super) fn on_pushed(&mut self, token: Token, at: Nanos, stamp: Option<Stamped>) {
        let sent = stamp.map(|stamp| (self.epoch.moment(stamp.unix_ns), stamp));
        // What comes while a batch is worked off is known by when the batch began, which may be before it was sent.
        let at = if sent.is_some_and(|(sent, _)| sent > at) { self.clock.now() } else { at };
        if sent.map_or(at, |(sent, _)| sent) >= self.window.until {
            return self.unsubscribe(token);
        }
        let connection = &mut self.connections[token.index()];
        let Some(pushed) = connection.push(at, sent, at + self.setup.timeout) else { return };
        connection.failures = 0;
        self.books.pushed(&pushed);
        if pushed.is_last {
            self.unsubscribe(token);
        }
    }

    fn unsubscribe(&mut self, token: Token) {
        if let Some(missing) = self.connections[token.index()].unsubscribe() {
            self.under_way -= 1;
            self.books.unsubscribed(missing);
        }
    }

    /// Ends a connection from this side, with a goodbye where the protocol has one.
    pub(super) fn hang_up(&mut self, io: &mut impl Transport, token: Token) {
        self.connections[token.index()].hang_up(io, token);
        io.close(token);
    }
}
