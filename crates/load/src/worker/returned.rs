//! Requests that a server has sent back unprocessed when it went away: they are asked again where there is a place, and no
//! clock starts anew for them.

use std::collections::VecDeque;

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::Token;

use super::core::Core;
use crate::connection::Returned;
use crate::problem::Problem;
use crate::sample::ErrorClass;

impl<C: Clock> Core<C> {
    /// Keeps a request that has come back until a connection has a place for it.
    pub(super) fn take_back(&mut self, returned: Returned) {
        self.wake_by(returned.exchange.deadline);
        self.returned.push_back(returned);
    }

    pub(super) fn send_again(&mut self, token: Token, returned: Returned, now: Nanos) {
        self.wake_by(returned.exchange.deadline);
        self.watch.sent(now);
        let begun = self.connections[token.index()].begin_again(returned);
        self.note(token, &begun, now);
    }

    /// Fails what no connection had a place for in time.
    pub(super) fn expire_returned(&mut self, now: Nanos) {
        let all = std::mem::take(&mut self.returned).into_iter();
        let (overdue, waiting): (VecDeque<Returned>, _) = all.partition(|returned| returned.exchange.deadline <= now);
        self.returned = waiting;
        for returned in overdue {
            self.fail_returned(
                &returned,
                returned.exchange.deadline,
                "sent back unprocessed, and not answered elsewhere",
            );
        }
        if let Some(next) = self.returned.iter().map(|returned| returned.exchange.deadline).min() {
            self.wake_by(next);
        }
    }

    /// Gives up what the drain has not brought to an end.
    pub(super) fn abandon_returned(&mut self, now: Nanos) {
        while let Some(returned) = self.returned.pop_front() {
            self.fail_returned(&returned, now, "no complete answer when the drain ended");
        }
    }

    fn fail_returned(&mut self, returned: &Returned, at: Nanos, text: &str) {
        self.settle(&returned.exchange.times, at, Some(&Problem::new(ErrorClass::Timeout, text)));
    }
}
