//! Requests over HTTP/2: each stream is answered by itself, after its own planted delay. Faults, WebSockets and streams of
//! events are of HTTP/1.1.

use bytes::Bytes;
use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{Token, Transport};
use tare_sys::readiness::ReadinessTransport;

use super::Server;
use crate::contract::Answer;
use crate::http2::Http2;
use crate::timers::Later;

impl Server<'_> {
    pub(super) fn receive_http2(&mut self, io: &mut ReadinessTransport, token: Token, at: Nanos, bytes: &[u8]) {
        let received = self.http2(token).map_or(Err(()), |http2| http2.receive(at, bytes));
        if received.is_err() {
            return self.drop_connection(io, token);
        }
        self.answer_arrived(token);
        self.send_written(io, token);
    }

    /// Answers a stream whose delay is over.
    pub(super) fn answer_later(&mut self, io: &mut ReadinessTransport, later: &Later) {
        self.answer_stream(later.token, later.stream, later.status, later.bytes.to_vec().into());
        self.send_written(io, later.token);
    }

    fn http2(&mut self, token: Token) -> Option<&mut Http2> {
        self.connection(token)?.http2.as_deref_mut()
    }

    fn answer_arrived(&mut self, token: Token) {
        loop {
            let nth = self.requests;
            let Some((stream, request)) = self.http2(token).and_then(|http2| http2.next_request(nth)) else { return };
            self.requests += 1;
            let Answer { status, body, .. } =
                Answer::to(&request.method, &request.path, request.body_bytes, self.options);
            let delay = self.costs.burn_for_request();
            if delay.is_zero() {
                self.answer_stream(token, stream, status, body.into());
                continue;
            }
            let Some(serial) = self.connection(token).map(|connection| connection.serial) else { return };
            let bytes = body.into_bytes().into();
            self.timers.add(clock::now() + delay, Later { token, serial, stream, status, bytes, is_last: true });
        }
    }

    fn answer_stream(&mut self, token: Token, stream: u32, status: u16, body: Bytes) {
        if let Some(http2) = self.http2(token) {
            http2.answer(stream, status, body);
        }
    }

    fn send_written(&mut self, io: &mut ReadinessTransport, token: Token) {
        let Self { connections, ledger, .. } = self;
        let connection = connections.get_mut(token.index()).and_then(Option::as_mut);
        let Some(http2) = connection.and_then(|connection| connection.http2.as_mut()) else { return };
        let sent = http2.drain_written(|bytes, answered| {
            answered.iter().for_each(|(nth, received)| ledger.add(*nth, *received, clock::now));
            if !bytes.is_empty() {
                io.send_bytes(token, bytes);
            }
        });
        if sent.is_err() {
            self.drop_connection(io, token);
        }
    }
}
