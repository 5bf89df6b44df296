//! What the loop does at each event and each tick: connections, demand, deadlines and books, all of one thread.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Token, Transport};

use super::demand::Demand;
use super::exchanges::Place;
use super::pace::Pace;
use super::watch::{Rest, Watch};
use super::window::Window;
use super::{Setup, WorkerSlice};
use crate::connection::{Connection, Returned, State};
use crate::recorder::{Recorder, Spent};
use crate::request::Draw;
use crate::sample::SliceSample;
use crate::stamps::Stamps;
use tare_sys::procfs::backlog::Backlog;

/// The longest sleep, so that a cancellation is noticed.
const MAX_SLEEP: Duration = Duration::from_millis(100);
/// How many connect timeouts preparation may take while connections are being opened.
const PREPARATION_TIMEOUTS: u32 = 12;

/// The state of one worker.
pub(super) struct Core<C> {
    pub(super) clock: C,
    pub(super) setup: Setup,
    pub(super) connections: Vec<Connection>,
    /// Where a request could leave at once, the longest free first.
    pub(super) free: VecDeque<Place>,
    /// Where users think, and until when.
    pub(super) thinking: BinaryHeap<Reverse<(Nanos, Token)>>,
    /// Connections that have something to send together.
    pub(super) unflushed: Vec<Token>,
    /// Requests under way that have come back unprocessed and wait for a place.
    pub(super) returned: VecDeque<Returned>,
    pub(super) in_use: usize,
    /// Exchanges under way on all connections.
    pub(super) under_way: usize,
    pub(super) connecting: usize,
    /// Preparation has seen to the connections before this one.
    prepared: usize,
    pub(super) pace: Pace,
    pub(super) draw: Draw,
    pub(super) demand: Demand,
    pub(super) books: Recorder,
    pub(super) window: Window,
    pub(super) stamps: Stamps,
    /// When the next ping leaves, and where.
    pub(super) ping_at: Option<(Nanos, Token)>,
    pub(super) watch: Watch,
    /// No deadline of a connection is earlier; found anew whenever it has passed.
    pub(super) next_expiry: Nanos,
    /// How often the books are handed over, and when next.
    every: Duration,
    next_part: Nanos,
}

impl<C: Clock> Core<C> {
    pub(super) fn new(clock: C, setup: Setup) -> Self {
        Self {
            clock,
            draw: setup.requests.draw(setup.share),
            pace: Pace::of(setup.share),
            setup,
            connections: Vec::new(),
            free: VecDeque::new(),
            thinking: BinaryHeap::new(),
            unflushed: Vec::new(),
            returned: VecDeque::new(),
            in_use: 0,
            under_way: 0,
            connecting: 0,
            prepared: 0,
            demand: Demand::none(),
            books: Recorder::idle(),
            window: Window::none(),
            stamps: Stamps::Unknown,
            ping_at: None,
            watch: Watch::new(),
            next_expiry: Nanos::MAX,
            every: Duration::MAX,
            next_part: Nanos::MAX,
        }
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// CPU time of this thread so far, and how much of it went into looking in vain.
    fn spent(&self) -> Spent {
        Spent { cpu_ns: self.clock.thread_cpu_ns(), spun_ns: self.watch.spun_ns() }
    }

    pub(super) fn begin_preparation(&mut self, in_use: usize) {
        self.in_use = in_use;
        self.prepared = 0;
        if self.connections.len() < in_use {
            let Setup { protocol, base, .. } = &self.setup;
            self.connections.resize_with(in_use, || Connection::new(*protocol, base));
        }
    }

    /// When to go on without what is still missing, unless some of it has been opened by then.
    pub(super) fn preparation_deadline(&self) -> Nanos {
        let is_missing = |connection: &&Connection| matches!(connection.state, State::Closed { .. });
        let missing = self.connections[..self.in_use].iter().filter(is_missing).count();
        self.now() + self.setup.connect_timeout + self.pace.span_of(missing)
    }

    /// How long preparation may take in all, however well it gets on.
    pub(super) fn longest_preparation(&self) -> Duration {
        self.setup.connect_timeout.saturating_mul(PREPARATION_TIMEOUTS) + self.pace.span_of(self.in_use)
    }

    /// How many of the connections in use are open.
    pub(super) fn open_connections(&self) -> usize {
        self.connections[..self.in_use].iter().filter(|connection| matches!(connection.state, State::Open)).count()
    }

    /// Opens the missing connections of one step, once the step before has been dealt with.
    pub(super) fn open_missing(&mut self, io: &mut impl Transport, now: Nanos, backlog: &mut Backlog) {
        if self.connecting > 0 || !self.pace.is_due(now) {
            return;
        }
        let is_missing = |connection: &Connection| matches!(connection.state, State::Closed { .. });
        let rest = &self.connections[self.prepared..self.in_use];
        if rest.iter().any(is_missing) && backlog().is_some_and(|waiting| waiting > 0) {
            return self.pace.hold(now);
        }
        self.pace.renew(now);
        while self.prepared < self.in_use {
            if is_missing(&self.connections[self.prepared]) {
                if !self.pace.take(now) {
                    return;
                }
                self.connections[self.prepared].failures = 0;
                self.open(io, Token(self.prepared as u32), now);
            }
            self.prepared += 1;
        }
    }

    /// Whether every connection has been opened or has failed.
    pub(super) const fn is_prepared(&self) -> bool {
        self.connecting == 0 && self.prepared == self.in_use
    }

    /// When preparation has to look again, if no event comes before.
    pub(super) fn next_step(&self, now: Nanos) -> Nanos {
        let rest = now + MAX_SLEEP;
        if self.connecting > 0 { rest } else { rest.min(self.pace.renew_at()) }
    }

    pub(super) fn begin_slice(&mut self, slice: &WorkerSlice) {
        self.window = Window::of(slice);
        self.stamps = slice.stamps;
        self.ping_at = None;
        self.watch.begin(slice.sending);
        self.books.open(slice.start, self.window.from, self.window.until);
        self.books.trace(slice.trace);
        self.demand = Demand::of(slice, self.setup.share);
        self.every = slice.every.unwrap_or(Duration::MAX);
        self.next_part = slice.every.map_or(Nanos::MAX, |every| slice.start + every);
        self.free.clear();
        self.thinking.clear();
        // A look at all connections on the first tick.
        self.next_expiry = slice.start;
        for connection in &mut self.connections[..self.in_use] {
            // What could not be opened beforehand is tried again, and now its failure counts.
            if let State::Closed { retry_at } = &mut connection.state {
                *retry_at = slice.start;
            }
        }
        // Round after round, so that no connection carries two requests while another carries none.
        for _ in 0..self.setup.protocol.depth() {
            for index in 0..self.in_use {
                if self.connections[index].state == State::Open {
                    self.seat(Token(index as u32), slice.start);
                }
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
        self.under_way == 0 && (!wants_more || self.demand.is_exhausted())
    }

    /// The present moment, at which the wait before is over.
    pub(super) fn wake(&mut self) -> Nanos {
        let now = self.now();
        self.watch.woke(now);
        now
    }

    /// How to wait from `now` on.
    pub(super) fn rest(&mut self, now: Nanos) -> Rest {
        let head = self.demand.head().filter(|_| !self.free.is_empty());
        let send_at = head.map(|head| self.demand.leaves_at(head));
        self.watch.rest(now, self.next_deadline(now), send_at, self.under_way > 0)
    }

    fn next_deadline(&self, now: Nanos) -> Nanos {
        let deadline = self.next_expiry.min(now + MAX_SLEEP).min(self.window.next_boundary()).min(self.next_part);
        let deadline = self.ping_at.map_or(deadline, |(due, _)| deadline.min(due));
        let deadline = self.thinking.peek().map_or(deadline, |Reverse((until, _))| deadline.min(*until));
        match self.demand.head() {
            Some(head) if self.free.is_empty() => deadline.min(head + self.setup.timeout),
            Some(head) => deadline.min(self.demand.leaves_at(head)),
            None => deadline,
        }
    }

    /// Does what time alone demands: boundaries of the window, deadlines, requests that have become due.
    pub(super) fn tick(&mut self, io: &mut impl Transport, now: Nanos, cancelled: bool) {
        if cancelled {
            self.cut_short(now);
        }
        self.cross(now);
        while let Some(intended) = self.demand.overdue(self.setup.timeout, now) {
            self.fail_waiting(intended, intended + self.setup.timeout, "no connection was free until the deadline");
        }
        if now >= self.next_expiry {
            self.expire(io, now);
        }
        self.wake_thinkers(now);
        self.ping_if_due(now);
        self.dispatch(io, None);
    }

    /// Reads the CPU time when a boundary of the window has been crossed.
    fn cross(&mut self, now: Nanos) {
        if self.window.is_crossed(now) {
            let spent = self.spent();
            self.window.cross(now, spent);
        }
    }

    /// What was booked since the last part, once it is time for the next.
    pub(super) fn part(&mut self, now: Nanos) -> Option<SliceSample> {
        if now < self.next_part {
            return None;
        }
        while self.next_part <= now {
            self.next_part = self.next_part + self.every;
        }
        Some(self.books.part(now, self.window.spent(|| self.spent())))
    }

    /// Ends the window now if it still lasts, and the drain soon; only the first call counts.
    fn cut_short(&mut self, now: Nanos) {
        if now < self.window.until {
            self.demand.end_at(now);
            self.books.end_at(now);
            self.books.cut_short();
        }
        self.window.cut_short(now);
    }

    /// Gives up what the drain has not brought to an end, and hands over the books.
    pub(super) fn end_slice(&mut self, io: &mut impl Transport) -> SliceSample {
        let now = self.now();
        if now < self.window.until {
            // A count was reached; the window ends with its last answer.
            self.window.end_at(now);
            self.books.end_at(now);
        }
        if self.window.is_cut_short {
            self.books.cut_off_the_rest();
        }
        while let Some(intended) = self.demand.head() {
            self.fail_waiting(intended, now, "still waiting for a connection when the drain ended");
        }
        self.abandon_returned(now);
        for index in 0..self.in_use {
            self.abandon(io, Token(index as u32), now);
        }
        self.demand = Demand::none();
        self.window.active = false;
        let books = std::mem::replace(&mut self.books, Recorder::idle());
        books.finish(self.window.spent(|| self.spent()))
    }
}
