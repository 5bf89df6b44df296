//! Requests over HTTP/2: each stream is answered by itself, after its own planted delay. Faults, WebSockets and streams of
//! events are of HTTP/1.1.

use bytes::Bytes;
use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{Token, Transport};
use tare_sys::readiness::ReadinessTransport;

use super::Server;
use crate::contract::Answer;
use crate::http2::{Http2, Stream};
use crate::request::Request;
use crate::timers::Action;

impl Server<'_> {
    pub(super) fn receive_http2(&mut self, io: &mut ReadinessTransport, token: Token, at: Nanos, bytes: &[u8]) {
        let received = self.http2(token).map_or(Err(()), |http2| http2.receive(at, bytes));
        if received.is_err() {
            return self.drop_connection(io, token);
        }
        self.answer_arrived(token);
        self.send_written(io, token);
    }

    fn http2(&mut self, token: Token) -> Option<&mut Http2> {
        self.connection(token)?.http2.as_deref_mut()
    }

    fn answer_arrived(&mut self, token: Token) {
        let Some(http2) = self.http2(token) else { return };
        for mut stream in std::mem::take(&mut http2.arrived) {
            stream.nth = self.requests;
            self.requests += 1;
            let Request { method, path, body_bytes, .. } = &stream.request;
            let Answer { status, body, .. } = Answer::to(method, path, *body_bytes, self.options);
            let delay = self.costs.burn_for_request();
            if delay.is_zero() {
                self.answer_stream(token, stream, status, body.into());
            } else {
                let action = Action::Answer { stream: Box::new(stream), status, body: body.into() };
                self.plan(token, clock::now() + delay, action);
            }
        }
    }

    pub(super) fn answer_stream(&mut self, token: Token, stream: Stream, status: u16, body: Bytes) {
        if let Some(http2) = self.http2(token) {
            http2.answer(stream, status, body);
        }
    }

    pub(super) fn send_written(&mut self, io: &mut ReadinessTransport, token: Token) {
        let written = self.http2(token).map_or(Err(()), Http2::drain_written);
        let Ok((bytes, answered)) = written else { return self.drop_connection(io, token) };
        answered.into_iter().for_each(|(nth, received)| self.note_served(nth, received));
        if !bytes.is_empty() {
            io.send_bytes(token, &bytes);
        }
    }
}
