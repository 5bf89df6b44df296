//! Assigns the requests that the schedule demands to free places of connections.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::Token;

use super::Setup;
use super::demand::Demand;
use super::places::{FreePlaces, Place};
use crate::input::request::RequestCursor;
use crate::protocol::connection::Returned;
use crate::protocol::push_of;
use crate::recorder::Times;
use crate::recorder::slice::WorkerSlice;

/// Assigns requests to free places. Counts those under way: assigned, and neither answered nor failed.
pub(super) struct Dispatcher {
    setup: Rc<Setup>,
    demand: Demand,
    /// The worker's position in the cycle of requests and in their feeds.
    pub(super) cursor: RequestCursor,
    free: FreePlaces,
    /// Users of the closed loop who think or are not active yet, and until when. Meanwhile they need no connection.
    thinking: BinaryHeap<Reverse<(Nanos, Token)>>,
    /// Users of the closed loop who want to send while their connection takes no requests, by connection: since when.
    waiting: Vec<Vec<Nanos>>,
    /// Requests that a server sent back unprocessed. They wait for another connection, and their response times run on.
    returned: VecDeque<Returned>,
    /// When an event or a timeout freed a place while none was free. A request of an open loop that was due before has been
    /// blocked until then.
    pub(super) freed: Option<Nanos>,
    pub(super) under_way: usize,
}

impl Dispatcher {
    pub(super) fn new(setup: Rc<Setup>) -> Self {
        let mut cursor = setup.requests.cursor(setup.share);
        cursor.values.users.clone_from(&setup.users);
        Self {
            setup,
            demand: Demand::default(),
            cursor,
            free: FreePlaces::default(),
            thinking: BinaryHeap::new(),
            waiting: Vec::new(),
            returned: VecDeque::new(),
            freed: None,
            under_way: 0,
        }
    }

    /// Begins a slice on this many connections, with no place free yet.
    pub(super) fn begin_slice(&mut self, slice: &WorkerSlice, connections: usize) {
        // A subscription of the discarded head lasts into the window.
        let is_push = push_of(self.setup.protocol).is_some();
        let counts_from = if is_push { slice.start } else { slice.start + slice.spec.discard_head };
        self.demand = Demand::of(slice, self.setup.share, counts_from);
        if is_push && slice.spec.is_one_per_connection() {
            // Nobody subscribes a second time in the place of a user who could not be set up.
            self.demand.limit(connections as u64);
        }
        self.free.begin_slice(connections);
        self.thinking.clear();
        self.waiting.iter_mut().for_each(Vec::clear);
        self.waiting.resize_with(connections.max(self.waiting.len()), Vec::new);
    }

    pub(super) fn end_at(&mut self, until: Nanos) {
        self.demand.end_at(until);
    }

    /// Assigns nothing until the next slice begins.
    pub(super) fn end_slice(&mut self) {
        self.demand = Demand::default();
    }

    /// Whether every request of the slice has ended. `is_open` says whether the window lasts.
    pub(super) fn is_finished(&self, is_open: bool, is_connecting: bool) -> bool {
        let waits = if self.demand.is_closed_loop() { is_connecting } else { self.demand.head().is_some() };
        self.under_way == 0 && (self.demand.is_exhausted() || !(waits || is_open))
    }

    /// Whether a connection that ends should be opened again. `is_open` says whether the window lasts.
    pub(super) fn wants_connections(&self, is_open: bool) -> bool {
        let is_over = self.demand.is_exhausted() || (self.demand.is_closed_loop() && !is_open);
        !is_over || !self.returned.is_empty()
    }

    /// The next request that leaves now, and where, if one is due and a place is free.
    /// Returns its times and no exchange: that is so large that each function that hands it on copies it.
    pub(super) fn next_departure(&mut self, clock: &impl Clock) -> Option<(Token, Nanos, usize, Times)> {
        let &Place { token, since, connected_at } = self.free.first()?;
        let now = clock.now();
        let intended = self.demand.due(since, now)?;
        self.cursor.values.user = token.index();
        let Some(request) = self.cursor.next() else {
            // A feed is used up: the load ends.
            self.demand.limit(0);
            return None;
        };
        self.free.take_first();
        self.demand.take(intended);
        self.under_way += 1;
        let blocked_until = self.freed.filter(|freed| self.demand.leaves_at(intended) < *freed);
        let times = Times { intended, sent: Some(now), blocked_until, connected_at, ..Times::default() };
        Some((token, now, request, times))
    }

    /// The next returned request that can leave again, and where.
    pub(super) fn next_returned(&mut self) -> Option<(Token, Returned)> {
        let token = self.free.first()?.token;
        let returned = self.returned.pop_front()?;
        self.free.take_first();
        Some((token, returned))
    }

    pub(super) fn take_back(&mut self, returned: Returned) {
        self.returned.push_back(returned);
    }

    /// Removes a returned request: any, or one whose deadline has passed at `overdue_at`.
    pub(super) fn take_returned(&mut self, overdue_at: Option<Nanos>) -> Option<Returned> {
        let is_due = |returned: &Returned| overdue_at.is_none_or(|now| returned.exchange.deadline <= now);
        let index = self.returned.iter().position(is_due)?;
        self.returned.remove(index)
    }

    pub(super) fn next_returned_deadline(&self) -> Option<Nanos> {
        self.returned.iter().map(|returned| returned.exchange.deadline).min()
    }

    /// Removes a request that waits for a place: any, or one whose deadline has passed at `overdue_at`.
    pub(super) fn take_waiting(&mut self, overdue_at: Option<Nanos>) -> Option<Nanos> {
        let is_due = |head: &Nanos| overdue_at.is_none_or(|now| *head + self.setup.timeout <= now);
        let intended = self.demand.head().filter(is_due)?;
        self.demand.take(intended);
        Some(intended)
    }

    /// The users of the closed loop who wait for this connection, and since when. They wait no more.
    pub(super) fn take_waiting_users(&mut self, token: Token) -> Vec<Nanos> {
        self.waiting.get_mut(token.index()).map(std::mem::take).unwrap_or_default()
    }

    /// Since when the first of the users waits who want to send on this connection.
    pub(super) fn waiting_since(&self, token: Token) -> Option<Nanos> {
        self.waiting.get(token.index())?.iter().min().copied()
    }

    /// Takes the request of a user who has waited since `ready` for a connection that failed at `at`, if any is left.
    pub(super) fn take_request_of_user(&mut self, ready: Nanos, at: Nanos) -> Option<Nanos> {
        let intended = self.demand.due(ready, at)?;
        self.demand.take(intended);
        Some(intended)
    }

    /// Before an event or a timeout at `at`, which may free a place for requests of an open loop that wait.
    pub(super) fn note_blocked(&mut self, at: Nanos) {
        if self.free.is_empty() && !self.demand.is_closed_loop() {
            self.freed.get_or_insert(at);
        }
    }

    /// Goes on after an exchange: a user of the closed loop thinks, and in an open loop the place is free at once.
    pub(super) fn end_exchange(&mut self, token: Token, at: Nanos, takes_requests: bool) {
        if !self.demand.is_closed_loop() {
            if takes_requests {
                self.give_place(token, at, true);
            }
            return;
        }
        match self.cursor.pause() {
            None => self.admit(token, at, takes_requests),
            Some(pause) => self.thinking.push(Reverse((at + pause, token))),
        }
    }

    /// Gives a user a place as soon as it is active.
    pub(super) fn admit(&mut self, token: Token, ready: Nanos, takes_requests: bool) {
        match self.demand.next_request_at(token.index(), ready) {
            Some(at) if at > ready => self.thinking.push(Reverse((at, token))),
            Some(_) => self.give_place(token, ready, takes_requests),
            None => {}
        }
    }

    /// Frees a place of a connection: now if it takes requests, otherwise when it is open again.
    pub(super) fn give_place(&mut self, token: Token, since: Nanos, takes_requests: bool) {
        if takes_requests {
            self.free.push(Place { token, since, connected_at: None });
        } else if self.demand.is_closed_loop() {
            self.waiting[token.index()].push(since);
        }
    }

    /// Frees the places of a connection whose opening lasted from `since` to `at`: in a closed loop for waiting users, in
    /// an open one all but `busy` ones.
    pub(super) fn open_places(&mut self, token: Token, since: Nanos, at: Nanos, busy: u32) {
        if self.demand.is_closed_loop() {
            for ready in self.waiting[token.index()].drain(..) {
                self.free.push(Place { token, since: ready.max(since), connected_at: Some(at) });
            }
        } else {
            for _ in busy..self.setup.protocol.depth() {
                self.free.push(Place { token, since, connected_at: None });
            }
        }
    }

    /// A user who has thought long enough, and when that was.
    pub(super) fn next_awake_user(&mut self, now: Nanos) -> Option<(Token, Nanos)> {
        let &Reverse((ready, token)) = self.thinking.peek().filter(|Reverse((ready, _))| *ready <= now)?;
        self.thinking.pop();
        Some((token, ready))
    }

    /// Whether a connection that has ended is needed now. In a closed loop, nobody needs it while all its users think.
    pub(super) fn needs_connection(&self, token: Token) -> bool {
        !self.demand.is_closed_loop() || !self.waiting[token.index()].is_empty()
    }

    /// Removes the places of a connection that takes no more requests; users who had one wait for the next connection.
    pub(super) fn remove_places(&mut self, token: Token) {
        let places = self.free.take_all_of(token);
        if self.demand.is_closed_loop() {
            self.waiting[token.index()].extend(places.iter().map(|place| place.since));
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
            Some(head) if self.free.is_empty() => latest.min(head + self.setup.timeout),
            Some(head) => latest.min(self.demand.leaves_at(head)),
            None => latest,
        }
    }
}
