//! Puts requests on connections: those that are due, and those with which an exchange goes on.

use tare_sys::clock::{Clock, Nanos};
use tare_sys::poll::{Token, Transport};

use super::SliceRunner;
use crate::protocol::connection::{Exchange, Returned};
use crate::recorder::Times;

impl<C: Clock> SliceRunner<C> {
    /// After a batch of events: assigns due requests to free places, and sends what was gathered. To read all answers of a
    /// batch before the next request leaves costs less than to read and send in turn: 2 % of a GET over 1,000 connections.
    pub(in super::super) fn send_due(&mut self, io: &mut impl Transport) {
        if self.recorder.is_active() { self.dispatch(io) } else { self.flush(io) }
    }

    /// Assigns due requests to free places, then sends what was gathered.
    pub(super) fn dispatch(&mut self, io: &mut impl Transport) {
        while let Some((token, returned)) = self.dispatcher.next_returned() {
            self.send_again(io, token, returned);
        }
        while let Some((token, now, request, times)) = self.dispatcher.next_departure(&self.clock) {
            self.send(io, token, now, request, times);
        }
        self.dispatcher.freed = None;
        self.flush(io);
    }

    fn send(&mut self, io: &mut impl Transport, token: Token, now: Nanos, request: usize, times: Times) {
        let deadline = times.intended + self.setup.timeout;
        let mut exchange = Exchange::new(&self.setup.requests, request, times, deadline);
        exchange.last_deadline = self.longest_push.map_or(Nanos::MAX, |longest| times.intended + longest);
        let bytes = self.connections.at(token).begin(io, token, exchange, &mut self.dispatcher.cursor);
        self.note_begun(token, deadline, bytes, now);
        self.note_early_message(token, now);
    }

    fn send_again(&mut self, io: &mut impl Transport, token: Token, Returned { exchange, parts, .. }: Returned) {
        let (now, deadline) = (self.now(), exchange.deadline);
        let bytes = self.connections.at(token).begin_parts(io, token, exchange, parts);
        self.note_begun(token, deadline, bytes, now);
    }

    /// Keeps a request until a connection sends it. Its place is free for another request, or for this one again.
    pub(super) fn take_back(&mut self, returned: Returned, token: Token, at: Nanos, takes_requests: bool) {
        if let Some(status) = returned.redirected {
            self.recorder.record_redirect(&returned.exchange.times, status);
            self.connections.reset_backoff(token);
        }
        self.connections.wake_by(returned.exchange.deadline);
        self.dispatcher.take_back(returned);
        let place = self.connections.place_of(token);
        if self.takes_part(place) {
            let takes_requests = if place == token { takes_requests } else { self.connections.takes_requests(place) };
            self.dispatcher.give_place(place, at, takes_requests);
        }
    }

    fn note_begun(&mut self, token: Token, deadline: Nanos, bytes: usize, now: Nanos) {
        self.connections.wake_by(deadline);
        self.wait_policy.note_send(now);
        self.recorder.record_sent_bytes(now, bytes);
        self.flush_later(token);
        if self.connections.at(token).is_retired() {
            self.remove_places(token);
        }
    }

    /// Records what the server sent before the first request of a connection, as an event, once a request follows.
    pub(super) fn note_early_message(&mut self, token: Token, at: Nanos) {
        if let Some(problem) = self.connections.at(token).take_early_message_problem() {
            self.recorder.record_connection_failure(at, &problem);
        }
    }

    /// Makes the next flush send bytes that the protocol has prepared after an event.
    pub(super) fn flush_later(&mut self, token: Token) {
        if self.connections.at(token).wants_flush() {
            self.connections.flush_later(token);
        }
    }

    pub(super) fn flush(&mut self, io: &mut impl Transport) {
        while let Some(bytes) = self.connections.flush_next(io) {
            self.recorder.record_sent_bytes(self.clock.now(), bytes);
        }
    }
}
