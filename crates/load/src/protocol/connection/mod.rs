//! The exchanges under way on one connection. Each protocol turns requests into bytes and bytes into answers, and calls
//! only the transport that it sends on. When to open, retry or time out is decided by the worker.

mod exchange;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tare_sys::clock::Nanos;
use tare_sys::poll::{CloseCause, Payload, Token, Transport};
use tare_wire::ws::Stamped;

use super::http1::Http1;
use super::http2::Http2;
use super::websocket::WebSocket;
use crate::input::request::{Parts, RequestCursor, RequestSet};
use crate::problem::Problem;
use crate::protocol::{Protocol, push_of, speaks_http2};
use crate::recorder::Times;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::pushed_message::PushedMessage;

pub(crate) use self::exchange::{AnswerSink, Exchange};

/// One connection and its exchanges: its protocol, and how far that is.
#[derive(Debug)]
pub(crate) enum Connection {
    Http1(Box<Http1>),
    Http2(Box<Http2>),
    WebSocket(Box<WebSocket>),
}

/// What received bytes led to. After any variant but `More` and `Broken`, bytes may be left.
#[derive(Debug)]
pub(crate) enum Step {
    /// All bytes were taken.
    More,
    /// An exchange has ended: completed if it has no problem, else failed.
    Finished(Exchange, Option<Problem>),
    /// A request is to be sent, by any connection: the server has not processed it, or a redirect leads to it.
    Returned(Returned),
    Pushed(Option<Stamped>),
    /// The server ended a stream of events at its time.
    StreamEnded,
    /// A ping of the server was answered.
    Pinged,
    /// The server answered a ping that was sent at this moment.
    Ponged(Nanos),
    /// The connection can no longer be used.
    Broken(Problem),
}

/// A request with which an exchange goes on.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) exchange: Exchange,
    pub(crate) parts: Arc<Parts>,
    /// The status of the redirect that led to it; `None` if the server sent it back unprocessed.
    pub(crate) redirected: Option<u16>,
}

macro_rules! on_state {
    ($connection:expr, $state:ident => $call:expr) => {
        match $connection {
            Connection::Http1($state) => $call,
            Connection::Http2($state) => $call,
            Connection::WebSocket($state) => $call,
        }
    };
}

impl Connection {
    /// A connection to the site at `base` (`http://127.0.0.1:8080`), not yet open.
    pub(crate) fn new(protocol: Protocol, base: &Arc<str>) -> Self {
        let (push, base) = (push_of(protocol), Arc::clone(base));
        match protocol {
            Protocol::Exchange | Protocol::Push { .. } => Self::WebSocket(Box::new(WebSocket::new(base, push))),
            _ if speaks_http2(protocol) => Self::Http2(Box::new(Http2::new(base, push))),
            _ => Self::Http1(Box::new(Http1::new(base, push, protocol.depth()))),
        }
    }

    /// The bytes that open the protocol on a new transport; `None` if it needs no handshake.
    pub(crate) fn start_handshake(&mut self, cursor: &mut RequestCursor) -> Option<Result<Payload, Problem>> {
        let Self::WebSocket(state) = self else { return None };
        // The session has checked that all requests open it with the same path and headers.
        Some(state.start_handshake(&cursor.parts(0)))
    }

    /// Takes bytes of the handshake's answer. Returns whether the connection is open.
    pub(crate) fn on_handshake_bytes(&mut self, bytes: &mut &[u8]) -> Result<bool, Problem> {
        let Self::WebSocket(state) = self else { return Ok(true) };
        state.on_handshake_bytes(bytes)
    }

    /// The status with which the server has answered the handshake under way; 0 if it has not, or none is.
    pub(crate) fn handshake_status(&self) -> u16 {
        let Self::WebSocket(state) = self else { return 0 };
        state.handshake_status()
    }

    /// Begins a connection whose handshake has succeeded.
    pub(crate) fn open(&mut self) {
        on_state!(self, state => state.open());
    }

    pub(crate) fn under_way(&self) -> usize {
        on_state!(self, state => state.under_way())
    }

    /// Whether it accepts no more requests. Those under way may still be answered.
    pub(crate) const fn is_retired(&self) -> bool {
        on_state!(self, state => state.is_retired())
    }

    /// Whether the caller must request a flush, for gathered requests or bytes that the protocol sends on its own.
    pub(crate) fn wants_flush(&mut self) -> bool {
        on_state!(self, state => state.wants_flush())
    }

    /// Sends or gathers the current request of `cursor`. Returns the number of bytes that were sent.
    pub(crate) fn begin(
        &mut self,
        io: &mut impl Transport,
        token: Token,
        exchange: Exchange,
        cursor: &mut RequestCursor,
    ) -> usize {
        let request = exchange.request;
        // A redirect changes a request by its parts.
        if cursor.set.follow() == 0
            && let Self::Http1(state) = self
        {
            return state.begin(io, token, exchange, cursor.encoded(request));
        }
        let parts = cursor.parts(request);
        self.begin_parts(io, token, exchange, parts)
    }

    /// The same for a request in parts, such as one that came back, or that may be redirected.
    pub(crate) fn begin_parts(
        &mut self,
        io: &mut impl Transport,
        token: Token,
        exchange: Exchange,
        parts: Arc<Parts>,
    ) -> usize {
        match self {
            Self::Http1(state) => state.begin_parts(io, token, exchange, &parts),
            Self::Http2(state) => state.begin(exchange, parts),
            Self::WebSocket(state) => state.begin(io, token, exchange, &parts.body),
        }
    }

    /// Sends gathered bytes, and returns their number. The connection must be open.
    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        on_state!(self, state => state.flush(io, token))
    }

    pub(crate) fn send_close(&mut self, io: &mut impl Transport, token: Token) {
        match self {
            Self::Http1(_) => {}
            Self::Http2(state) => drop(state.send_written(io, token)),
            Self::WebSocket(state) => state.send_close(io, token),
        }
    }

    /// Counts the message that was reported last, if there is a subscription. The next must arrive until `deadline`.
    pub(crate) fn push(&mut self, at: Nanos, sent: Option<(Nanos, Stamped)>, deadline: Nanos) -> Option<PushedMessage> {
        on_state!(self, state => state.current_exchange())?.count_message(at, sent, deadline)
    }

    /// Returns the problem of a message that the server sent before the first request, once there is a request.
    pub(crate) fn take_early_message_problem(&mut self) -> Option<Problem> {
        let Self::WebSocket(state) = self else { return None };
        state.take_early_message_problem()
    }

    pub(crate) fn ping(&mut self, now: Nanos) {
        if let Self::WebSocket(state) = self {
            state.ping(now);
        }
    }

    /// Ends the subscription of which something was reported last, correctly. Returns the messages that did not arrive.
    pub(crate) fn unsubscribe(&mut self) -> Option<(MissingMessages, Times)> {
        let exchange = on_state!(self, state => state.unsubscribe())?;
        Some((exchange.skipped()?, exchange.times))
    }

    /// Whether this end of the transport is also the end of an answer, which is then to be received.
    pub(crate) fn completes_answer(&mut self, cause: &CloseCause) -> bool {
        let Self::Http1(state) = self else { return false };
        state.completes_answer(cause)
    }

    /// Notes when the bytes came that are received next: requests leave then that a server had no stream for.
    pub(crate) const fn note_arrival(&mut self, at: Nanos) {
        if let Self::Http2(state) = self {
            state.received_at = at;
        }
    }

    /// Takes received bytes up to the end of the next exchange. Call it until it returns `Step::More`.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        on_state!(self, state => state.receive(bytes, requests))
    }

    /// The problem of all exchanges under way when the transport ends and completes no answer.
    pub(crate) fn problem_of_end(&self, cause: &CloseCause) -> Problem {
        match self {
            Self::Http1(state) => state.problem_of_end(cause),
            Self::Http2(state) => state.problem_of_end(cause),
            Self::WebSocket(_) => Problem::of_end_within(cause, "connection closed inside the WebSocket"),
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        on_state!(self, state => state.next_deadline())
    }

    /// Removes an exchange that is overdue, or that cannot be answered because another is overdue.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        on_state!(self, state => state.take_overdue(now))
    }

    /// Removes any exchange, because the connection can no longer be used.
    pub(crate) fn take_any(&mut self) -> Option<Exchange> {
        on_state!(self, state => state.take_any())
    }
}
