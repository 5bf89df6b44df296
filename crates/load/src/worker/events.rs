//! What each event means to the worker: an answer settles a request and makes its connection free, an end settles what
//! was under way and lets the connection be opened again.

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{CloseCause, Event, Handler, Token, Transport};

use super::core::Core;
use crate::answer::Problem;
use crate::connection::{State, Step};

impl<C: Clock, T: Transport> Handler<T> for Core<C> {
    fn on_event(&mut self, io: &mut T, token: Token, event: Event<'_>) {
        match event {
            Event::Received { at, bytes } => self.on_received(io, token, at, bytes),
            Event::Connected { at } => {
                if let State::Connecting { since, .. } = self.connections[token.index()].state {
                    self.connecting -= 1;
                    self.books.opened();
                    self.set_free(io, token, at, since);
                }
            }
            Event::Closed { at, cause } => self.on_closed(io, token, at, &cause),
            // The poller sees to what is still to be sent; a client listens to nobody.
            _ => {}
        }
    }
}

impl<C: Clock> Core<C> {
    fn on_received(&mut self, io: &mut impl Transport, token: Token, at: Nanos, bytes: &[u8]) {
        self.books.received(at, bytes.len());
        match self.connections[token.index()].receive(bytes, &self.setup.requests) {
            Step::More => {}
            Step::Answered { problem, reusable } => {
                self.settle(token, at, problem.as_ref());
                self.connections[token.index()].failures = 0;
                if reusable {
                    self.set_free(io, token, at, at);
                } else {
                    io.close(token);
                    self.reopen(io, token, at);
                }
            }
            Step::Broken(problem) => {
                self.break_off(token, at, &problem);
                io.close(token);
                self.lost(io, token, at);
            }
        }
    }

    fn on_closed(&mut self, io: &mut impl Transport, token: Token, at: Nanos, cause: &CloseCause) {
        match self.connections[token.index()].state {
            State::Connecting { since, .. } => {
                self.connecting -= 1;
                if let Step::Broken(problem) = self.connections[token.index()].end(cause, &self.setup.requests) {
                    self.fail_connect(since, at, &problem);
                }
                self.connections[token.index()].failures += 1;
                self.reopen(io, token, at);
            }
            State::Busy { .. } => match self.connections[token.index()].end(cause, &self.setup.requests) {
                Step::Answered { problem, .. } => {
                    self.settle(token, at, problem.as_ref());
                    self.connections[token.index()].failures = 0;
                    self.reopen(io, token, at);
                }
                Step::Broken(problem) => {
                    self.settle(token, at, Some(&problem));
                    self.lost(io, token, at);
                }
                Step::More => {}
            },
            State::Idle => {
                self.free.retain(|free| *free != token);
                self.lost(io, token, at);
            }
            State::Closed { .. } => {}
        }
    }

    fn break_off(&mut self, token: Token, at: Nanos, problem: &Problem) {
        if let State::Busy { .. } = self.connections[token.index()].state {
            self.settle(token, at, Some(problem));
        } else {
            self.free.retain(|free| *free != token);
            self.books.connection_failed(at, problem);
        }
    }
}
