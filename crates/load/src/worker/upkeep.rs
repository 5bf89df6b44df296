//! Keeps the connections: opens them, backs off from a server that refuses, acts on deadlines, gives up at the end.

use std::time::Duration;

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Token, Transport};

use super::core::Core;
use crate::connection::State;
use crate::problem::Problem;
use crate::recorder::Times;
use crate::sample::ErrorClass;

/// The first and the longest pause before a connection that keeps failing is opened again.
const FIRST_BACKOFF: Duration = Duration::from_millis(1);
const MAX_BACKOFF: Duration = Duration::from_millis(256);

impl<C: Clock> Core<C> {
    pub(super) fn open(&mut self, io: &mut impl Transport, token: Token, now: Nanos) {
        let deadline = now + self.setup.connect_timeout;
        self.connections[token.index()].state = State::Connecting { since: now, deadline, stage: ErrorClass::Connect };
        self.next_expiry = self.next_expiry.min(deadline);
        self.connecting += 1;
        io.connect(token, &self.setup.target, &self.setup.options);
    }

    /// Opens a connection again that has ended: at once after an answer, and ever more slowly without one.
    pub(super) fn reopen(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        let is_over = self.demand.is_exhausted() || (self.demand.is_closed_loop() && at >= self.window.until);
        let no_more = is_over && self.returned.is_empty();
        if no_more || !self.window.active || token.index() >= self.in_use {
            self.connections[token.index()].state = State::Closed { retry_at: Nanos::MAX };
            return;
        }
        let failures = self.connections[token.index()].failures;
        if failures == 0 {
            return self.open(io, token, at);
        }
        let pause = FIRST_BACKOFF.saturating_mul(1 << (failures - 1).min(16)).min(MAX_BACKOFF);
        let retry_at = at + pause;
        self.connections[token.index()].state = State::Closed { retry_at };
        self.next_expiry = self.next_expiry.min(retry_at);
    }

    pub(super) fn lost(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        self.books.lost();
        self.connections[token.index()].failures += 1;
        self.reopen(io, token, at);
    }

    /// Acts on every deadline that has passed. Looking at all connections is cheap because it happens about once per
    /// timeout: `next_expiry` is the earliest deadline of all, and a running load keeps pushing it forward.
    pub(super) fn expire(&mut self, io: &mut impl Transport, now: Nanos) {
        self.next_expiry = Nanos::MAX;
        self.pace.renew(now);
        self.expire_returned(now);
        for index in 0..self.in_use {
            let token = Token(index as u32);
            match self.connections[index].state {
                State::Open => self.expire_exchanges(io, token, now),
                State::Connecting { since, deadline, stage } if deadline <= now => {
                    self.connecting -= 1;
                    let problem = Problem::new(stage, "not connected until the deadline");
                    self.fail_connect(since, deadline, &problem);
                    self.hang_up(io, token);
                    self.connections[index].failures += 1;
                    self.reopen(io, token, now);
                }
                // All connections may have been lost at once.
                State::Closed { retry_at } if retry_at <= now => {
                    if self.pace.take(now) {
                        self.open(io, token, now);
                    } else {
                        self.wake_by(self.pace.renew_at());
                    }
                }
                State::Connecting { deadline: next, .. } | State::Closed { retry_at: next } => self.wake_by(next),
            }
        }
    }

    fn expire_exchanges(&mut self, io: &mut impl Transport, token: Token, now: Nanos) {
        let Some(first) = self.connections[token.index()].next_deadline() else { return };
        if first > now {
            return self.wake_by(first);
        }
        let problem = Problem::new(ErrorClass::Timeout, self.setup.protocol.silence());
        while let Some(exchange) = self.connections[token.index()].give_up_overdue(now) {
            self.fail(&exchange, exchange.deadline.min(now), &problem);
            if !self.connections[token.index()].is_retired() {
                self.offer(token, 1, now);
            }
        }
        if self.connections[token.index()].is_retired() {
            self.withdraw(token);
            self.hang_up(io, token);
            return self.lost(io, token, now);
        }
        self.flush_later(token);
        if let Some(next) = self.connections[token.index()].next_deadline() {
            self.wake_by(next);
        }
    }

    pub(super) fn wake_by(&mut self, moment: Nanos) {
        self.next_expiry = self.next_expiry.min(moment);
    }

    /// In the closed loop users are behind every attempt to connect, as many as the connection would have carried,
    /// whose requests have failed with it.
    pub(super) fn fail_connect(&mut self, since: Nanos, at: Nanos, problem: &Problem) {
        if !self.window.active {
            return;
        }
        if !self.demand.is_closed_loop() {
            self.books.connection_failed(at, problem);
            return;
        }
        for _ in 0..self.setup.protocol.depth() {
            let Some(intended) = self.demand.due(since, at) else { return };
            self.demand.take();
            let times = Times { intended, sent: None, blocked_until: None };
            self.books.given_up(&times, at, problem, self.setup.protocol.owed(since));
        }
    }

    pub(super) fn abandon(&mut self, io: &mut impl Transport, token: Token, now: Nanos) {
        match self.connections[token.index()].state {
            State::Open if self.connections[token.index()].under_way() > 0 => {
                let problem = Problem::new(ErrorClass::Timeout, "no complete answer when the drain ended");
                self.settle_all(token, now, &problem);
                self.books.lost();
            }
            State::Connecting { since, stage, .. } => {
                self.connecting -= 1;
                let problem = Problem::new(stage, "not connected when the drain ended");
                self.fail_connect(since, now, &problem);
            }
            State::Open | State::Closed { .. } => return,
        }
        self.hang_up(io, token);
        self.connections[token.index()].state = State::Closed { retry_at: Nanos::ZERO };
    }
}
