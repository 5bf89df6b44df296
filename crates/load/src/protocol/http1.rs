//! HTTP/1.1 on one connection: requests leave one after another, and answers arrive in the same order. A stream of
//! events is reported event by event.

use std::collections::VecDeque;
use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::poll::{CloseCause, Payload, Token, Transport};
use tare_wire::http::{ParseError, Progress, ResponseParser, begins_http2, begins_tls_alert, count_line_ends};

use super::answer::ONLY_INTERIM;
use super::connection::{AnswerSink, Exchange, Step};
use super::conversation::Push;
use crate::input::request::{Parts, RequestSet};
use crate::problem::{EXAMPLE_BYTES, Problem, escape, may_speak_tls};

/// Why a server may close a connection before an answer, although it has given others on it.
const ANSWERED_BEFORE: &str = "; it has carried answers before: let the server keep idle connections for longer (Node closes them \
                               after 5 s), or send Connection: close if it closes them after an answer without saying so";

/// Requests longer than this are not copied into the buffer of requests that leave together.
const MAX_GATHERED_BYTES: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Http1 {
    base: Arc<str>,
    /// What answers are streams of; `None` if they are no streams of events.
    push: Option<Push>,
    /// In the order in which they left.
    under_way: VecDeque<Exchange>,
    parser: ResponseParser,
    /// Requests that leave together at the next flush; only with pipelining.
    gathered: Vec<u8>,
    /// Their flush has been requested.
    awaits_flush: bool,
    is_pipelined: bool,
    /// The first bytes of an answer that arrives in pieces, for the example of an error.
    first_bytes: Vec<u8>,
    has_answered: bool,
    /// The first answer has ended with the connection, which was not reported yet.
    is_complete: bool,
    /// The server answers no more requests.
    is_retired: bool,
    /// A request has announced that the connection ends with its answer. No request may follow it.
    has_announced_close: bool,
}

impl Http1 {
    pub(crate) fn new(base: Arc<str>, push: Option<Push>, pipeline: u32) -> Self {
        // No room for more: a queue moves through all its room, and the exchanges of 1,000 connections are to stay in the cache.
        let under_way = VecDeque::with_capacity(pipeline as usize);
        Self { base, push, under_way, is_pipelined: pipeline > 1, ..Self::default() }
    }

    pub(crate) fn open(&mut self) {
        self.under_way.clear();
        self.gathered.clear();
        self.awaits_flush = false;
        self.first_bytes.clear();
        self.has_answered = false;
        self.is_retired = false;
        self.has_announced_close = false;
    }

    pub(crate) fn under_way(&self) -> usize {
        self.under_way.len()
    }

    pub(crate) const fn is_retired(&self) -> bool {
        self.is_retired || self.has_announced_close
    }

    /// Sends or gathers a request in parts, which are kept for a redirect.
    pub(crate) fn begin_parts(
        &mut self,
        io: &mut impl Transport,
        token: Token,
        mut exchange: Exchange,
        parts: &Arc<Parts>,
    ) -> usize {
        exchange.sent = Some(Arc::clone(parts));
        self.begin(io, token, exchange, parts.http1(&self.base))
    }

    /// Sends or gathers a request of these bytes.
    pub(crate) fn begin(
        &mut self,
        io: &mut impl Transport,
        token: Token,
        mut exchange: Exchange,
        bytes: &Payload,
    ) -> usize {
        if self.under_way.is_empty() {
            self.parser.expect_response(exchange.is_head);
        }
        exchange.subscribe(self.push);
        self.has_announced_close = exchange.announces_close;
        self.under_way.push_back(exchange);
        if self.is_pipelined && bytes.len() <= MAX_GATHERED_BYTES {
            self.gathered.extend_from_slice(bytes);
            return 0;
        }
        let before = self.flush(io, token);
        io.send(token, bytes);
        before + bytes.len()
    }

    pub(crate) fn wants_flush(&mut self) -> bool {
        !self.gathered.is_empty() && !std::mem::replace(&mut self.awaits_flush, true)
    }

    pub(crate) fn flush(&mut self, io: &mut impl Transport, token: Token) -> usize {
        self.awaits_flush = false;
        let bytes = self.gathered.len();
        if bytes > 0 {
            io.send_bytes(token, &self.gathered);
            self.gathered.clear();
        }
        bytes
    }

    /// Reads bytes up to the next event of a stream, or the end of the next answer.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        loop {
            let Some(exchange) = self.under_way.front_mut() else { return self.receive_idle(bytes) };
            if let Some(step) = exchange.next_report() {
                return step;
            }
            if std::mem::take(&mut self.is_complete) {
                return self.finish_first(requests);
            }
            if self.is_retired {
                return Step::Broken(unanswered_problem());
            }
            if bytes.is_empty() {
                return Step::More;
            }
            let expectation = &requests.get(exchange.request).expectation;
            match self.parser.feed(bytes, &mut AnswerSink { exchange, expectation }) {
                Ok(Progress::Complete { consumed, keeps_alive }) => {
                    *bytes = &bytes[consumed..];
                    self.first_bytes.clear();
                    self.has_answered = true;
                    self.is_retired = !keeps_alive;
                    match &mut exchange.subscription {
                        None => return self.finish_first(requests),
                        Some(subscription) => subscription.arrived.end(),
                    }
                }
                Ok(Progress::NeedsMore) if exchange.answer.is_too_long(expectation) => {
                    return Step::Broken(exchange.answer.too_long_problem(expectation));
                }
                Ok(Progress::NeedsMore) => {
                    self.keep_first_bytes(bytes);
                    *bytes = &[];
                }
                Err(error) => {
                    self.keep_first_bytes(bytes);
                    return Step::Broken(no_answer_problem(error, &self.first_bytes));
                }
            }
        }
    }

    fn receive_idle(&mut self, bytes: &mut &[u8]) -> Step {
        let is_rest_of_stream = self.push.is_some() && self.is_retired;
        if is_rest_of_stream || says_idle_timeout(bytes) {
            self.is_retired = true;
            *bytes = &[];
        }
        bytes_without_request(bytes)
    }

    /// Keeps the first bytes of an answer, one more than an example shows.
    fn keep_first_bytes(&mut self, bytes: &[u8]) {
        let room = (EXAMPLE_BYTES + 1).saturating_sub(self.first_bytes.len());
        self.first_bytes.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// Whether the end of the connection is also that of an answer, which is then to be received.
    pub(crate) fn completes_answer(&mut self, cause: &CloseCause) -> bool {
        let Some(exchange) = self.under_way.front_mut() else { return false };
        let is_end = is_end_of_stream(cause) && self.parser.finish_stream().is_ok();
        if is_end {
            self.is_retired = true;
            match &mut exchange.subscription {
                None => self.is_complete = true,
                Some(subscription) => subscription.arrived.end(),
            }
        }
        is_end
    }

    /// Ends the stream of events of which something was reported last. Its rest is not read.
    pub(crate) fn unsubscribe(&mut self) -> Option<Exchange> {
        let exchange = self.under_way.pop_front()?;
        self.is_retired |= !exchange.is_over();
        Some(exchange)
    }

    pub(crate) fn current_exchange(&mut self) -> Option<&mut Exchange> {
        self.under_way.front_mut()
    }

    /// The problem of all requests under way when the connection ends and completes no answer.
    pub(crate) fn problem_of_end(&self, cause: &CloseCause) -> Problem {
        let subscription = self.under_way.front().and_then(|exchange| exchange.subscription.as_ref());
        if let Some(subscription) = subscription {
            let text = format!("connection closed inside the stream, after {} events", subscription.taken);
            return Problem::of_end_within(cause, &text);
        }
        let finish = self.parser.finish_stream();
        let mut problem = match (cause, finish) {
            (CloseCause::EndOfStream, Err(error)) if error.is_truncation() => {
                Problem::new(ErrorClass::Read, error.to_string())
            }
            (CloseCause::EndOfStream, Err(error)) => Problem::new(ErrorClass::Protocol, error.to_string()),
            (CloseCause::ReadFailed(error), finish) => Problem::new(ErrorClass::Read, read_error_text(finish, error)),
            (cause, _) => Problem::of_end(cause),
        };
        if finish == Err(ParseError::NoAnswer) && problem.class != ErrorClass::Tls {
            problem.text += if self.has_answered { ANSWERED_BEFORE } else { may_speak_tls(&self.base) };
        }
        problem
    }

    fn finish_first(&mut self, requests: &RequestSet) -> Step {
        if let Some(next) = self.under_way.get(1) {
            self.parser.expect_response(next.is_head);
        }
        self.under_way.pop_front().map_or(Step::More, |exchange| exchange.complete(requests, &self.base))
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.under_way.iter().map(|exchange| exchange.deadline).min()
    }

    /// Takes the first exchange if any exchange is overdue: answers arrive in order, so the others are lost too.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        self.is_retired |= self.next_deadline().is_some_and(|deadline| deadline <= now);
        if self.is_retired { self.take_any() } else { None }
    }

    pub(crate) fn take_any(&mut self) -> Option<Exchange> {
        let mut exchange = self.under_way.pop_front()?;
        let first_bytes = std::mem::take(&mut self.first_bytes);
        exchange.answer.states_length = self.parser.knows_length();
        if exchange.times.status == 0 && count_line_ends(&first_bytes) < first_bytes.len() {
            let is_interim = self.parser.finish_stream() == Err(ParseError::NoAnswer);
            exchange.answer.before_head = if is_interim { ONLY_INTERIM } else { "its head began, and has no end" };
        }
        Some(exchange)
    }
}

/// Whether a server says that it closes an idle connection, as HAProxy does (RFC 9110, section 15.5.9).
fn says_idle_timeout(bytes: &[u8]) -> bool {
    bytes.starts_with(b"HTTP/1.") && bytes.get(8..12) == Some(b" 408")
}

/// Without a request under way, empty lines mean nothing; anything else breaks the connection (RFC 9112, section 9.2).
fn bytes_without_request(bytes: &mut &[u8]) -> Step {
    *bytes = &bytes[count_line_ends(bytes)..];
    if bytes.is_empty() {
        return Step::More;
    }
    let text = format!("{} bytes without a request: \"{}\"", bytes.len(), escape(bytes));
    Step::Broken(Problem::new(ErrorClass::Protocol, text))
}

/// The problem of bytes that are no answer over HTTP/1.1, of which these are the first.
fn no_answer_problem(error: ParseError, first_bytes: &[u8]) -> Problem {
    let text = match first_bytes {
        bytes if begins_http2(bytes) => "the server answers in HTTP/2, and not in HTTP/1.1".to_owned(),
        bytes if begins_tls_alert(bytes) => "the server answers in TLS, and not in HTTP/1.1".to_owned(),
        bytes => format!("{error}: \"{}\"", escape(bytes)),
    };
    Problem::new(ErrorClass::Protocol, text)
}

/// The problem of requests after the last one that the server answers on a connection.
fn unanswered_problem() -> Problem {
    let text = "connection closed with the answer before; does the server limit the requests of a connection?";
    Problem::new(ErrorClass::Read, text)
}

/// Whether the server has ended the stream. If a reset follows that end, a write fails with a broken pipe.
fn is_end_of_stream(cause: &CloseCause) -> bool {
    match cause {
        CloseCause::EndOfStream => true,
        CloseCause::WriteFailed(error) => error.kind() == std::io::ErrorKind::BrokenPipe,
        _ => false,
    }
}

fn read_error_text(finish: Result<(), ParseError>, error: &std::io::Error) -> String {
    match finish {
        Err(ParseError::TruncatedHead) => format!("{error}, inside the headers"),
        Err(ParseError::TruncatedBody) | Ok(()) => format!("{error}, inside the body"),
        Err(_) => error.to_string(),
    }
}
