//! A WebSocket on one connection: its handshake, then exchanges one at a time, or a subscription to pushed messages.

mod subscription;

use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::payload::Payload;
use tare_sys::poll::{CloseCause, Token, Transport};
use tare_wire::http::Sink;
use tare_wire::ws::{Arrival, Endpoint, Handshake, Kind, Stamped};

use self::subscription::Subscription;
use super::connection::{Begun, Ended, Exchange, Step};
use crate::input::request::{Parts, RequestSet};
use crate::problem::{Problem, escape};
use crate::protocol::answer::Judge;
use crate::protocol::conversation::Conversation;
use crate::recorder::owed::Owed;
use crate::recorder::pushed::Pushed;

/// The state of one connection that carries a WebSocket.
#[derive(Debug)]
pub(crate) struct WebSocket {
    conversation: Conversation,
    /// Scheme and authority of the server.
    base: Arc<str>,
    state: WebSocketState,
    /// A request that waits for its answer, or a subscription.
    under_way: Option<Exchange>,
    subscription: Subscription,
    /// Why the first message before any request is wrong.
    greeting: Option<Problem>,
    has_asked: bool,
    /// Whether the bytes to be read came together with the handshake's, and so before any request.
    came_with_handshake: bool,
    /// When the unanswered ping was sent.
    pinged: Option<Nanos>,
    is_retired: bool,
}

#[derive(Debug)]
enum WebSocketState {
    /// There is no connection.
    None,
    Greeting(Handshake),
    Stands(Endpoint),
}

impl WebSocket {
    pub(crate) fn new(conversation: Conversation, base: Arc<str>) -> Self {
        let subscription = Subscription::default();
        Self {
            conversation,
            base,
            state: WebSocketState::None,
            under_way: None,
            subscription,
            greeting: None,
            has_asked: false,
            came_with_handshake: false,
            pinged: None,
            is_retired: false,
        }
    }

    /// Starts the handshake on a new connection; returns the bytes to send.
    ///
    /// # Errors
    /// When path or headers cannot be sent.
    pub(crate) fn start_handshake(&mut self, parts: &Parts) -> Result<Payload, Problem> {
        let host = self.base.split_once("://").map_or(&*self.base, |(_, host)| host);
        let begun = Handshake::begin(&parts.path, host, &parts.headers);
        let (handshake, request) = begun.map_err(|error| Problem::new(ErrorClass::Write, error.to_string()))?;
        self.state = WebSocketState::Greeting(handshake);
        self.greeting = None;
        self.has_asked = false;
        Ok(request.into())
    }

    /// Reads bytes of the handshake's answer. Returns whether the WebSocket is open.
    ///
    /// # Errors
    /// When the server does not open a WebSocket.
    pub(crate) fn on_handshake_bytes(&mut self, bytes: &mut &[u8]) -> Result<bool, Problem> {
        let WebSocketState::Greeting(handshake) = &mut self.state else { return Ok(true) };
        let heard = handshake.receive(bytes);
        let stands = heard.map_err(|error| Problem::new(ErrorClass::Upgrade, error.to_string()))?;
        if stands {
            self.state = WebSocketState::Stands(Endpoint::client());
            self.came_with_handshake = !bytes.is_empty();
        }
        Ok(stands)
    }

    /// Forgets the exchanges of the connection before.
    pub(crate) fn open(&mut self) {
        self.under_way = None;
        self.pinged = None;
        self.is_retired = false;
    }

    pub(crate) fn under_way(&self) -> usize {
        usize::from(self.under_way.is_some())
    }

    pub(crate) const fn is_retired(&self) -> bool {
        self.is_retired
    }

    /// Whether a flush must be requested for bytes such as the answer to a ping.
    pub(crate) fn wants_flush(&self) -> bool {
        matches!(&self.state, WebSocketState::Stands(endpoint) if !endpoint.outgoing().is_empty())
    }

    /// Sends a message, or subscribes, which sends nothing.
    pub(crate) fn begin(&mut self, io: &mut impl Transport, token: Token, exchange: Exchange, message: &[u8]) -> Begun {
        self.under_way = Some(exchange);
        self.has_asked = true;
        self.subscription = Subscription::default();
        if let (Conversation::Exchanges, WebSocketState::Stands(endpoint)) = (self.conversation, &mut self.state)
            && endpoint.send_message(Kind::Text, message).is_err()
        {
            // A message that is not text is sent as binary, which allows any bytes.
            let _ = endpoint.send_message(Kind::Binary, message);
        }
        Begun::Sent { bytes: self.flush(io, token) }
    }

    /// Sends the prepared bytes, and returns their number.
    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        let WebSocketState::Stands(endpoint) = &mut self.state else { return 0 };
        let bytes = endpoint.outgoing().len();
        if bytes > 0 {
            io.send(token, &endpoint.outgoing().into());
            endpoint.clear_outgoing();
        }
        bytes
    }

    /// Sends a close frame.
    pub(crate) fn say_goodbye(&mut self, io: &mut impl Transport, token: Token) {
        if let WebSocketState::Stands(endpoint) = &mut self.state {
            endpoint.send_close();
        }
        self.flush(io, token);
        self.state = WebSocketState::None;
    }

    /// Reads bytes up to the next event.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        loop {
            let WebSocketState::Stands(endpoint) = &mut self.state else { return Step::More };
            return match endpoint.receive(bytes) {
                Ok(None) => {
                    self.came_with_handshake = false;
                    Step::More
                }
                Ok(Some(Arrival::Ping)) => Step::Pinged,
                Ok(Some(Arrival::Pong(brought))) => {
                    match self.pinged.take_if(|sent| brought[..] == sent.0.to_be_bytes()) {
                        Some(sent) => Step::Ponged { sent },
                        // It has no meaning, and a server may send any number of them.
                        None => continue,
                    }
                }
                Ok(Some(Arrival::Message(_, message))) => match self.on_message(&message, requests) {
                    Some(step) => step,
                    None => continue,
                },
                Ok(Some(Arrival::Close(said))) => self.on_close(said),
                Err(error) => Step::Broken(Problem::new(ErrorClass::Protocol, error.to_string())),
            };
        }
    }

    /// What a message leads to; `None` for one before any request, behind which the answers are still told apart.
    fn on_message(&mut self, message: &[u8], requests: &RequestSet) -> Option<Step> {
        if let Conversation::Push(push) = self.conversation {
            return Some(Step::Pushed(push.stamp.of(message)));
        }
        if self.came_with_handshake || !self.has_asked {
            self.greeting.get_or_insert_with(|| unasked(message));
            return None;
        }
        let Some(mut exchange) = self.under_way.take() else { return Some(Step::Broken(unasked(message))) };
        let expectation = &requests.get(exchange.request).expectation;
        Judge { seen: &mut exchange.seen, expectation }.body(message);
        Some(Step::Finished { times: exchange.times, problem: exchange.seen.verdict(expectation) })
    }

    /// Takes the problem of a message before any request, once there is a request.
    pub(crate) fn take_greeting(&mut self) -> Option<Problem> {
        if self.has_asked { self.greeting.take() } else { None }
    }

    fn on_close(&mut self, said: Option<(u16, String)>) -> Step {
        self.is_retired = true;
        if self.under_way.is_none() {
            return Step::More;
        }
        let why = said.map_or("without a code".to_owned(), |(code, reason)| format!("with code {code} \"{reason}\""));
        Step::Broken(Problem::new(ErrorClass::Read, format!("the server closed the WebSocket {why}")))
    }

    /// Prepares a ping that contains its send time.
    pub(crate) fn ping(&mut self, now: Nanos) {
        if let WebSocketState::Stands(endpoint) = &mut self.state {
            endpoint.send_ping(&now.0.to_be_bytes());
            self.pinged = Some(now);
        }
    }

    /// Counts a message that was pushed at this moment or earlier. Returns `None` without a subscription, or if the
    /// message was sent before it. The next message must arrive until `deadline`.
    pub(crate) fn push(&mut self, at: Nanos, sent: Option<(Nanos, Stamped)>, deadline: Nanos) -> Option<Pushed> {
        let (Conversation::Push(push), Some(exchange)) = (self.conversation, &mut self.under_way) else { return None };
        exchange.deadline = deadline;
        let moment = sent.map_or(at, |(sent, _)| sent);
        (moment >= exchange.times.intended).then(|| self.subscription.take(&push, at, sent))
    }

    /// Ends the subscription correctly. Returns its missing messages.
    pub(crate) fn unsubscribe(&mut self) -> Option<Owed> {
        let Conversation::Push(push) = self.conversation else { return None };
        let exchange = self.under_way.take()?;
        self.is_retired = true;
        Some(self.subscription.left_out(&push, exchange.times.intended))
    }

    /// Handles the end of the transport, which answers nothing.
    pub(crate) fn end(&mut self, cause: &CloseCause) -> Ended {
        let problem = match cause {
            CloseCause::EndOfStream => Problem::new(ErrorClass::Read, "connection closed inside the WebSocket"),
            cause => Problem::of_end(cause),
        };
        Ended { finished: None, problem }
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.under_way.as_ref().map(|exchange| exchange.deadline)
    }

    /// An answer after the deadline could be mistaken for the answer to another request, so the connection is given up.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        self.under_way.as_ref().filter(|exchange| exchange.deadline <= now)?;
        self.is_retired = true;
        self.take_any()
    }

    /// A subscription that is given up has missed the rest of its messages.
    pub(crate) fn take_any(&mut self) -> Option<Exchange> {
        let exchange = self.under_way.take()?;
        let owed = match self.conversation {
            Conversation::Push(push) => Some(self.subscription.owed(&push, exchange.times.intended)),
            Conversation::Exchanges => None,
        };
        Some(Exchange { owed, ..exchange })
    }
}

/// The problem of a message that answers no request.
fn unasked(message: &[u8]) -> Problem {
    Problem::new(ErrorClass::Protocol, format!("a message without a request: \"{}\"", escape(message)))
}
