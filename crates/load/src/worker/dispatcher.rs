//! Assigns the requests that the schedule demands to free places of connections.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::Token;

use super::Setup;
use super::demand::Demand;
use crate::input::request::RequestCursor;
use crate::protocol::connection::Returned;
use crate::recorder::Times;
use crate::recorder::slice::WorkerSlice;
use crate::schedule::Share;

/// Room for one request on an open connection. A connection has as many places as its protocol's depth.
#[derive(Clone, Copy, Debug)]
struct Place {
    token: Token,
    /// Since when it is free. In the closed loop, this is the intended start of its next request.
    since: Nanos,
}

/// A request that leaves now.
pub(super) struct Departure {
    pub(super) token: Token,
    /// Index in the request set.
    pub(super) request: usize,
    pub(super) now: Nanos,
    pub(super) times: Times,
}

/// Assigns requests to free places. Counts those under way: assigned, and neither answered nor failed.
pub(super) struct Dispatcher {
    share: Share,
    depth: usize,
    /// Whether the server pushes: a subscription of the discarded head lasts into the window.
    is_push: bool,
    timeout: Duration,
    demand: Demand,
    cursor: RequestCursor,
    /// The place that has been free longest comes first.
    free: VecDeque<Place>,
    /// Places whose users think, and until when.
    thinking: BinaryHeap<Reverse<(Nanos, Token)>>,
    /// Requests that a server sent back unprocessed. They wait for another connection, and their response times run on.
    returned: VecDeque<Returned>,
    under_way: usize,
}

impl Dispatcher {
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            share: setup.share,
            depth: setup.protocol.depth(),
            is_push: setup.protocol.is_push(),
            timeout: setup.timeout,
            demand: Demand::none(),
            cursor: setup.requests.cursor(setup.share),
            free: VecDeque::new(),
            thinking: BinaryHeap::new(),
            returned: VecDeque::new(),
            under_way: 0,
        }
    }

    /// Begins a slice, with no place free yet.
    pub(super) fn begin_slice(&mut self, slice: &WorkerSlice) {
        let counts_from = if self.is_push { slice.start } else { slice.start + slice.discard_head };
        self.demand = Demand::of(slice, self.share, counts_from);
        self.free.clear();
        self.thinking.clear();
    }

    /// Assigns no request whose intended start is `until` or later.
    pub(super) fn end_at(&mut self, until: Nanos) {
        self.demand.end_at(until);
    }

    /// Assigns nothing until the next slice begins.
    pub(super) fn end_slice(&mut self) {
        self.demand = Demand::none();
    }

    pub(super) const fn is_closed_loop(&self) -> bool {
        self.demand.is_closed_loop()
    }

    /// How many requests are under way.
    pub(super) const fn under_way(&self) -> usize {
        self.under_way
    }

    /// Notes that a request under way has been answered or has failed.
    pub(super) const fn note_ended(&mut self) {
        self.under_way -= 1;
    }

    /// Whether every request of the slice has ended. `is_open` says whether the window lasts, and `is_connecting`
    /// whether a user of the closed loop still waits for a connection.
    pub(super) fn is_finished(&self, is_open: bool, is_connecting: bool) -> bool {
        let waits = if self.is_closed_loop() { is_connecting } else { self.demand.head().is_some() };
        self.under_way == 0 && (self.demand.is_exhausted() || !(waits || is_open))
    }

    /// Whether a connection that ends should be opened again. `is_open` says whether the window lasts.
    pub(super) fn wants_connections(&self, is_open: bool) -> bool {
        let is_over = self.demand.is_exhausted() || (self.is_closed_loop() && !is_open);
        !is_over || !self.returned.is_empty()
    }

    /// The worker's position in the cycle of requests and in their feeds.
    pub(super) const fn cursor(&mut self) -> &mut RequestCursor {
        &mut self.cursor
    }

    /// The next request that leaves now, if one is due and a place is free. `freed` is the moment at which an event
    /// freed a place while none was free: a request due before it was blocked until then.
    pub(super) fn next_departure(&mut self, clock: &impl Clock, freed: Option<Nanos>) -> Option<Departure> {
        let &Place { token, since } = self.free.front()?;
        let now = clock.now();
        let intended = self.demand.due(since, now)?;
        let Some(request) = self.cursor.next() else {
            // A feed is used up: the load ends.
            self.demand.end();
            return None;
        };
        self.free.pop_front();
        self.demand.take(intended);
        self.under_way += 1;
        let blocked_until = freed.filter(|freed| self.demand.leaves_at(intended) < *freed);
        Some(Departure { token, request, now, times: Times { intended, sent: Some(now), blocked_until } })
    }

    /// The next returned request that can leave again, and where.
    pub(super) fn next_returned(&mut self) -> Option<(Token, Returned)> {
        let token = self.free.front()?.token;
        let returned = self.returned.pop_front()?;
        self.free.pop_front();
        Some((token, returned))
    }

    /// Keeps a request that a server sent back, until a place is free.
    pub(super) fn take_back(&mut self, returned: Returned) {
        self.returned.push_back(returned);
    }

    /// Removes a returned request: any, or one whose deadline has passed at `overdue_at`.
    pub(super) fn take_returned(&mut self, overdue_at: Option<Nanos>) -> Option<Returned> {
        let is_due = |returned: &Returned| overdue_at.is_none_or(|now| returned.exchange.deadline <= now);
        let index = self.returned.iter().position(is_due)?;
        self.returned.remove(index)
    }

    /// The earliest deadline of the returned requests.
    pub(super) fn next_returned_deadline(&self) -> Option<Nanos> {
        self.returned.iter().map(|returned| returned.exchange.deadline).min()
    }

    /// Removes a request that waits for a place and whose deadline has passed. Returns its intended start.
    pub(super) fn take_overdue(&mut self, now: Nanos) -> Option<Nanos> {
        let intended = self.demand.overdue(self.timeout, now)?;
        self.demand.take(intended);
        Some(intended)
    }

    /// Removes a request that waits for a place. Returns its intended start.
    pub(super) fn take_waiting(&mut self) -> Option<Nanos> {
        let intended = self.demand.head()?;
        self.demand.take(intended);
        Some(intended)
    }

    /// Removes the request of the closed loop's user who has waited since then for this connection. Returns its intended
    /// start; `None` if no user waits, because the count is used up or the user does not take part.
    pub(super) fn take_waiting_user(&mut self, token: Token, since: Nanos, at: Nanos) -> Option<Nanos> {
        if !self.is_closed_loop() {
            return None;
        }
        let intended = self.demand.due(self.demand.next_request_at(token.index(), since)?, at)?;
        self.demand.take(intended);
        Some(intended)
    }

    /// Returns `at`, if no place is free for an open loop: requests may be waiting for the place that an event frees at
    /// `at`.
    pub(super) fn blocked_at(&self, at: Nanos) -> Option<Nanos> {
        (self.free.is_empty() && !self.is_closed_loop()).then_some(at)
    }

    /// Frees this many places of a connection. A user of the closed loop thinks first.
    pub(super) fn free_places(&mut self, token: Token, places: usize, since: Nanos) {
        for _ in 0..places {
            let pause = if self.is_closed_loop() { self.cursor.pause() } else { None };
            match pause {
                None => self.free_place(token, since),
                Some(pause) => self.thinking.push(Reverse((since + pause, token))),
            }
        }
    }

    /// Frees one place of a connection as soon as its user is active.
    pub(super) fn free_place(&mut self, token: Token, since: Nanos) {
        match self.demand.next_request_at(token.index(), since) {
            Some(at) if at > since => self.thinking.push(Reverse((at, token))),
            Some(_) => self.free.push_back(Place { token, since }),
            None => {}
        }
    }

    /// Frees the places whose users have thought long enough.
    pub(super) fn wake_users(&mut self, now: Nanos) {
        while let Some(&Reverse((since, token))) = self.thinking.peek().filter(|Reverse((since, _))| *since <= now) {
            self.thinking.pop();
            self.free_place(token, since);
        }
    }

    /// Removes the places of a connection that takes no more requests. `under_way` requests are still on it.
    pub(super) fn remove_places(&mut self, token: Token, under_way: usize) {
        if under_way < self.depth {
            self.free.retain(|place| place.token != token);
            self.thinking.retain(|Reverse((_, thinking))| *thinking != token);
        }
    }

    /// When the next request of an open loop leaves, if a place is free for it.
    pub(super) fn next_send(&self) -> Option<Nanos> {
        let head = self.demand.head().filter(|_| !self.free.is_empty());
        head.map(|head| self.demand.leaves_at(head))
    }

    /// When the dispatcher must be asked again if no event arrives before: `latest` or earlier.
    pub(super) fn next_wake(&self, latest: Nanos) -> Nanos {
        let latest = self.thinking.peek().map_or(latest, |Reverse((until, _))| latest.min(*until));
        match self.demand.head() {
            Some(head) if self.free.is_empty() => latest.min(head + self.timeout),
            Some(head) => latest.min(self.demand.leaves_at(head)),
            None => latest,
        }
    }
}
