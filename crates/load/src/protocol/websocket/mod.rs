//! A WebSocket on one connection: its handshake, then exchanges one at a time, or a subscription to pushed messages.

use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::payload::Payload;
use tare_sys::poll::{CloseCause, Token, Transport};
use tare_wire::http::Sink;
use tare_wire::ws::{Arrival, Endpoint, Handshake, Kind, Stamped};

use super::connection::{Begun, Ended, Exchange, Step};
use crate::input::request::{Parts, RequestSet};
use crate::problem::{Problem, escape};
use crate::protocol::answer::AnswerChecker;
use crate::protocol::conversation::Conversation;
use crate::protocol::subscription::Subscription;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::pushed_message::PushedMessage;

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
    /// The problem of the first message that arrived before any request.
    early_message_problem: Option<Problem>,
    has_sent_request: bool,
    /// Whether the bytes to be read arrived together with the handshake's, and so before any request.
    arrived_with_handshake: bool,
    /// When the unanswered ping was sent.
    ping_sent_at: Option<Nanos>,
    is_retired: bool,
}

#[derive(Debug)]
enum WebSocketState {
    /// There is no connection.
    Closed,
    Handshake(Handshake),
    Open(Endpoint),
}

impl WebSocket {
    pub(crate) fn new(conversation: Conversation, base: Arc<str>) -> Self {
        let subscription = Subscription::default();
        Self {
            conversation,
            base,
            state: WebSocketState::Closed,
            under_way: None,
            subscription,
            early_message_problem: None,
            has_sent_request: false,
            arrived_with_handshake: false,
            ping_sent_at: None,
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
        self.state = WebSocketState::Handshake(handshake);
        self.early_message_problem = None;
        self.has_sent_request = false;
        Ok(request.into())
    }

    /// Reads bytes of the handshake's answer. Returns whether the WebSocket is open.
    ///
    /// # Errors
    /// When the server does not open a WebSocket.
    pub(crate) fn on_handshake_bytes(&mut self, bytes: &mut &[u8]) -> Result<bool, Problem> {
        let WebSocketState::Handshake(handshake) = &mut self.state else { return Ok(true) };
        let received = handshake.receive(bytes);
        let is_open = received.map_err(|error| Problem::new(ErrorClass::Upgrade, error.to_string()))?;
        if is_open {
            self.state = WebSocketState::Open(Endpoint::client());
            self.arrived_with_handshake = !bytes.is_empty();
        }
        Ok(is_open)
    }

    /// Resets the state for a new connection.
    pub(crate) fn open(&mut self) {
        self.under_way = None;
        self.ping_sent_at = None;
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
        matches!(&self.state, WebSocketState::Open(endpoint) if !endpoint.outgoing().is_empty())
    }

    /// Sends a message, or subscribes, which sends nothing.
    pub(crate) fn begin(&mut self, io: &mut impl Transport, token: Token, exchange: Exchange, message: &[u8]) -> Begun {
        self.under_way = Some(exchange);
        self.has_sent_request = true;
        self.subscription = Subscription::default();
        if let (Conversation::Exchanges, WebSocketState::Open(endpoint)) = (self.conversation, &mut self.state)
            && endpoint.send_message(Kind::Text, message).is_err()
        {
            // A message that is not text is sent as binary, which allows any bytes.
            let _ = endpoint.send_message(Kind::Binary, message);
        }
        Begun::Sent { bytes: self.flush(io, token) }
    }

    /// Sends the prepared bytes, and returns their number.
    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        let WebSocketState::Open(endpoint) = &mut self.state else { return 0 };
        let bytes = endpoint.outgoing().len();
        if bytes > 0 {
            io.send_bytes(token, endpoint.outgoing());
            endpoint.clear_outgoing();
        }
        bytes
    }

    /// Sends a close frame.
    pub(crate) fn send_close(&mut self, io: &mut impl Transport, token: Token) {
        if let WebSocketState::Open(endpoint) = &mut self.state {
            endpoint.send_close();
        }
        self.flush(io, token);
        self.state = WebSocketState::Closed;
    }

    /// Reads bytes up to the next event.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        loop {
            let WebSocketState::Open(endpoint) = &mut self.state else { return Step::More };
            return match endpoint.receive(bytes) {
                Ok(None) => {
                    self.arrived_with_handshake = false;
                    Step::More
                }
                Ok(Some(Arrival::Ping)) => Step::Pinged,
                Ok(Some(Arrival::Pong(payload))) => {
                    match self.ping_sent_at.take_if(|sent| payload[..] == sent.0.to_be_bytes()) {
                        Some(sent) => Step::Ponged { sent },
                        // An unsolicited pong has no meaning, and a server may send any number of them.
                        None => continue,
                    }
                }
                Ok(Some(Arrival::Message(_, message))) => match self.on_message(&message, requests) {
                    Some(step) => step,
                    None => continue,
                },
                Ok(Some(Arrival::Close(close_frame))) => self.on_close(close_frame),
                Err(error) => Step::Broken(Problem::new(ErrorClass::Protocol, error.to_string())),
            };
        }
    }

    /// Processes a message. Returns `None` for one that arrived before any request: later answers can still be assigned.
    fn on_message(&mut self, message: &[u8], requests: &RequestSet) -> Option<Step> {
        if let Conversation::Push(push) = self.conversation {
            return Some(Step::Pushed(push.stamp.of(message)));
        }
        if self.arrived_with_handshake || !self.has_sent_request {
            self.early_message_problem.get_or_insert_with(|| unrequested_message(message));
            return None;
        }
        let Some(mut exchange) = self.under_way.take() else { return Some(Step::Broken(unrequested_message(message))) };
        let expectation = &requests.get(exchange.request).expectation;
        AnswerChecker { answer: &mut exchange.answer, expectation }.body(message);
        let problem = exchange.answer.verdict(expectation);
        Some(Step::Finished { times: exchange.times(), problem })
    }

    /// Returns the problem of a message before any request, once there is a request.
    pub(crate) fn take_early_message_problem(&mut self) -> Option<Problem> {
        if self.has_sent_request { self.early_message_problem.take() } else { None }
    }

    fn on_close(&mut self, close_frame: Option<(u16, String)>) -> Step {
        self.is_retired = true;
        if self.under_way.is_none() {
            return Step::More;
        }
        let why =
            close_frame.map_or("without a code".to_owned(), |(code, reason)| format!("with code {code} \"{reason}\""));
        Step::Broken(Problem::new(ErrorClass::Read, format!("the server closed the WebSocket {why}")))
    }

    /// Prepares a ping that contains its send time.
    pub(crate) fn ping(&mut self, now: Nanos) {
        if let WebSocketState::Open(endpoint) = &mut self.state {
            endpoint.send_ping(&now.0.to_be_bytes());
            self.ping_sent_at = Some(now);
        }
    }

    /// Counts a message that was pushed at this moment or earlier. Returns `None` without a subscription, or if the
    /// message was sent before it. The next message must arrive until `deadline`.
    pub(crate) fn push(&mut self, at: Nanos, sent: Option<(Nanos, Stamped)>, deadline: Nanos) -> Option<PushedMessage> {
        let (Conversation::Push(push), Some(exchange)) = (self.conversation, &mut self.under_way) else { return None };
        exchange.deadline = deadline;
        let moment = sent.map_or(at, |(sent, _)| sent);
        (moment >= exchange.times().intended).then(|| self.subscription.count_message(&push, at, sent))
    }

    /// Ends the subscription correctly. Returns its missing messages.
    pub(crate) fn unsubscribe(&mut self) -> Option<MissingMessages> {
        let Conversation::Push(push) = self.conversation else { return None };
        let exchange = self.under_way.take()?;
        self.is_retired = true;
        Some(self.subscription.skipped(&push, exchange.times().intended))
    }

    /// Handles the end of the transport, which completes no exchange.
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

    /// Takes an overdue exchange and retires the connection: a late answer could be mistaken for that of another request.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        self.under_way.as_ref().filter(|exchange| exchange.deadline <= now)?;
        self.is_retired = true;
        self.take_any()
    }

    /// Takes the exchange under way. If it is a subscription, the rest of its messages count as missing.
    pub(crate) fn take_any(&mut self) -> Option<Exchange> {
        let mut exchange = self.under_way.take()?;
        exchange.missing = match self.conversation {
            Conversation::Push(push) => Some(self.subscription.missing_at_break(&push, exchange.times().intended)),
            Conversation::Exchanges => None,
        };
        Some(exchange)
    }
}

/// The problem of a message that answers no request.
fn unrequested_message(message: &[u8]) -> Problem {
    Problem::new(ErrorClass::Protocol, format!("a message without a request: \"{}\"", escape(message)))
}
