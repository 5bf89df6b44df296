//! What each event means to the worker: an answer settles a request and makes room for the next, an end settles what
//! was under way and lets the connection be opened again.

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{CloseCause, Event, Handler, Token, Transport};

use super::core::Core;
use crate::connection::{State, Step};
use crate::problem::Problem;
use crate::recorder::Times;
use crate::sample::ErrorClass;

impl<C: Clock, T: Transport> Handler<T> for Core<C> {
    fn on_event(&mut self, io: &mut T, token: Token, event: Event<'_>) {
        match event {
            Event::Received { at, bytes } => self.on_received(io, token, at, bytes),
            Event::Connected { at } => self.on_connected(io, token, at),
            Event::Closed { at, cause } => self.on_closed(io, token, at, &cause),
            // The poller sees to what is still to be sent; a client listens to nobody.
            _ => {}
        }
    }
}

impl<C: Clock> Core<C> {
    /// The socket stands, but not yet what it carries; `class` is that of its failure.
    pub(super) fn on_stage(&mut self, token: Token, class: ErrorClass) {
        if let State::Connecting { stage, .. } = &mut self.connections[token.index()].state {
            *stage = class;
        }
    }

    fn on_connected(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        self.watch.heard(at);
        let State::Connecting { since, .. } = self.connections[token.index()].state else { return };
        match self.connections[token.index()].greet(&mut self.draw) {
            None => self.on_open(io, token, since, at),
            Some(Ok(greeting)) => {
                self.on_stage(token, ErrorClass::Upgrade);
                self.books.sent(at, greeting.len());
                io.send(token, &greeting);
            }
            Some(Err(problem)) => self.refuse(io, token, since, at, &problem),
        }
    }

    /// Hears the answer to a greeting; whether the connection is open.
    fn on_greeted(&mut self, io: &mut impl Transport, token: Token, at: Nanos, bytes: &mut &[u8]) -> bool {
        let State::Connecting { since, .. } = self.connections[token.index()].state else { return true };
        match self.connections[token.index()].hear(bytes) {
            Ok(stands) => {
                if stands {
                    self.on_open(io, token, since, at);
                }
                stands
            }
            Err(problem) => {
                self.refuse(io, token, since, at, &problem);
                false
            }
        }
    }

    /// Gives up a connection that stands and yet cannot be used.
    fn refuse(&mut self, io: &mut impl Transport, token: Token, since: Nanos, at: Nanos, problem: &Problem) {
        self.connecting -= 1;
        self.fail_connect(since, at, problem);
        self.hang_up(io, token);
        self.connections[token.index()].failures += 1;
        self.reopen(io, token, at);
    }

    fn on_open(&mut self, io: &mut impl Transport, token: Token, since: Nanos, at: Nanos) {
        self.connecting -= 1;
        self.books.opened();
        self.connections[token.index()].open();
        let wanted = self.wanted(at);
        self.offer(token, self.setup.protocol.depth(), since);
        self.flush_later(token);
        self.dispatch_in_slice(io, wanted);
    }

    fn on_received(&mut self, io: &mut impl Transport, token: Token, at: Nanos, mut bytes: &[u8]) {
        self.watch.heard(at);
        self.books.received(at, bytes.len());
        if !self.on_greeted(io, token, at, &mut bytes) {
            return;
        }
        let wanted = self.wanted(at);
        loop {
            match self.connections[token.index()].receive(&mut bytes, &self.setup.requests) {
                Step::More => break,
                Step::Settled { times, problem } => self.on_settled(token, &times, at, problem.as_ref()),
                Step::Returned(returned) => self.take_back(returned),
                Step::Pushed(stamp) => {
                    if let Some(problem) = self.on_pushed(token, at, stamp) {
                        return self.give_up(io, token, at, &problem);
                    }
                }
                Step::Pinged => self.books.pinged(at),
                Step::Ponged { sent } => self.on_ponged(sent, at),
                Step::Broken(problem) => return self.give_up(io, token, at, &problem),
            }
        }
        self.flush_later(token);
        self.close_if_done(io, token, at);
        self.dispatch_in_slice(io, wanted);
    }

    fn on_settled(&mut self, token: Token, times: &Times, at: Nanos, problem: Option<&Problem>) {
        self.settle(times, at, problem);
        let connection = &mut self.connections[token.index()];
        connection.failures = 0;
        if !connection.is_retired() {
            self.offer(token, 1, at);
        }
    }

    /// Opens a connection anew of which its server wants no more, once nothing is under way on it.
    fn close_if_done(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        let connection = &self.connections[token.index()];
        if !connection.is_retired() {
            return;
        }
        self.withdraw(token);
        if self.connections[token.index()].under_way() == 0 {
            self.hang_up(io, token);
            if self.connections[token.index()].is_broken() {
                self.lost(io, token, at);
            } else {
                self.reopen(io, token, at);
            }
        }
    }

    fn on_closed(&mut self, io: &mut impl Transport, token: Token, at: Nanos, cause: &CloseCause) {
        self.watch.heard(at);
        match self.connections[token.index()].state {
            State::Connecting { since, stage, .. } => {
                self.connecting -= 1;
                self.fail_connect(since, at, &Problem::of_failed_connect(stage, cause));
                self.connections[token.index()].failures += 1;
                self.reopen(io, token, at);
            }
            State::Open => self.on_open_closed(io, token, at, cause),
            State::Closed { .. } => {}
        }
    }

    fn on_open_closed(&mut self, io: &mut impl Transport, token: Token, at: Nanos, cause: &CloseCause) {
        self.withdraw(token);
        if self.connections[token.index()].under_way() == 0 {
            return self.lost(io, token, at);
        }
        let ended = self.connections[token.index()].end(cause, &self.setup.requests);
        let is_answer = ended.settled.is_some();
        if let Some((times, problem)) = ended.settled {
            self.settle(&times, at, problem.as_ref());
            self.connections[token.index()].failures = 0;
        }
        if is_answer && self.connections[token.index()].under_way() == 0 {
            return self.reopen(io, token, at);
        }
        self.settle_all(token, at, &ended.problem);
        self.lost(io, token, at);
    }

    /// Ends a connection that can be used no further.
    fn give_up(&mut self, io: &mut impl Transport, token: Token, at: Nanos, problem: &Problem) {
        self.withdraw(token);
        if self.connections[token.index()].under_way() == 0 {
            self.books.connection_failed(at, problem);
        }
        self.settle_all(token, at, problem);
        self.hang_up(io, token);
        self.lost(io, token, at);
    }

    fn dispatch_in_slice(&mut self, io: &mut impl Transport, freed: Option<Nanos>) {
        if self.window.active { self.dispatch(io, freed) } else { self.flush(io) }
    }
}
