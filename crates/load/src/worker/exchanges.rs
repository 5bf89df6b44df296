//! What leaves and what is settled: requests that are due find a place on a connection, and their fate is booked.

use std::cmp::Reverse;

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Token, Transport};

use super::core::Core;
use crate::connection::{Begun, Exchange};
use crate::problem::Problem;
use crate::recorder::Times;
use crate::sample::ErrorClass;

/// Room for one request on an open connection; a connection has as many as its protocol is deep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) token: Token,
    /// Since when it is free; in the closed loop, the next request's intended start.
    pub(super) since: Nanos,
}

impl<C: Clock> Core<C> {
    /// Sends requests that are due where there is room. `freed` says when an event has made room that nobody had: a
    /// request that was due by then has been waiting for it.
    pub(super) fn dispatch(&mut self, io: &mut impl Transport, freed: Option<Nanos>) {
        while let Some(&Place { token, since }) = self.free.front() {
            let now = self.clock.now();
            if let Some(returned) = self.returned.pop_front() {
                self.free.pop_front();
                self.send_again(token, returned, now);
                continue;
            }
            let Some(intended) = self.demand.due(since, now) else { break };
            let Some(request) = self.draw.next() else {
                // A feed that is used up ends the load.
                self.demand.end();
                break;
            };
            self.free.pop_front();
            self.demand.take();
            let blocked_until = freed.filter(|freed| self.demand.leaves_at(intended) < *freed);
            self.send(io, token, request, now, Times { intended, sent: Some(now), blocked_until });
        }
        self.flush(io);
    }

    fn send(&mut self, io: &mut impl Transport, token: Token, request: usize, now: Nanos, times: Times) {
        let deadline = times.intended + self.setup.timeout;
        self.next_expiry = self.next_expiry.min(deadline);
        self.under_way += 1;
        self.watch.sent(now);
        let exchange = Exchange::new(request, times, deadline);
        let begun = self.connections[token.index()].begin(io, token, exchange, &mut self.draw);
        self.note(token, &begun, now);
    }

    /// Sees to what has become of a request that was handed to a connection.
    pub(super) fn note(&mut self, token: Token, begun: &Begun, now: Nanos) {
        match *begun {
            Begun::Sent { bytes } => self.books.sent(now, bytes),
            Begun::ToBeFlushed => self.unflushed.push(token),
            Begun::Gathered => {}
        }
    }

    /// Asks for a flush for what a protocol may have to say after an event.
    pub(super) fn flush_later(&mut self, token: Token) {
        if self.connections[token.index()].wants_flush() {
            self.unflushed.push(token);
        }
    }

    /// Sends what connections have gathered.
    pub(super) fn flush(&mut self, io: &mut impl Transport) {
        while let Some(token) = self.unflushed.pop() {
            let bytes = self.connections[token.index()].flush(io, token);
            self.books.sent(self.clock.now(), bytes);
        }
    }

    /// Books the fate of a request that was under way.
    pub(super) fn settle(&mut self, times: &Times, at: Nanos, problem: Option<&Problem>) {
        self.under_way -= 1;
        match problem {
            None => self.books.answered(times, at, self.watch.stamped_late_ns(at)),
            Some(problem) => self.books.failed(times, at, problem),
        }
    }

    /// Books that an exchange was given up.
    pub(super) fn fail(&mut self, exchange: &Exchange, at: Nanos, problem: &Problem) {
        self.under_way -= 1;
        self.books.given_up(&exchange.times, at, problem, exchange.owed);
    }

    /// Books the same fate for everything that is under way on a connection.
    pub(super) fn settle_all(&mut self, token: Token, at: Nanos, problem: &Problem) {
        while let Some(exchange) = self.connections[token.index()].give_up_any() {
            self.fail(&exchange, at, problem);
        }
    }

    pub(super) fn fail_waiting(&mut self, intended: Nanos, at: Nanos, text: &str) {
        self.demand.take();
        let times = Times { intended, sent: None, blocked_until: Some(at) };
        self.books.failed(&times, at, &Problem::new(ErrorClass::Timeout, text));
    }

    /// When `at` makes room that an open schedule may have been waiting for.
    pub(super) fn wanted(&self, at: Nanos) -> Option<Nanos> {
        (self.free.is_empty() && !self.demand.is_closed_loop()).then_some(at)
    }

    /// Room for so many requests has become free on a connection; a user thinks before the next.
    pub(super) fn offer(&mut self, token: Token, places: usize, since: Nanos) {
        if !self.window.active || token.index() >= self.in_use {
            return;
        }
        for _ in 0..places {
            let pause = if self.demand.is_closed_loop() { self.draw.pause() } else { None };
            match pause {
                None => self.seat(token, since),
                Some(pause) => self.thinking.push(Reverse((since + pause, token))),
            }
        }
    }

    /// Lets a user have its next request as soon as it takes part.
    pub(super) fn seat(&mut self, token: Token, since: Nanos) {
        match self.demand.joins(token.index(), since) {
            Some(joins) if joins > since => self.thinking.push(Reverse((joins, token))),
            Some(_) => self.free.push_back(Place { token, since }),
            None => {}
        }
    }

    /// Users who have thought long enough want their next request.
    pub(super) fn wake_thinkers(&mut self, now: Nanos) {
        while let Some(&Reverse((since, token))) = self.thinking.peek().filter(|Reverse((since, _))| *since <= now) {
            self.thinking.pop();
            self.seat(token, since);
        }
    }

    /// A connection has room no longer.
    pub(super) fn withdraw(&mut self, token: Token) {
        if self.connections[token.index()].under_way() < self.setup.protocol.depth() {
            self.free.retain(|place| place.token != token);
            self.thinking.retain(|Reverse((_, thinking))| *thinking != token);
        }
    }
}
