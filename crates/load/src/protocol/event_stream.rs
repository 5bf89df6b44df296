//! A response over HTTP/1.1 that is a stream of events. A user requests it, reads its events, and requests the next one.

use tare_sample::ErrorClass;
use tare_sys::clock::Nanos;
use tare_sys::poll::{CloseCause, Token, Transport};
use tare_wire::http::{Progress, ResponseParser};

use super::arrived::{Arrived, EventSink};
use super::connection::{Begun, Ended, Exchange, Step};
use super::conversation::Push;
use super::http1::{bytes_without_request, no_answer_problem};
use super::only_exchange::OnlyExchange;
use crate::input::request::{RequestCursor, RequestSet};
use crate::problem::Problem;
use crate::recorder::Times;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::pushed_message::PushedMessage;

/// The state of one connection that carries streams of events, one after another.
#[derive(Debug)]
pub(crate) struct EventStream {
    push: Push,
    parser: ResponseParser,
    pub(super) only: OnlyExchange,
    arrived: Arrived,
    /// Whether the connection stays open after the end of the stream, once that has come.
    end: Option<bool>,
}

impl EventStream {
    pub(crate) fn new(push: Push) -> Self {
        let (parser, only) = (ResponseParser::new(), OnlyExchange::new(Some(push)));
        Self { push, parser, only, arrived: Arrived::default(), end: None }
    }

    /// Resets the state for a new connection.
    pub(crate) fn open(&mut self) {
        *self = Self::new(self.push);
    }

    pub(crate) fn begin(
        &mut self,
        io: &mut impl Transport,
        token: Token,
        exchange: Exchange,
        cursor: &mut RequestCursor,
    ) -> Begun {
        self.parser.expect_response(cursor.get(exchange.request).is_head);
        let bytes = cursor.encoded(exchange.request);
        (self.arrived, self.end) = (Arrived::default(), None);
        self.only.begin(exchange);
        io.send(token, bytes);
        Begun::Sent { bytes: bytes.len() }
    }

    /// Reads bytes up to the next event.
    pub(crate) fn receive(&mut self, bytes: &mut &[u8], requests: &RequestSet) -> Step {
        loop {
            if self.arrived.unreported > 0 {
                self.arrived.unreported -= 1;
                return Step::Pushed(None);
            }
            if let Some(problem) = self.arrived.problem.take() {
                return Step::Broken(problem);
            }
            let Some(request) = self.only.request() else {
                // The user has read enough of the stream: its rest is not read.
                if self.only.is_retired {
                    *bytes = &[];
                }
                return bytes_without_request(bytes);
            };
            if self.end.is_some() {
                return self.arrived.early_end(&self.push).map_or(Step::StreamEnded, Step::Broken);
            }
            if bytes.is_empty() {
                return Step::More;
            }
            let expectation = &requests.get(request).expectation;
            let fed = self.parser.feed(bytes, &mut EventSink { arrived: &mut self.arrived, expectation });
            self.only.note_status(self.arrived.status);
            match fed {
                Ok(Progress::Complete { consumed, keeps_alive }) => {
                    *bytes = &bytes[consumed..];
                    self.take_end(keeps_alive);
                }
                Ok(Progress::NeedsMore) => *bytes = &[],
                Err(error) => return Step::Broken(no_answer_problem(error, bytes)),
            }
        }
    }

    fn take_end(&mut self, keeps_alive: bool) {
        self.arrived.end();
        self.end = Some(keeps_alive);
    }

    /// Counts an event that has arrived. The next one must arrive until `deadline`. Returns `None` without a stream.
    pub(crate) fn push(&mut self, at: Nanos, deadline: Nanos) -> Option<PushedMessage> {
        let is_first = self.only.taken() == 0;
        let (counted, exchange) = self.only.count_message(at, None, deadline)?;
        Some(PushedMessage { answers: is_first.then_some(exchange.times()), ..counted })
    }

    /// Ends a stream of which the user has read enough, or that has ended.
    pub(crate) fn unsubscribe(&mut self) -> Option<(MissingMessages, Times)> {
        let ended = self.only.unsubscribe()?;
        self.only.is_retired = self.end != Some(true);
        (self.arrived, self.end) = (Arrived::default(), None);
        Some(ended)
    }

    /// Handles the end of the transport. `finished` is `None`: see [`EventStream::ends_with`].
    pub(crate) fn end(&self, cause: &CloseCause) -> Ended {
        let problem = match cause {
            CloseCause::EndOfStream => {
                let taken = self.only.taken();
                Problem::new(ErrorClass::Read, format!("connection closed inside the stream, after {taken} events"))
            }
            cause => Problem::of_end(cause),
        };
        Ended { finished: None, problem }
    }

    /// Whether the end of the transport is also the end of the stream. What is left of that is then to be received.
    pub(crate) fn ends_with(&mut self, cause: &CloseCause) -> bool {
        let is_end = matches!(cause, CloseCause::EndOfStream) && self.parser.finish_stream().is_ok();
        if !is_end || self.only.under_way() == 0 {
            return false;
        }
        self.take_end(false);
        true
    }
}
