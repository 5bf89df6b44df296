//! What each event of a connection means to the slice.

use std::time::Duration;

use rustls::HandshakeKind;
use tare_sample::ErrorClass;
use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{CloseCause, Event, Handler, Token, Transport};
use tare_wire::ws::Stamped;

use super::SliceRunner;
use crate::problem::Problem;
use crate::protocol::connection::{Exchange, Step};
use crate::protocol::push_of;
use crate::recorder::Times;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::server_clock::ClockModel;

const NO_STREAM: &str = "a user got no stream before the load ended: the server permits no more at a time on a connection; use more \
                         connections (-c) with fewer streams each (--streams)";

impl<C: Clock, T: Transport> Handler<T> for SliceRunner<C> {
    fn on_event(&mut self, io: &mut T, token: Token, event: Event<'_>) {
        match event {
            Event::Received { at, bytes } => self.on_received(io, token, at, bytes),
            Event::Ending => self.on_ending(token),
            Event::Connected { at } => self.on_connected(io, token, at),
            Event::Closed { at, cause } => self.on_closed(io, token, at, &cause),
            // The poller sends the rest of a payload itself, and a client accepts no connections.
            _ => {}
        }
    }
}

impl<C: Clock> SliceRunner<C> {
    pub(in super::super) fn on_tls_established(&mut self, kind: HandshakeKind) {
        self.recorder.record_tls_handshake(kind == HandshakeKind::Resumed);
    }

    fn on_connected(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        self.wait_policy.note_event(at);
        let Some(attempt) = self.connections.attempt(token) else { return };
        let cursor = &mut self.dispatcher.cursor;
        cursor.values.user = token.index();
        match self.connections.at(token).start_handshake(cursor) {
            None => self.on_open(token, attempt.since, at),
            Some(Ok(request)) => {
                self.connections.set_stage(token, ErrorClass::Upgrade);
                self.recorder.record_sent_bytes(at, request.len());
                io.send(token, &request);
            }
            Some(Err(problem)) => self.fail_handshake(io, token, at, &problem),
        }
    }

    /// Returns whether the connection is open.
    fn on_handshake_bytes(&mut self, io: &mut impl Transport, token: Token, at: Nanos, bytes: &mut &[u8]) -> bool {
        let Some(attempt) = self.connections.attempt(token) else { return true };
        match self.connections.at(token).on_handshake_bytes(bytes) {
            Ok(is_open) => {
                if is_open {
                    self.on_open(token, attempt.since, at);
                }
                is_open
            }
            Err(problem) => {
                self.fail_handshake(io, token, at, &problem);
                false
            }
        }
    }

    /// Fails an attempt whose transport is open but whose protocol cannot be used.
    fn fail_handshake(&mut self, io: &mut impl Transport, token: Token, at: Nanos, problem: &Problem) {
        if let Some(attempt) = self.connections.attempt(token) {
            self.fail_attempt(attempt, token, at, problem);
            self.connections.close(io, token);
            self.reconnect_lost(io, token, at);
        }
    }

    fn on_open(&mut self, token: Token, since: Nanos, at: Nanos) {
        self.connections.set_open(token);
        self.recorder.record_connection_opened();
        self.dispatcher.note_blocked(at);
        if self.takes_part(token) {
            let busy = self.connections.draining_requests(token);
            self.dispatcher.open_places(token, since, at, busy);
        }
        self.flush_later(token);
    }

    fn on_received(&mut self, io: &mut impl Transport, token: Token, at: Nanos, mut bytes: &[u8]) {
        self.wait_policy.note_event(at);
        self.recorder.record_received_bytes(at, bytes.len());
        if !self.on_handshake_bytes(io, token, at, &mut bytes) {
            return;
        }
        self.dispatcher.note_blocked(at);
        self.connections.at(token).note_arrival(at);
        loop {
            match self.connections.at(token).receive(&mut bytes, &self.setup.requests) {
                Step::More => break,
                // By reference: an exchange is large, and is dropped where it lies.
                Step::Finished(ref exchange, ref problem) => {
                    self.finish(exchange, at, problem.as_ref());
                    self.connections.reset_backoff(token);
                    self.end_exchange(token, at, self.connections.takes_requests(token));
                }
                Step::Returned(returned) => {
                    self.take_back(returned, token, at, self.connections.takes_requests(token));
                }
                Step::Pushed(stamp) => {
                    if let Some(problem) = self.on_pushed(token, at, stamp) {
                        return self.fail_connection(io, token, at, &problem);
                    }
                }
                Step::StreamEnded => {
                    self.connections.reset_backoff(token);
                    self.unsubscribe(token, at);
                }
                Step::Pinged => self.recorder.record_ping(at),
                Step::Ponged(sent) => {
                    let at = self.arrival_time(sent, at);
                    self.recorder.record_pong(at.since(sent));
                }
                Step::Broken(problem) => return self.fail_connection(io, token, at, &problem),
            }
        }
        self.note_early_message(token, at);
        self.flush_later(token);
        self.close_if_retired(io, token, at);
    }

    /// The server ends an open connection: no request follows those under way. A new one would fail.
    fn on_ending(&mut self, token: Token) {
        if self.connections.is_open(token) {
            self.connections.note_ending(token);
            self.remove_places(token);
        }
    }

    /// Closes an open connection on which the server accepts no more requests, once nothing is under way on it.
    pub(super) fn close_if_retired(&mut self, io: &mut impl Transport, token: Token, at: Nanos) {
        if !self.connections.at(token).is_retired() {
            return;
        }
        self.remove_places(token);
        if self.connections.at(token).under_way() > 0 {
            return self.stranded.push(token);
        }
        self.connections.close(io, token);
        self.reconnect(io, token, at);
    }

    /// Records a pushed message. One that was sent after the window ends its subscription instead, in a slice of fixed
    /// count with the returned problem.
    fn on_pushed(&mut self, token: Token, at: Nanos, stamp: Option<Stamped>) -> Option<Problem> {
        let clock = self.server_clock.unwrap_or_default();
        let sent = clock.sent_at(stamp);
        let at = sent.map_or(at, |(sent, _)| self.arrival_time(sent, at));
        self.sample_clock(token, at, stamp);
        if !self.recorder.is_before_end(sent.map_or(at, |(sent, _)| sent)) {
            let has_end = push_of(self.setup.protocol).is_some_and(|push| push.messages.is_some());
            if has_end && self.recorder.wants_all() && self.connections.at(token).under_way() > 0 {
                return Some(Problem::new(ErrorClass::Timeout, "not all messages within the time of the slice"));
            }
            self.unsubscribe(token, at);
            return None;
        }
        let deadline = (at + self.setup.timeout).min(self.recorder.late_messages_until());
        self.connections.wake_by(deadline);
        let pushed = self.connections.at(token).push(at, sent, deadline)?;
        self.connections.reset_backoff(token);
        self.recorder.record_message(&pushed, clock.tolerance_ns());
        if pushed.is_last {
            self.unsubscribe(token, at);
        }
        None
    }

    /// The arrival time of what left at `sent`. Events are stamped `at` the begin of their batch, which may be earlier.
    fn arrival_time(&self, sent: Nanos, at: Nanos) -> Nanos {
        if sent > at { self.now() } else { at }
    }

    /// Records a sample of the server's clock, if that is not this machine's.
    fn sample_clock(&mut self, token: Token, at: Nanos, stamp: Option<Stamped>) {
        let at = match self.server_clock {
            Some(ClockModel { epoch: Some(_), estimate: Some(_) }) => at,
            Some(_) => return,
            None => {
                let now = self.now();
                let period = push_of(self.setup.protocol).map_or(Duration::ZERO, |push| push.period);
                // Half a period later both ends are as idle as before a message.
                self.ping.get_or_insert((now + period / 2, token));
                now
            }
        };
        if let Some(stamp) = stamp {
            self.recorder.record_clock_sample(stamp, at);
        }
    }

    fn unsubscribe(&mut self, token: Token, at: Nanos) {
        if let Some((missing, times)) = self.connections.at(token).unsubscribe() {
            self.finish_subscription(at, &missing, &times);
            self.end_exchange(token, at, self.connections.takes_requests(token));
        }
    }

    pub(super) fn finish_subscription(&mut self, at: Nanos, missing: &MissingMessages, times: &Times) {
        self.dispatcher.under_way -= 1;
        // Its user had nothing of a stream that the server permitted only when the window was over.
        if times.blocked_until.is_some_and(|until| !self.recorder.is_before_end(until)) {
            let (times, problem) =
                (Times { sent: None, status: 0, ..*times }, Problem::new(ErrorClass::Timeout, NO_STREAM));
            return self.recorder.record_failed_exchange(&times, at, &problem, Some(*missing));
        }
        self.recorder.record_unsubscribe(at, missing, times);
    }

    /// What did not arrive of a subscription whose server is silent at the end of the window; `None` where silence is a failure.
    pub(super) fn missing_at_end(&self, exchange: &Exchange) -> Option<MissingMessages> {
        let is_after_end = !self.recorder.is_before_end(exchange.deadline);
        let ends_with_window = is_after_end && !self.recorder.wants_all() && exchange.has_message();
        if ends_with_window { exchange.skipped() } else { None }
    }

    fn on_closed(&mut self, io: &mut impl Transport, token: Token, at: Nanos, cause: &CloseCause) {
        self.wait_policy.note_event(at);
        if let Some(attempt) = self.connections.attempt(token) {
            self.fail_attempt(attempt, token, at, &Problem::of_failed_connect(attempt.stage, cause, &self.setup.base));
            self.reconnect_lost(io, token, at);
        } else if self.connections.is_open(token) {
            self.on_open_closed(io, token, at, cause);
        }
    }

    fn on_open_closed(&mut self, io: &mut impl Transport, token: Token, at: Nanos, cause: &CloseCause) {
        self.remove_places(token);
        if self.connections.at(token).completes_answer(cause) {
            return self.on_received(io, token, at, &[]);
        }
        if self.connections.at(token).under_way() > 0 {
            let problem = self.connections.at(token).problem_of_end(cause);
            self.fail_all(token, at, &problem);
        } else if let CloseCause::TlsFailed(_) = cause {
            self.recorder.record_connection_failure(at, &Problem::of_end(cause));
        }
        self.recorder.record_connection_lost();
        self.reconnect_lost(io, token, at);
    }
}
