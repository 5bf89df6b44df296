//! The connections of one worker: what each does, when its deadline is, and how it is opened again.

use std::rc::Rc;
use std::time::Duration;

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::poll::{Token, Transport};
use tare_sys::procfs::backlog::Backlog;

use super::Setup;
use super::pace::Pace;
use crate::protocol::Protocol;
use crate::protocol::connection::Connection;

/// First and longest back-off before a connection that keeps failing is opened again.
const FIRST_BACKOFF: Duration = Duration::from_millis(1);
const MAX_BACKOFF: Duration = Duration::from_millis(256);
/// Preparation lasts at most this many connect timeouts while connections are still being opened.
const PREPARATION_TIMEOUTS: u32 = 12;
/// After so long without a slice, a connection of HTTP/1.1 is opened anew. Node, uvicorn and Apache close one that rests for
/// 5 s, and those that waited for a core while another server was measured do it just when the next request arrives.
const LONGEST_REST: Duration = Duration::from_secs(4);

#[derive(Clone, Copy, Debug)]
enum State {
    /// Not open; opened again at this moment.
    Closed {
        retry_at: Nanos,
    },
    /// Not open, because no user needs it now. It is opened for the first who does, but not before this moment.
    Resting {
        not_before: Nanos,
    },
    Connecting(Attempt),
    Open,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub(super) since: Nanos,
    pub(super) deadline: Nanos,
    /// The error class of a failure at the deadline.
    pub(super) stage: ErrorClass,
}

pub(super) enum Due {
    Nothing,
    /// The attempt to open it has timed out.
    Attempt(Attempt),
    /// At least one of its requests has timed out.
    Exchange,
}

struct Entry {
    state: State,
    /// Attempts to open it since its last answer, and at least one after a loss. They set the back-off.
    attempts: u32,
    /// The server has ended its side of it.
    is_ending: bool,
    /// When the last slice ended that used it.
    used_until: Nanos,
    /// Its server ends it, and it only waits for the last answers to users of this place, which has another connection.
    drains_for: Option<Token>,
    connection: Connection,
}

impl Entry {
    fn closed(setup: &Setup) -> Self {
        Self {
            state: State::Closed { retry_at: Nanos::ZERO },
            attempts: 0,
            is_ending: false,
            used_until: Nanos::ZERO,
            drains_for: None,
            connection: Connection::new(setup.protocol, &setup.base),
        }
    }

    const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. } | State::Resting { .. })
    }

    /// When a connection that ended at `at` may be opened again.
    fn retry_at(&self, at: Nanos) -> Nanos {
        let backoff = |before: u32| FIRST_BACKOFF.saturating_mul(1 << before.min(16)).min(MAX_BACKOFF);
        self.attempts.checked_sub(1).map_or(at, |before| at + backoff(before))
    }
}

/// All connections of one worker, by token.
pub(super) struct Connections {
    setup: Rc<Setup>,
    entries: Vec<Entry>,
    /// The slice uses the connections before this one.
    pub(super) in_use: usize,
    pub(super) connecting: usize,
    /// Preparation has handled the connections before this one.
    prepared: usize,
    pace: Pace,
    /// Connections that have bytes gathered for one send.
    unflushed: Vec<Token>,
    /// No deadline of a connection is earlier than this.
    pub(super) next_deadline: Nanos,
}

impl Connections {
    pub(super) fn new(setup: Rc<Setup>) -> Self {
        Self {
            pace: Pace::of(setup.share),
            setup,
            entries: Vec::new(),
            in_use: 0,
            connecting: 0,
            prepared: 0,
            unflushed: Vec::new(),
            next_deadline: Nanos::MAX,
        }
    }

    pub(super) fn at(&mut self, token: Token) -> &mut Connection {
        &mut self.entries[token.index()].connection
    }

    pub(super) fn begin_preparation(&mut self, in_use: usize) {
        self.in_use = in_use;
        self.prepared = 0;
        self.entries.resize_with(in_use.max(self.entries.len()), || Entry::closed(&self.setup));
    }

    /// Closes the connections that a server may be about to close.
    pub(super) fn close_rested(&mut self, io: &mut impl Transport, now: Nanos) {
        let may_end = matches!(self.setup.protocol, Protocol::Http1 { .. });
        let has_rested = |entry: &Entry| may_end && entry.used_until + LONGEST_REST <= now;
        for token in self.tokens().filter(|token| self.is_open(*token)).collect::<Vec<_>>() {
            if has_rested(&self.entries[token.index()]) {
                self.close(io, token);
            }
        }
    }

    /// Opens the missing connections of one step, once those of the step before have been opened and accepted.
    pub(super) fn open_missing(&mut self, io: &mut impl Transport, now: Nanos, backlog: &mut Backlog) {
        if self.connecting > 0 || !self.pace.is_due(now) {
            return;
        }
        let rest = &self.entries[self.prepared..self.in_use];
        if rest.iter().any(Entry::is_closed) && backlog().is_some_and(|waiting| waiting > 0) {
            return self.pace.hold(now);
        }
        self.pace.renew(now);
        while self.prepared < self.in_use {
            if self.entries[self.prepared].is_closed() {
                if !self.pace.take(now) {
                    return;
                }
                self.entries[self.prepared].attempts = 0;
                self.connect(io, Token(self.prepared as u32), now, now);
            }
            self.prepared += 1;
        }
    }

    /// Whether every connection in use has been opened or has failed.
    pub(super) const fn is_prepared(&self) -> bool {
        self.connecting == 0 && self.prepared == self.in_use
    }

    pub(super) fn count_open(&self) -> usize {
        self.tokens().filter(|token| self.is_open(*token)).count()
    }

    /// When preparation gives up on missing connections, unless more have opened by then.
    pub(super) fn preparation_deadline(&self, now: Nanos) -> Nanos {
        let missing = self.entries[..self.in_use].iter().filter(|entry| entry.is_closed()).count();
        now + self.setup.connect_timeout + self.pace.span_of(missing)
    }

    pub(super) fn longest_preparation(&self) -> Duration {
        self.setup.connect_timeout.saturating_mul(PREPARATION_TIMEOUTS) + self.pace.span_of(self.in_use)
    }

    /// When the next step of preparation may begin if no event arrives before; `latest` while attempts are under way.
    pub(super) fn next_preparation_step(&self, latest: Nanos) -> Nanos {
        if self.connecting > 0 { latest } else { latest.min(self.pace.renew_at) }
    }

    /// Connections that could not be opened in preparation are tried again. The first tick checks all deadlines.
    pub(super) fn begin_slice(&mut self, start: Nanos) {
        self.next_deadline = start;
        for entry in &mut self.entries[..self.in_use] {
            if entry.is_closed() {
                entry.state = State::Closed { retry_at: start };
            }
        }
    }

    pub(super) fn end_slice(&mut self, now: Nanos) {
        self.entries[..self.in_use].iter_mut().for_each(|entry| entry.used_until = now);
    }

    pub(super) fn is_in_use(&self, token: Token) -> bool {
        token.index() < self.in_use
    }

    pub(super) fn tokens(&self) -> impl Iterator<Item = Token> + use<> {
        (0..self.in_use as u32).map(Token)
    }

    /// Those that wait for their last answers beside the connection that has followed them.
    pub(super) fn draining(&self) -> impl Iterator<Item = Token> + use<> {
        let draining = |token: &Token| self.entries[token.index()].drains_for.is_some() && self.is_open(*token);
        (self.in_use as u32..self.entries.len() as u32).map(Token).filter(draining).collect::<Vec<_>>().into_iter()
    }

    /// The place whose users a connection serves: mostly its own.
    pub(super) fn place_of(&self, token: Token) -> Token {
        self.entries[token.index()].drains_for.unwrap_or(token)
    }

    /// How many requests of a place wait for their answers on earlier connections of it.
    pub(super) fn draining_requests(&mut self, place: Token) -> u32 {
        let draining: Vec<Token> = self.draining().filter(|token| self.place_of(*token) == place).collect();
        draining.into_iter().map(|token| self.at(token).under_way() as u32).sum()
    }

    /// Moves a connection aside, where it gets its last answers, so that its place is free for another.
    pub(super) fn set_aside(&mut self, io: &mut impl Transport, token: Token) {
        let free = self.entries[self.in_use..].iter().position(Entry::is_closed);
        let aside = free.map_or(self.entries.len(), |at| at + self.in_use);
        if aside == self.entries.len() {
            self.entries.push(Entry::closed(&self.setup));
        }
        self.entries.swap(token.index(), aside);
        self.entries[aside].drains_for = Some(token);
        self.entries[token.index()].attempts = self.entries[aside].attempts;
        io.renumber(token, Token(aside as u32));
    }

    pub(super) fn is_open(&self, token: Token) -> bool {
        matches!(self.entries[token.index()].state, State::Open)
    }

    pub(super) fn takes_requests(&self, token: Token) -> bool {
        let entry = &self.entries[token.index()];
        self.is_open(token) && !entry.is_ending && !entry.connection.is_retired()
    }

    pub(super) fn note_ending(&mut self, token: Token) {
        self.entries[token.index()].is_ending = true;
    }

    pub(super) fn attempt(&self, token: Token) -> Option<Attempt> {
        match self.entries[token.index()].state {
            State::Connecting(attempt) => Some(attempt),
            State::Open | State::Closed { .. } | State::Resting { .. } => None,
        }
    }

    /// Sets the error class in which the attempt fails from now on.
    pub(super) fn set_stage(&mut self, token: Token, stage: ErrorClass) {
        if let State::Connecting(attempt) = &mut self.entries[token.index()].state {
            attempt.stage = stage;
        }
    }

    /// Begins an attempt to open a connection, which has been wanted since a moment.
    fn connect(&mut self, io: &mut impl Transport, token: Token, since: Nanos, now: Nanos) {
        let deadline = now + self.setup.connect_timeout;
        let attempt = Attempt { since, deadline, stage: ErrorClass::Connect };
        let entry = &mut self.entries[token.index()];
        (entry.state, entry.drains_for) = (State::Connecting(attempt), None);
        entry.attempts = entry.attempts.saturating_add(1);
        self.connecting += 1;
        self.wake_by(deadline);
        io.connect(token, self.setup.target_of(token), &self.setup.options);
    }

    /// The attempt succeeded: the connection takes requests.
    pub(super) fn set_open(&mut self, token: Token) {
        self.set_closed(token);
        let entry = &mut self.entries[token.index()];
        entry.state = State::Open;
        entry.is_ending = false;
        entry.connection.open();
    }

    /// An answer arrived, so the back-off starts anew.
    pub(super) fn reset_backoff(&mut self, token: Token) {
        self.entries[token.index()].attempts = 0;
    }

    /// A connection was lost, so it is not opened again at once, even if it has carried an answer.
    pub(super) fn note_loss(&mut self, token: Token) {
        let entry = &mut self.entries[token.index()];
        entry.attempts = entry.attempts.max(1);
    }

    /// Opens an ended connection again, which users have wanted since a moment: at once if it has carried an answer, else after a
    /// back-off, which is no wait for the server.
    pub(super) fn reopen(&mut self, io: &mut impl Transport, token: Token, since: Nanos, at: Nanos) {
        self.set_closed(token);
        let retry_at = self.entries[token.index()].retry_at(at);
        if retry_at == at {
            return self.connect(io, token, since, at);
        }
        self.retry_at(token, retry_at);
    }

    /// Leaves an ended connection closed until a user needs it.
    pub(super) fn rest(&mut self, token: Token, at: Nanos) {
        self.set_closed(token);
        let entry = &mut self.entries[token.index()];
        entry.state = State::Resting { not_before: entry.retry_at(at) };
    }

    /// Opens a resting connection for a user who needs it since `ready`; after a loss, at the pace of all.
    pub(super) fn end_rest(&mut self, io: &mut impl Transport, token: Token, ready: Nanos, now: Nanos) {
        let Entry { state: State::Resting { not_before }, attempts, .. } = self.entries[token.index()] else { return };
        self.pace.renew(now);
        if not_before > now {
            self.retry_at(token, not_before);
        } else if attempts == 0 || self.pace.take(now) {
            self.connect(io, token, ready, now);
        } else {
            self.retry_at(token, self.pace.renew_at);
        }
    }

    fn retry_at(&mut self, token: Token, retry_at: Nanos) {
        self.entries[token.index()].state = State::Closed { retry_at };
        self.wake_by(retry_at);
    }

    /// Records that the transport is closed. Nothing is opened again before the next slice.
    pub(super) fn set_closed(&mut self, token: Token) {
        let entry = &mut self.entries[token.index()];
        let before = std::mem::replace(&mut entry.state, State::Closed { retry_at: Nanos::MAX });
        self.connecting -= usize::from(matches!(before, State::Connecting(_)));
    }

    /// Closes the transport from this side, after the protocol's closing bytes if it has any.
    pub(super) fn close(&mut self, io: &mut impl Transport, token: Token) {
        self.at(token).send_close(io, token);
        io.close(token);
        self.set_closed(token);
    }

    /// Makes the next check of deadlines happen at this moment or earlier.
    pub(super) fn wake_by(&mut self, moment: Nanos) {
        self.next_deadline = self.next_deadline.min(moment);
    }

    /// Begins a check of all deadlines, about once per timeout: a running load keeps moving the earliest deadline.
    pub(super) fn begin_check(&mut self, now: Nanos) {
        self.next_deadline = Nanos::MAX;
        self.pace.renew(now);
    }

    /// Checks the deadline of one connection, and opens it again if its back-off is over.
    pub(super) fn check(&mut self, io: &mut impl Transport, token: Token, now: Nanos) -> Due {
        match self.entries[token.index()].state {
            State::Open => match self.at(token).next_deadline() {
                Some(first) if first <= now => return Due::Exchange,
                Some(first) => self.wake_by(first),
                None => {}
            },
            State::Connecting(attempt) if attempt.deadline <= now => return Due::Attempt(attempt),
            // All connections may have been lost at once.
            State::Closed { retry_at } if retry_at <= now => {
                if self.pace.take(now) {
                    self.connect(io, token, now, now);
                } else {
                    self.wake_by(self.pace.renew_at);
                }
            }
            State::Resting { .. } => {}
            State::Connecting(Attempt { deadline: next, .. }) | State::Closed { retry_at: next } => self.wake_by(next),
        }
        Due::Nothing
    }

    pub(super) fn flush_later(&mut self, token: Token) {
        self.unflushed.push(token);
    }

    /// Sends the gathered bytes of one connection, and returns their number; `None` when no connection has any.
    pub(super) fn flush_next(&mut self, io: &mut impl Transport) -> Option<usize> {
        let token = self.unflushed.pop()?;
        Some(if self.is_open(token) { self.at(token).flush(io, token) } else { 0 })
    }
}
