//! What the loop does at each event and each tick: connections, demand, deadlines and books, all of one thread.

use std::collections::VecDeque;
use std::time::Duration;

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{CloseCause, Event, Handler, Token, Transport};

use super::demand::Demand;
use super::{Setup, WorkerSlice};
use crate::answer::Problem;
use crate::connection::{Connection, State, Step};
use crate::recorder::{Recorder, Times};
use crate::sample::{ErrorClass, SliceSample};

/// The longest sleep, so that a cancellation is noticed.
const MAX_SLEEP: Duration = Duration::from_millis(100);
/// The first and the longest pause before a connection that keeps failing is opened again.
const FIRST_BACKOFF: Duration = Duration::from_millis(1);
const MAX_BACKOFF: Duration = Duration::from_millis(256);

/// The state of one worker.
pub(super) struct Core<C> {
    clock: C,
    pub(super) setup: Setup,
    connections: Vec<Connection>,
    /// Connections that could carry a request, the longest free first.
    free: VecDeque<Token>,
    in_use: usize,
    busy: usize,
    connecting: usize,
    next_request: usize,
    demand: Demand,
    books: Recorder,
    window: Window,
    /// No deadline of a connection is earlier; found anew whenever it has passed.
    next_expiry: Nanos,
}

/// The boundaries of a slice, and the CPU time at those that were crossed.
struct Window {
    active: bool,
    from: Nanos,
    until: Nanos,
    drain_until: Nanos,
    drain_timeout: Duration,
    cpu_at_from: Option<u64>,
    cpu_at_until: Option<u64>,
}

impl Window {
    const fn none() -> Self {
        Self {
            active: false,
            from: Nanos::ZERO,
            until: Nanos::ZERO,
            drain_until: Nanos::ZERO,
            drain_timeout: Duration::ZERO,
            cpu_at_from: None,
            cpu_at_until: None,
        }
    }

    fn end_at(&mut self, until: Nanos) {
        self.until = until;
        self.drain_until = until + self.drain_timeout;
    }
}

impl<C: Clock> Core<C> {
    pub(super) fn new(clock: C, setup: Setup) -> Self {
        Self {
            clock,
            // Workers begin at different requests of the set, so that they do not all send the same one at once.
            next_request: setup.share.worker % setup.requests.len().max(1),
            setup,
            connections: Vec::new(),
            free: VecDeque::new(),
            in_use: 0,
            busy: 0,
            connecting: 0,
            demand: Demand::none(),
            books: Recorder::new(Nanos::ZERO, Nanos::ZERO, Nanos::ZERO),
            window: Window::none(),
            next_expiry: Nanos::MAX,
        }
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    pub(super) const fn is_connecting(&self) -> bool {
        self.connecting > 0
    }

    pub(super) fn begin_preparation(&mut self, in_use: usize) {
        self.in_use = in_use;
        if self.connections.len() < in_use {
            self.connections.resize_with(in_use, Connection::new);
        }
    }

    pub(super) fn open_missing(&mut self, io: &mut impl Transport) {
        let now = self.now();
        for index in 0..self.in_use {
            if let State::Closed { .. } = self.connections[index].state {
                self.connections[index].failures = 0;
                self.open(io, Token(index as u32), now);
            }
        }
    }

    pub(super) fn begin_slice(&mut self, slice: &WorkerSlice) {
        let from = slice.start + slice.discard_head;
        let mut window = Window { active: true, from, drain_timeout: slice.drain_timeout, ..Window::none() };
        window.end_at(slice.start + slice.stop.at_most());
        self.books = Recorder::new(slice.start, from, window.until);
        self.window = window;
        self.demand = Demand::of(slice, self.setup.share);
        self.free.clear();
        // A look at all connections on the first tick.
        self.next_expiry = slice.start;
        for (index, connection) in self.connections[..self.in_use].iter_mut().enumerate() {
            connection.free_since = slice.start;
            if connection.state == State::Idle {
                self.free.push_back(Token(index as u32));
            }
        }
    }

    /// Whether everything that was wanted has been done, or the drain has lasted long enough.
    pub(super) fn is_finished(&self, now: Nanos) -> bool {
        if now >= self.window.drain_until {
            return true;
        }
        let wants_more = if self.demand.is_closed_loop() {
            // A user whose connection is being opened has a request in mind since before the end.
            self.connecting > 0 || now < self.window.until
        } else {
            self.demand.head().is_some() || now < self.window.until
        };
        self.busy == 0 && (!wants_more || self.demand.is_exhausted())
    }

    pub(super) fn next_deadline(&self, now: Nanos) -> Nanos {
        let mut deadline = self.next_expiry.min(now + MAX_SLEEP).min(self.window.drain_until);
        if self.window.cpu_at_from.is_none() {
            deadline = deadline.min(self.window.from);
        }
        if self.window.cpu_at_until.is_none() {
            deadline = deadline.min(self.window.until);
        }
        match self.demand.head() {
            Some(head) if self.free.is_empty() => deadline.min(head + self.setup.timeout),
            Some(head) => deadline.min(head),
            None => deadline,
        }
    }

    /// Does what time alone demands: boundaries of the window, deadlines, requests that have become due.
    pub(super) fn tick(&mut self, io: &mut impl Transport, now: Nanos, cancelled: bool) {
        if cancelled && now < self.window.until {
            self.window.end_at(now);
            self.demand.end_at(now);
            self.books.end_at(now, true);
        }
        if self.window.cpu_at_from.is_none() && now >= self.window.from.min(self.window.until) {
            self.window.cpu_at_from = Some(self.clock.thread_cpu_ns());
        }
        if self.window.cpu_at_until.is_none() && now >= self.window.until {
            self.window.cpu_at_until = Some(self.clock.thread_cpu_ns());
        }
        while let Some(intended) = self.demand.overdue(self.setup.timeout, now) {
            self.fail_waiting(intended, intended + self.setup.timeout, "no connection was free until the deadline");
        }
        if now >= self.next_expiry {
            self.expire(io, now);
        }
        self.dispatch(io, None);
    }

    /// Gives up what the drain has not brought to an end, and hands over the books.
    pub(super) fn end_slice(&mut self, io: &mut impl Transport) -> SliceSample {
        let now = self.now();
        if now < self.window.until {
            // A count was reached; the window ends with its last answer.
            self.window.end_at(now);
            self.books.end_at(now, false);
        }
        while let Some(intended) = self.demand.head() {
            self.fail_waiting(intended, now, "still waiting for a connection when the drain ended");
        }
        for index in 0..self.in_use {
            self.abandon(io, Token(index as u32), now);
        }
        self.demand = Demand::none();
        self.window.active = false;
        let cpu_now = self.clock.thread_cpu_ns();
        let cpu_until = self.window.cpu_at_until.unwrap_or(cpu_now);
        let cpu_from = self.window.cpu_at_from.unwrap_or(cpu_until);
        let books = std::mem::replace(&mut self.books, Recorder::new(Nanos::ZERO, Nanos::ZERO, Nanos::ZERO));
        books.finish(cpu_until.saturating_sub(cpu_from))
    }

    fn abandon(&mut self, io: &mut impl Transport, token: Token, now: Nanos) {
        match self.connections[token.index()].state {
            State::Busy { .. } => {
                let problem = Problem::new(ErrorClass::Timeout, "no complete answer when the drain ended");
                self.settle(token, now, Some(&problem));
                self.books.lost();
            }
            State::Connecting { since, .. } => {
                self.connecting -= 1;
                let problem = Problem::new(ErrorClass::Connect, "not connected when the drain ended");
                self.fail_connect(since, now, &problem);
            }
            State::Idle | State::Closed { .. } => return,
        }
        io.close(token);
        self.connections[token.index()].state = State::Closed { retry_at: Nanos::ZERO };
    }

    /// Sends requests that are due on connections that are free. `freed` says when an event has made a connection
    /// free: a request that was due by then has been waiting for it.
    fn dispatch(&mut self, io: &mut impl Transport, mut freed: Option<Nanos>) {
        while let Some(&token) = self.free.front() {
            let now = self.clock.now();
            let free_since = self.connections[token.index()].free_since;
            let Some(intended) = self.demand.due(free_since, now) else { return };
            self.free.pop_front();
            self.demand.take();
            let blocked_until = freed.take().filter(|freed| intended < *freed);
            self.send(io, token, Times { intended, sent: Some(now), blocked_until });
        }
    }

    fn send(&mut self, io: &mut impl Transport, token: Token, times: Times) {
        let request = self.next_request;
        self.next_request = if request + 1 == self.setup.requests.len() { 0 } else { request + 1 };
        let prepared = self.setup.requests.get(request);
        let deadline = times.intended + self.setup.timeout;
        self.next_expiry = self.next_expiry.min(deadline);
        self.connections[token.index()].begin(request, prepared.is_head, times, deadline);
        self.busy += 1;
        if let Some(sent) = times.sent {
            self.books.sent(sent, prepared.bytes.len());
        }
        io.send(token, &prepared.bytes);
    }

    /// Books the fate of the request that a connection carried.
    fn settle(&mut self, token: Token, at: Nanos, problem: Option<&Problem>) {
        self.busy -= 1;
        let times = &self.connections[token.index()].times;
        match problem {
            None => self.books.answered(times, at),
            Some(problem) => self.books.failed(times, at, problem),
        }
    }

    fn fail_waiting(&mut self, intended: Nanos, at: Nanos, text: &str) {
        self.demand.take();
        let times = Times { intended, sent: None, blocked_until: Some(at) };
        self.books.failed(&times, at, &Problem::new(ErrorClass::Timeout, text));
    }

    /// In the closed loop a user is behind every attempt to connect, whose request has failed with it.
    fn fail_connect(&mut self, since: Nanos, at: Nanos, problem: &Problem) {
        if !self.window.active {
            return;
        }
        if !self.demand.is_closed_loop() {
            self.books.connection_failed(at, problem);
        } else if let Some(intended) = self.demand.due(since, at) {
            self.demand.take();
            self.books.failed(&Times { intended, sent: None, blocked_until: None }, at, problem);
        }
    }

    fn set_free(&mut self, io: &mut impl Transport, token: Token, at: Nanos, free_since: Nanos) {
        let connection = &mut self.connections[token.index()];
        connection.state = State::Idle;
        connection.free_since = free_since;
        if self.window.active && token.index() < self.in_use {
            let was_wanted = self.free.is_empty() && !self.demand.is_closed_loop();
            self.free.push_back(token);
            self.dispatch(io, was_wanted.then_some(at));
        }
    }

    fn open(&mut self, io: &mut impl Transport, token: Token, now: Nanos) {
        let deadline = now + self.setup.connect_timeout;
        self.connections[token.index()].state = State::Connecting { since: now, deadline };
        self.next_expiry = self.next_expiry.min(deadline);
        self.connecting += 1;
        io.connect(token, &self.setup.target, &self.setup.options);
    }

    /// Opens a connection again that has ended: at once after an answer, and ever more slowly without one.
    fn reopen(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        let no_more = self.demand.is_closed_loop() && at >= self.window.until;
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

    fn lost(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        self.books.lost();
        self.connections[token.index()].failures += 1;
        self.reopen(io, token, at);
    }

    /// Acts on every deadline that has passed. Looking at all connections is cheap because it happens about once per
    /// timeout: `next_expiry` is the earliest deadline of all, and a running load keeps pushing it forward.
    fn expire(&mut self, io: &mut impl Transport, now: Nanos) {
        self.next_expiry = Nanos::MAX;
        for index in 0..self.in_use {
            let token = Token(index as u32);
            match self.connections[index].state {
                State::Busy { deadline } if deadline <= now => {
                    let problem = Problem::new(ErrorClass::Timeout, "no complete answer until the deadline");
                    self.settle(token, deadline, Some(&problem));
                    io.close(token);
                    self.lost(io, token, now);
                }
                State::Connecting { since, deadline } if deadline <= now => {
                    self.connecting -= 1;
                    let problem = Problem::new(ErrorClass::Connect, "not connected until the deadline");
                    self.fail_connect(since, deadline, &problem);
                    io.close(token);
                    self.connections[index].failures += 1;
                    self.reopen(io, token, now);
                }
                State::Closed { retry_at } if retry_at <= now => self.open(io, token, now),
                State::Busy { deadline: next } | State::Connecting { deadline: next, .. } => self.wake_by(next),
                State::Closed { retry_at } => self.wake_by(retry_at),
                State::Idle => {}
            }
        }
    }

    fn wake_by(&mut self, moment: Nanos) {
        self.next_expiry = self.next_expiry.min(moment);
    }

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
