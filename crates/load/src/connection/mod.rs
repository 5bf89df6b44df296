//! One connection: what it is doing, and the exchanges that are under way on it. It decides nothing about other
//! connections or about time, and calls nobody but the transport that it sends on. How requests become bytes and bytes
//! become answers is each protocol's affair.

mod end;
mod exchange;
mod http1;
mod http2;
#[cfg(test)]
mod tests;
mod websocket;

use std::sync::Arc;

use tare_sys::clock::Nanos;
use tare_sys::payload::Payload;
use tare_sys::poll::{CloseCause, Token, Transport};
use tare_wire::ws::Stamped;

use self::http1::Http1;
use self::http2::Http2;
use self::websocket::WebSocket;
use crate::messages::Owed;
use crate::problem::Problem;
use crate::protocol::Protocol;
use crate::pushed::Pushed;
use crate::recorder::Times;
use crate::request::{Draw, Parts, RequestSet};
use crate::sample::ErrorClass;

pub(crate) use self::exchange::Exchange;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not open; to be opened again at this moment.
    Closed { retry_at: Nanos },
    /// Being opened; `stage` is the class of its failure if it goes on until the deadline.
    Connecting { since: Nanos, deadline: Nanos, stage: ErrorClass },
    /// Open, whether or not anything is under way.
    Open,
}

/// One connection and the exchanges that it carries.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: State,
    /// Ends without an answer in between: what the backing-off goes by.
    pub(crate) failures: u32,
    speech: Speech,
}

/// What is spoken, and how far it has come.
#[derive(Debug)]
enum Speech {
    Http1(Http1),
    Http2(Box<Http2>),
    WebSocket(Box<WebSocket>),
}

/// What has become of a request that was handed to a connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// So many bytes have left, those before it included.
    Sent { bytes: usize },
    /// It leaves with the next flush, which must be asked for.
    ToBeFlushed,
    /// It leaves with the flush that has been asked for.
    Gathered,
}

/// What bytes have led to.
#[derive(Debug)]
pub(crate) enum Step {
    /// All bytes were taken, and what is under way goes on.
    More,
    /// An exchange is over, for better or worse; bytes may be left.
    Settled { times: Times, problem: Option<Problem> },
    /// The server has not processed this request and will not: it may be asked elsewhere. Bytes may be left.
    Returned(Returned),
    /// The server sent a message of its own accord, with this stamp; bytes may be left.
    Pushed(Option<Stamped>),
    /// A ping was answered; bytes may be left.
    Pinged,
    /// A ping of ours was answered that was sent at this moment; bytes may be left.
    Ponged { sent: Nanos },
    /// The connection cannot be used any further.
    Broken(Problem),
}

/// A request that came back unprocessed, and what it said.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) exchange: Exchange,
    pub(crate) parts: Arc<Parts>,
}

/// What the end of the connection means for the exchanges under way.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The one that the end completes.
    pub(crate) settled: Option<(Times, Option<Problem>)>,
    /// The problem of all others.
    pub(crate) problem: Problem,
}

/// The same call on whatever is spoken.
macro_rules! speech {
    ($connection:expr, $speech:ident => $call:expr) => {
        match &mut $connection.speech {
            Speech::Http1($speech) => $call,
            Speech::Http2($speech) => $call,
            Speech::WebSocket($speech) => $call,
        }
    };
}

impl Connection {
    /// A connection to the site at `base` (`http://127.0.0.1:8080`), not yet open.
    pub(crate) fn new(protocol: Protocol, base: &Arc<str>) -> Self {
        let speech = match protocol {
            Protocol::Http1 { pipeline } => Speech::Http1(Http1::new(pipeline)),
            Protocol::Http2 { .. } => Speech::Http2(Box::new(Http2::new(Arc::clone(base)))),
            Protocol::WebSocket(conversation) => {
                Speech::WebSocket(Box::new(WebSocket::new(conversation, Arc::clone(base))))
            }
        };
        Self { state: State::Closed { retry_at: Nanos::ZERO }, failures: 0, speech }
    }

    /// What must be said on a new transport before the connection is open; `None` if nothing.
    pub(crate) fn greet(&mut self, draw: &mut Draw) -> Option<Result<Payload, Problem>> {
        let Speech::WebSocket(speech) = &mut self.speech else { return None };
        // All requests open it alike, which the session has made sure of.
        Some(speech.greet(&draw.parts(0)))
    }

    /// Takes bytes that answer what was said; whether the connection can be opened.
    pub(crate) fn hear(&mut self, bytes: &mut &[u8]) -> Result<bool, Problem> {
        let Speech::WebSocket(speech) = &mut self.speech else { return Ok(true) };
        speech.hear(bytes)
    }

    /// The connection can be used.
    pub(crate) fn open(&mut self) {
        self.state = State::Open;
        speech!(self, speech => speech.open());
    }

    /// How many exchanges are under way.
    pub(crate) fn under_way(&self) -> usize {
        match &self.speech {
            Speech::Http1(speech) => speech.under_way(),
            Speech::Http2(speech) => speech.under_way(),
            Speech::WebSocket(speech) => speech.under_way(),
        }
    }

    /// Whether nothing more can be asked on it; what is under way may still be answered.
    pub(crate) const fn is_retired(&self) -> bool {
        match &self.speech {
            Speech::Http1(speech) => speech.is_retired(),
            Speech::Http2(speech) => speech.is_retired(),
            Speech::WebSocket(speech) => speech.is_retired(),
        }
    }

    /// Whether it has failed, as opposed to having come to its end.
    pub(crate) const fn is_broken(&self) -> bool {
        match &self.speech {
            Speech::Http1(_) | Speech::WebSocket(_) => false,
            Speech::Http2(speech) => speech.is_broken(),
        }
    }

    /// Whether a flush is to be asked for after an event, for what a protocol says of its own accord.
    pub(crate) fn wants_flush(&mut self) -> bool {
        match &mut self.speech {
            Speech::Http1(_) => false,
            Speech::Http2(speech) => speech.wants_flush(),
            Speech::WebSocket(speech) => speech.wants_flush(),
        }
    }

    /// Lets the request leave whose turn it is.
    pub(crate) fn begin(
        &mut self,
        io: &mut impl Transport,
        token: Token,
        exchange: Exchange,
        draw: &mut Draw,
    ) -> Begun {
        match &mut self.speech {
            Speech::Http1(speech) => speech.begin(io, token, exchange, draw),
            Speech::Http2(speech) => {
                let parts = draw.parts(exchange.request);
                speech.begin(exchange, &parts)
            }
            Speech::WebSocket(speech) => {
                let parts = draw.parts(exchange.request);
                speech.begin(io, token, exchange, &parts.body)
            }
        }
    }

    /// Lets a request leave that came back from another connection.
    pub(crate) fn begin_again(&mut self, returned: Returned) -> Begun {
        match &mut self.speech {
            Speech::Http2(speech) => speech.begin(returned.exchange, &returned.parts),
            // They send nothing back.
            Speech::Http1(_) | Speech::WebSocket(_) => Begun::Gathered,
        }
    }

    /// Sends what waits to leave; how many bytes that were.
    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        if self.state != State::Open {
            return 0;
        }
        speech!(self, speech => speech.flush(io, token))
    }

    /// Says goodbye, where the protocol has a word for it.
    pub(crate) fn hang_up(&mut self, io: &mut impl Transport, token: Token) {
        if let Speech::WebSocket(speech) = &mut self.speech {
            speech.hang_up(io, token);
        }
    }

    /// Takes in a message that was pushed, if somebody has subscribed; the next is awaited until `deadline`.
    pub(crate) fn push(&mut self, at: Nanos, sent: Option<(Nanos, Stamped)>, deadline: Nanos) -> Option<Pushed> {
        let Speech::WebSocket(speech) = &mut self.speech else { return None };
        speech.push(at, sent, deadline)
    }

    /// Lays down a ping, where the protocol has such a thing; it leaves with the next flush.
    pub(crate) fn ping(&mut self, now: Nanos) {
        if let Speech::WebSocket(speech) = &mut self.speech {
            speech.ping(now);
        }
    }

    /// Ends a subscription in good order; the messages that were missing in it.
    pub(crate) fn unsubscribe(&mut self) -> Option<Owed> {
        let Speech::WebSocket(speech) = &mut self.speech else { return None };
        speech.unsubscribe()
    }

    /// Takes bytes that arrived, up to the end of the next exchange; to be called until it wants more.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        speech!(self, speech => speech.receive(bytes, requests))
    }

    /// Takes the end of the transport.
    pub(crate) fn end(&mut self, cause: &CloseCause, requests: &RequestSet) -> Ended {
        match &mut self.speech {
            Speech::Http1(speech) => speech.end(cause, requests),
            Speech::Http2(speech) => speech.end(cause),
            Speech::WebSocket(speech) => speech.end(cause),
        }
    }

    /// The first deadline of what is under way.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        match &self.speech {
            Speech::Http1(speech) => speech.next_deadline(),
            Speech::Http2(speech) => speech.next_deadline(),
            Speech::WebSocket(speech) => speech.next_deadline(),
        }
    }

    /// Gives up an exchange that is overdue, or that is lost with one that is.
    pub(crate) fn give_up_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        speech!(self, speech => speech.give_up_overdue(now))
    }

    /// Gives up any exchange: the connection is of no further use.
    pub(crate) fn give_up_any(&mut self) -> Option<Exchange> {
        speech!(self, speech => speech.give_up_any())
    }
}
