//! A WebSocket on one connection: its handshake, then exchanges one at a time, or a subscription to pushed messages.

use std::collections::VecDeque;
use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_sys::clock::{self, Nanos};
use tare_sys::poll::{Payload, Token, Transport};
use tare_wire::ws::{Arrival, Endpoint, Handshake, Kind, Stamped};

use super::connection::{Exchange, Step};
use crate::input::request::{Body, Parts, RequestSet};
use crate::problem::{Problem, escape};
use crate::protocol::conversation::Push;

#[derive(Debug, Default)]
pub(crate) struct WebSocket {
    base: Arc<str>,
    /// Until it is open.
    handshake: Option<Handshake>,
    /// Once it is open.
    endpoint: Option<Endpoint>,
    /// What the server pushes; `None` if it only answers.
    push: Option<Push>,
    /// A request that waits for its answer, or a subscription.
    under_way: Option<Exchange>,
    is_retired: bool,
    /// Messages of the subscription that have not left: each waits for a message of the server to the one before.
    unsent: VecDeque<Vec<u8>>,
    /// Whether the subscription has sent a message.
    has_subscribed: bool,
    /// The problem of the first message that arrived before any request.
    early_message_problem: Option<Problem>,
    has_sent_request: bool,
    /// Whether the bytes to be read arrived together with the handshake's, and so before any request.
    arrived_with_handshake: bool,
    ping_sent_at: Option<Nanos>,
    /// When it was opened, by the wall clock. Stamps of messages are near it.
    opened_unix_ns: u64,
}

impl WebSocket {
    pub(crate) fn new(base: Arc<str>, push: Option<Push>) -> Self {
        Self { base, push, ..Self::default() }
    }

    /// Starts the handshake on a new connection; returns the bytes to send.
    pub(crate) fn start_handshake(&mut self, parts: &Parts) -> Result<Payload, Problem> {
        let host = self.base.split_once("://").map_or(&*self.base, |(_, host)| host);
        let begun = Handshake::begin(&parts.path, host, &parts.headers);
        let (handshake, request) = begun.map_err(|error| Problem::new(ErrorClass::Write, error.to_string()))?;
        (self.handshake, self.endpoint) = (Some(handshake), None);
        self.early_message_problem = None;
        self.has_sent_request = false;
        Ok(request.into())
    }

    /// Reads bytes of the handshake's answer. Returns whether the WebSocket is open.
    pub(crate) fn on_handshake_bytes(&mut self, bytes: &mut &[u8]) -> Result<bool, Problem> {
        let Some(handshake) = &mut self.handshake else { return Ok(true) };
        let received = handshake.receive(bytes);
        let is_open = received.map_err(|error| Problem::new(ErrorClass::Upgrade, error))?;
        if is_open {
            (self.handshake, self.endpoint) = (None, Some(Endpoint::client()));
            self.opened_unix_ns = clock::wall_unix_ns();
            self.arrived_with_handshake = !bytes.is_empty();
        }
        Ok(is_open)
    }

    /// The status of the handshake's answer; 0 before it has come.
    pub(crate) fn handshake_status(&self) -> u16 {
        self.handshake.as_ref().map_or(0, Handshake::status)
    }

    pub(crate) fn open(&mut self) {
        self.under_way = None;
        self.is_retired = false;
        self.ping_sent_at = None;
    }

    pub(crate) fn under_way(&self) -> usize {
        usize::from(self.under_way.is_some())
    }

    pub(crate) const fn is_retired(&self) -> bool {
        self.is_retired
    }

    pub(crate) const fn current_exchange(&mut self) -> Option<&mut Exchange> {
        self.under_way.as_mut()
    }

    /// Whether a flush must be requested for bytes such as the answer to a ping.
    pub(crate) fn wants_flush(&self) -> bool {
        self.endpoint.as_ref().is_some_and(|endpoint| !endpoint.outgoing().is_empty())
    }

    /// Sends a message, or subscribes, with the first message of the subscription if it has any.
    pub(crate) fn begin(
        &mut self,
        io: &mut impl Transport,
        token: Token,
        mut exchange: Exchange,
        body: &[u8],
    ) -> usize {
        exchange.subscribe(self.push);
        self.under_way = Some(exchange);
        self.has_sent_request = true;
        if self.push.is_some() {
            self.unsent = Body::split_messages(body).map(<[u8]>::to_vec).collect();
            self.has_subscribed = self.send_unsent();
        } else {
            self.send_message(body);
        }
        self.flush(io, token)
    }

    fn send_message(&mut self, message: &[u8]) {
        if let Some(endpoint) = &mut self.endpoint
            && endpoint.send_message(Kind::Text, message).is_err()
        {
            // A message that is not text is sent as binary, which allows any bytes.
            let _ = endpoint.send_message(Kind::Binary, message);
        }
    }

    /// Prepares the next message of the subscription. Returns whether there was one.
    fn send_unsent(&mut self) -> bool {
        let Some(message) = self.unsent.pop_front() else { return false };
        self.send_message(&message);
        true
    }

    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        let Some(endpoint) = &mut self.endpoint else { return 0 };
        let bytes = endpoint.outgoing().len();
        if bytes > 0 {
            io.send_bytes(token, endpoint.outgoing());
            endpoint.clear_outgoing();
        }
        bytes
    }

    pub(crate) fn send_close(&mut self, io: &mut impl Transport, token: Token) {
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.send_close();
        }
        self.flush(io, token);
        (self.handshake, self.endpoint) = (None, None);
    }

    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        loop {
            let Some(endpoint) = &mut self.endpoint else { return Step::More };
            return match endpoint.receive(bytes) {
                Ok(None) => {
                    self.arrived_with_handshake = false;
                    Step::More
                }
                Ok(Some(Arrival::Ping)) => Step::Pinged,
                Ok(Some(Arrival::Pong(payload))) => {
                    match self.ping_sent_at.take_if(|sent| payload[..] == sent.0.to_be_bytes()) {
                        Some(sent) => Step::Ponged(sent),
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

    /// `None` for a message before any request, since later answers can still be assigned, and for one that the next
    /// message of a subscription has waited for.
    fn on_message(&mut self, message: &[u8], requests: &RequestSet) -> Option<Step> {
        if self.push.is_some() {
            let stamp = Stamped::from_message(message, self.opened_unix_ns);
            return (!self.send_unsent()).then_some(Step::Pushed(stamp));
        }
        if self.arrived_with_handshake || !self.has_sent_request {
            self.early_message_problem.get_or_insert_with(|| unrequested_message(message));
            return None;
        }
        let Some(mut exchange) = self.under_way.take() else { return Some(Step::Broken(unrequested_message(message))) };
        let expectation = &requests.get(exchange.request).expectation;
        exchange.answer.take_body(message, expectation);
        Some(exchange.complete(requests, &self.base))
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
        let why = close_frame.map_or("without a code".to_owned(), |(code, reason)| {
            format!("with code {code} \"{}\"", escape(reason.as_bytes()))
        });
        Step::Broken(Problem::new(ErrorClass::Read, format!("the server closed the WebSocket {why}")))
    }

    pub(crate) fn ping(&mut self, now: Nanos) {
        // One at a time: its pong may take longer than the next ping is away.
        if let Some(endpoint) = &mut self.endpoint
            && self.ping_sent_at.is_none()
        {
            endpoint.send_ping(&now.0.to_be_bytes());
            self.ping_sent_at = Some(now);
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.under_way.as_ref().map(|exchange| exchange.deadline)
    }

    /// Takes an overdue exchange and retires the connection, whose later bytes belong to it.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        let mut exchange = self.under_way.take_if(|exchange| exchange.deadline <= now)?;
        self.is_retired = true;
        if self.push.is_some() && !exchange.has_message() {
            exchange.answer.before_head = match (self.has_subscribed, self.unsent.is_empty()) {
                (false, _) => "if the server pushes only after a subscription, send that with --subscribe",
                (true, true) => "all messages of --subscribe were sent; are they what the server expects?",
                (true, false) => "the server did not answer a message of --subscribe, and the next one waits for that",
            };
        }
        Some(exchange)
    }

    pub(crate) const fn take_any(&mut self) -> Option<Exchange> {
        self.under_way.take()
    }

    /// Ends a subscription, and the connection with it.
    pub(crate) fn unsubscribe(&mut self) -> Option<Exchange> {
        let exchange = self.under_way.take()?;
        self.is_retired = true;
        Some(exchange)
    }
}

fn unrequested_message(message: &[u8]) -> Problem {
    Problem::new(ErrorClass::Protocol, format!("a message without a request: \"{}\"", escape(message)))
}
