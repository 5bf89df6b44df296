//! Runs the slices of one worker: asks the dispatcher for requests, puts them on connections, and records how they end.
//! A request ends completed or failed, a connection closed, a slice at its end or cancelled.

mod events;
mod sending;

use std::rc::Rc;
use std::time::Duration;

use tare_sample::{ErrorClass, SliceSample};
use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Token, Transport};
use tare_units::duration;

use super::Setup;
use super::connections::{Attempt, Connections, Due};
use super::dispatcher::Dispatcher;
use super::wait_policy::{WaitMode, WaitPolicy};
use crate::problem::Problem;
use crate::protocol::connection::{Exchange, Returned};
use crate::protocol::subscription::Subscription;
use crate::protocol::{push_of, speaks_http2, timeout_text};
use crate::recorder::server_clock::ClockModel;
use crate::recorder::slice::WorkerSlice;
use crate::recorder::{CpuTimes, OnPart, Recorder, Times};

/// The longest sleep, so that a cancellation is noticed.
pub(super) const MAX_SLEEP: Duration = Duration::from_millis(100);

/// What to do about a stream that never ends, where a number of streams is to be read to its end.
const ENDLESS: &str = "give the load a time (-d), or each stream a number of events (--messages)";

/// One worker without its poller: the state of its slices.
pub(super) struct SliceRunner<C> {
    clock: C,
    setup: Rc<Setup>,
    pub(super) connections: Connections,
    dispatcher: Dispatcher,
    recorder: Recorder,
    /// As in [`WorkerSlice`].
    server_clock: Option<ClockModel>,
    /// As in [`SliceSpec`](crate::SliceSpec).
    longest_push: Option<Duration>,
    /// When the next ping leaves, which measures the round trip to the server, and on which connection.
    ping: Option<(Nanos, Token)>,
    /// Places at which a user may wait for a connection that its server ends, or that was left closed.
    stranded: Vec<Token>,
    wait_policy: WaitPolicy,
}

impl<C: Clock> SliceRunner<C> {
    pub(super) fn new(clock: C, setup: Setup) -> Self {
        let setup = Rc::new(setup);
        Self {
            clock,
            dispatcher: Dispatcher::new(Rc::clone(&setup)),
            recorder: Recorder::idle(&setup.requests, &setup.failed_users),
            server_clock: Some(ClockModel::default()),
            longest_push: None,
            ping: None,
            stranded: Vec::new(),
            wait_policy: WaitPolicy::new(),
            connections: Connections::new(Rc::clone(&setup)),
            setup,
        }
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    pub(super) fn begin_slice(&mut self, slice: &WorkerSlice) {
        self.recorder.begin_slice(slice);
        (self.server_clock, self.longest_push, self.ping) = (slice.server_clock, slice.spec.longest_push, None);
        self.wait_policy.begin(slice.spec.sending);
        self.dispatcher.begin_slice(slice, self.connections.in_use);
        self.connections.begin_slice(slice.start);
        // One place per connection at a time, so that no connection carries two requests while another carries none.
        for _ in 0..self.setup.protocol.depth() {
            for token in self.connections.tokens() {
                self.dispatcher.admit(token, slice.start, self.connections.is_open(token));
            }
        }
    }

    /// Whether every request has ended, or the drain has lasted as long as it may.
    pub(super) fn is_finished(&self, now: Nanos) -> bool {
        let is_open = self.recorder.is_before_end(now);
        self.recorder.is_drained(now) || self.dispatcher.is_finished(is_open, self.connections.connecting > 0)
    }

    /// Ends the wait; returns the present moment.
    pub(super) fn wake(&mut self) -> Nanos {
        let now = self.now();
        self.wait_policy.end_wait(now);
        now
    }

    pub(super) fn next_wait(&mut self, now: Nanos) -> WaitMode {
        let deadline = self.connections.next_deadline.min(now + MAX_SLEEP).min(self.recorder.next_boundary());
        let deadline = self.ping.map_or(deadline, |(at, _)| deadline.min(at));
        let deadline = self.dispatcher.next_wake(deadline);
        self.wait_policy.next_wait(now, deadline, self.dispatcher.next_send(), self.dispatcher.under_way > 0)
    }

    /// Does what is due by time alone: boundaries of the window, timeouts, pings, requests.
    pub(super) fn tick(&mut self, io: &mut impl Transport, now: Nanos, is_cancelled: bool) {
        if is_cancelled {
            self.cancel(now);
        }
        self.recorder.read_cpu_at_boundary(now, || spent(&self.clock, &self.wait_policy));
        while let Some(intended) = self.dispatcher.take_waiting(Some(now)) {
            self.fail_waiting(intended, intended + self.setup.timeout, "no connection was free until the deadline");
        }
        self.dispatcher.note_blocked(now);
        if now >= self.connections.next_deadline {
            self.time_out(io, now);
        }
        self.wake_users(now);
        if let Some((_, token)) = self.ping.take_if(|(at, _)| *at <= now) {
            self.connections.at(token).ping(self.clock.now());
            self.flush_later(token);
        }
        self.dispatch(io);
        self.help_stranded(io, now);
    }

    /// Gives users a connection who wait for one that its server ends, or that nobody has needed since it ended.
    fn help_stranded(&mut self, io: &mut impl Transport, now: Nanos) {
        for place in std::mem::take(&mut self.stranded) {
            let is_wanted = self.dispatcher.wants_connections(self.recorder.is_before_end(now));
            if !is_wanted || !self.takes_part(place) || !self.dispatcher.needs_connection(place) {
                continue;
            }
            let since = self.dispatcher.waiting_since(place).unwrap_or(now);
            let has_streams = speaks_http2(self.setup.protocol) && self.connections.is_open(place);
            if has_streams && self.connections.at(place).is_retired() {
                self.connections.set_aside(io, place);
                self.connections.reopen(io, place, since.min(now), now);
            } else {
                self.connections.end_rest(io, place, since, now);
            }
        }
    }

    pub(super) fn end_periods(&mut self, now: Nanos, on_part: OnPart<'_>) {
        self.recorder.end_periods(now, || spent(&self.clock, &self.wait_policy), on_part);
    }

    fn cancel(&mut self, now: Nanos) {
        if self.recorder.is_before_end(now) {
            self.dispatcher.end_at(now);
        }
        self.recorder.cancel(now);
    }

    /// Fails the requests that the drain has not finished, and returns the sample.
    pub(super) fn end_slice(&mut self, io: &mut impl Transport) -> SliceSample {
        let now = self.now();
        self.recorder.end_window(now);
        while let Some(intended) = self.dispatcher.take_waiting(None) {
            self.fail_waiting(intended, now, "still waiting for a connection when the drain ended");
        }
        while let Some(returned) = self.dispatcher.take_returned(None) {
            self.fail_returned(&returned, now, "no complete answer when the drain ended");
        }
        for token in self.connections.tokens().chain(self.connections.draining()) {
            self.close_unfinished(io, token, now);
        }
        self.connections.end_slice(now);
        self.dispatcher.end_slice();
        self.recorder.end_slice(|| spent(&self.clock, &self.wait_policy))
    }

    /// Lets users who have thought long enough send, on a new connection if theirs has ended meanwhile.
    fn wake_users(&mut self, now: Nanos) {
        while let Some((token, ready)) = self.dispatcher.next_awake_user(now) {
            self.dispatcher.admit(token, ready, self.connections.takes_requests(token));
            self.stranded.push(token);
        }
    }

    fn takes_part(&self, token: Token) -> bool {
        self.recorder.is_active() && self.connections.is_in_use(token)
    }

    /// Lets the user of an exchange that has ended go on, on the connection that its place has now.
    fn end_exchange(&mut self, token: Token, at: Nanos, takes_requests: bool) {
        let place = self.connections.place_of(token);
        if self.takes_part(place) {
            let takes_requests = if place == token { takes_requests } else { self.connections.takes_requests(place) };
            self.dispatcher.end_exchange(place, at, takes_requests);
            if place != token {
                self.stranded.push(place);
            }
        }
    }

    fn remove_places(&mut self, token: Token) {
        if self.takes_part(token) {
            self.dispatcher.remove_places(token);
        }
    }

    /// Opens a connection again that has ended, if the slice still needs it.
    fn reconnect(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        let is_wanted = self.dispatcher.wants_connections(self.recorder.is_before_end(at));
        if !is_wanted || !self.takes_part(token) {
            self.connections.set_closed(token);
        } else if self.dispatcher.needs_connection(token) {
            // Over HTTP/2 users may have waited for the last answers of others on a connection that its server ends.
            let waiting = self.dispatcher.waiting_since(token).filter(|_| speaks_http2(self.setup.protocol));
            let since = waiting.map_or(at, |since| since.min(at));
            self.connections.reopen(io, token, since, at);
        } else {
            self.connections.rest(token, at);
        }
    }

    /// Opens a connection again that could not be opened or has ended without notice.
    fn reconnect_lost(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        self.connections.note_loss(token);
        self.reconnect(io, token, at);
    }

    /// Ends a request under way: completed if it has no problem, else failed.
    fn finish(&mut self, exchange: &Exchange, at: Nanos, problem: Option<&Problem>) {
        self.dispatcher.under_way -= 1;
        let times = &exchange.times;
        match problem {
            None => self.recorder.record_answer(times, at, self.wait_policy.stamped_late_ns(at)),
            Some(problem) => self.recorder.record_failed_exchange(times, at, problem, exchange.missing()),
        }
    }

    /// Fails everything that is under way on a connection that can no longer be used.
    fn fail_all(&mut self, token: Token, at: Nanos, problem: &Problem) {
        while let Some(exchange) = self.connections.at(token).take_any() {
            self.finish(&exchange, at, Some(problem));
            self.end_exchange(token, at, false);
        }
    }

    fn fail_waiting(&mut self, intended: Nanos, at: Nanos, text: &str) {
        let times = Times { intended, blocked_until: Some(at), ..Times::default() };
        self.recorder.record_failure(&times, at, &Problem::new(ErrorClass::Timeout, text));
    }

    fn fail_returned(&mut self, returned: &Returned, at: Nanos, text: &str) {
        self.finish(&returned.exchange, at, Some(&Problem::new(ErrorClass::Timeout, text)));
    }

    /// Fails an attempt to connect, and the requests of users who wait. If nobody does, it is a connection event.
    fn fail_attempt(&mut self, attempt: Attempt, token: Token, at: Nanos, problem: &Problem) {
        if !self.recorder.is_active() {
            return;
        }
        let status = self.connections.at(token).handshake_status();
        let mut has_users = false;
        for ready in self.dispatcher.take_waiting_users(token) {
            let Some(intended) = self.dispatcher.take_request_of_user(ready.max(attempt.since), at) else {
                // An attempt from before the slice may end before its first request is due: the user waits for the next one.
                self.dispatcher.give_place(token, ready, false);
                continue;
            };
            let times = Times { intended, status, ..Times::default() };
            let missing = |push| Subscription::new(push).missing_at_break(attempt.since);
            self.recorder.record_failed_exchange(&times, at, problem, push_of(self.setup.protocol).map(missing));
            self.dispatcher.end_exchange(token, at, false);
            has_users = true;
        }
        if !has_users {
            self.recorder.record_connection_failure(at, problem);
        }
    }

    /// Fails a connection that can no longer be used, and everything under way on it.
    fn fail_connection(&mut self, io: &mut impl Transport, token: Token, at: Nanos, problem: &Problem) {
        self.remove_places(token);
        if self.connections.at(token).under_way() == 0 {
            self.recorder.record_connection_failure(at, problem);
        }
        self.fail_all(token, at, problem);
        self.connections.close(io, token);
        self.recorder.record_connection_lost();
        self.reconnect_lost(io, token, at);
    }

    /// Closes a connection that still has requests under way after the drain.
    fn close_unfinished(&mut self, io: &mut impl Transport, token: Token, now: Nanos) {
        if let Some(attempt) = self.connections.attempt(token) {
            self.fail_attempt(attempt, token, now, &Problem::new(attempt.stage, "not connected when the drain ended"));
        } else if self.connections.is_open(token) && self.connections.at(token).under_way() > 0 {
            let problem = Problem::new(ErrorClass::Timeout, "no complete answer when the drain ended");
            self.fail_all(token, now, &problem);
            self.recorder.record_connection_lost();
        } else {
            return;
        }
        self.connections.close(io, token);
    }

    /// Acts on every deadline that has passed.
    fn time_out(&mut self, io: &mut impl Transport, now: Nanos) {
        self.connections.begin_check(now);
        while let Some(returned) = self.dispatcher.take_returned(Some(now)) {
            let at = returned.exchange.deadline;
            let text = match returned.redirected {
                Some(_) => "redirected, and no connection was free until the deadline",
                None => "sent back unprocessed, and not answered elsewhere",
            };
            self.fail_returned(&returned, at, text);
        }
        if let Some(next) = self.dispatcher.next_returned_deadline() {
            self.connections.wake_by(next);
        }
        for token in self.connections.tokens().chain(self.connections.draining()) {
            match self.connections.check(io, token, now) {
                Due::Nothing => {}
                Due::Exchange => self.time_out_exchanges(io, token, now),
                Due::Attempt(attempt) => {
                    let problem = Problem::new(attempt.stage, "not connected until the deadline");
                    self.fail_attempt(attempt, token, attempt.deadline, &problem);
                    self.connections.close(io, token);
                    self.reconnect_lost(io, token, now);
                }
            }
        }
    }

    fn time_out_exchanges(&mut self, io: &mut impl Transport, token: Token, now: Nanos) {
        let mut ends_with_window = false;
        while let Some(exchange) = self.connections.at(token).take_overdue(now) {
            let at = exchange.deadline.min(now);
            if let Some(missing) = self.missing_at_end(&exchange) {
                exchange.silence_ns(at).into_iter().for_each(|silence_ns| self.recorder.record_silence(silence_ns));
                self.finish_subscription(at, &missing, &exchange.times);
                ends_with_window = true;
            } else {
                let text = match self.longest_push.filter(|_| exchange.deadline == exchange.last_deadline) {
                    Some(longest) => {
                        format!("the stream had no end after {}; {ENDLESS}", duration(longest.as_secs_f64()))
                    }
                    None => format!("{}{}", timeout_text(self.setup.protocol), exchange.progress()),
                };
                self.finish(&exchange, at, Some(&Problem::new(ErrorClass::Timeout, text)));
            }
            self.end_exchange(token, now, self.connections.takes_requests(token));
        }
        // Requests on other streams may still be answered.
        if self.connections.at(token).is_retired() && self.connections.at(token).under_way() == 0 {
            if ends_with_window {
                return self.close_if_retired(io, token, now);
            }
            self.remove_places(token);
            self.connections.close(io, token);
            self.recorder.record_connection_lost();
            return self.reconnect_lost(io, token, now);
        }
        self.flush_later(token);
        if let Some(next) = self.connections.at(token).next_deadline() {
            self.connections.wake_by(next);
        }
    }
}

/// CPU time of this thread so far, and the part spent polling without an event.
fn spent(clock: &impl Clock, wait_policy: &WaitPolicy) -> CpuTimes {
    CpuTimes { cpu_ns: clock.thread_cpu_ns(), spun_ns: wait_policy.spun_ns }
}
