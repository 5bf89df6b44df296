//! One stream: a request that leaves as flow control permits, and an answer that arrives and is checked.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};
use http::HeaderValue;
use tare_wire::http::Sink;

use super::message::{is_unprocessed, pass_head, problem};
use crate::input::request::{Parts, RequestSet};
use crate::problem::Problem;
use crate::protocol::answer::AnswerChecker;
use crate::protocol::connection::Exchange;

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) exchange: Exchange,
    /// The request, in case it must be sent again.
    pub(super) parts: Arc<Parts>,
    /// The server has said that it will not process the stream.
    pub(super) is_unprocessed: bool,
    /// The end of the connection has failed it.
    pub(super) is_lost: bool,
    answer: Answer,
    /// The way to the server; `None` if the request never left.
    sending: Option<SendStream<Bytes>>,
    /// The part of the request's body that has not left.
    unsent: Bytes,
}

#[derive(Debug)]
enum Answer {
    /// No answer will come, because the request never left.
    Never(Option<Problem>),
    Head(ResponseFuture),
    Body(RecvStream),
}

impl Stream {
    /// A stream whose headers are being sent. `body` follows as flow control permits.
    pub(super) fn new(
        exchange: Exchange,
        parts: Arc<Parts>,
        answer: ResponseFuture,
        mut sending: SendStream<Bytes>,
        body: Bytes,
    ) -> Self {
        if !body.is_empty() {
            sending.reserve_capacity(body.len());
        }
        let answer = Answer::Head(answer);
        Self { exchange, parts, is_unprocessed: false, is_lost: false, answer, sending: Some(sending), unsent: body }
    }

    /// The parts of a request that could not leave.
    pub(super) const fn failed(exchange: Exchange, parts: Arc<Parts>, problem: Problem) -> Self {
        let answer = Answer::Never(Some(problem));
        Self { exchange, parts, is_unprocessed: false, is_lost: false, answer, sending: None, unsent: Bytes::new() }
    }

    fn fail(&mut self, error: &h2::Error) -> Problem {
        self.is_lost = error.is_go_away();
        problem(error)
    }

    /// Sends as much of the body as flow control permits. Returns whether it sent any.
    pub(super) fn upload(&mut self, context: &mut Context<'_>) -> bool {
        let Some(sending) = &mut self.sending else { return false };
        let mut has_sent = false;
        while !self.unsent.is_empty() {
            let Poll::Ready(room) = sending.poll_capacity(context) else { break };
            let room = match room {
                Some(Ok(room)) if room > 0 => room.min(self.unsent.len()),
                Some(Ok(_)) => break,
                // The server wants no more of the body. Its answer says why.
                Some(Err(_)) | None => {
                    self.unsent.clear();
                    break;
                }
            };
            let part = self.unsent.split_to(room);
            has_sent = true;
            if sending.send_data(part, self.unsent.is_empty()).is_err() {
                self.unsent.clear();
            }
        }
        has_sent
    }

    /// Reads the available part of the answer. Ready at its end, with a problem if it is not complete.
    pub(super) fn answer(&mut self, context: &mut Context<'_>, requests: &RequestSet) -> Poll<Option<Problem>> {
        let expectation = &requests.get(self.exchange.request).expectation;
        loop {
            let mut check = AnswerChecker { answer: &mut self.exchange.answer, expectation };
            match &mut self.answer {
                Answer::Never(problem) => return Poll::Ready(problem.take()),
                Answer::Head(head) => match ready!(Pin::new(head).poll(context)) {
                    Ok(answer) => {
                        let (head, body) = answer.into_parts();
                        pass_head(&head, &mut check);
                        self.answer = Answer::Body(body);
                    }
                    Err(error) => {
                        self.is_unprocessed = is_unprocessed(&error);
                        return Poll::Ready(Some(self.fail(&error)));
                    }
                },
                Answer::Body(body) => match ready!(body.poll_data(context)) {
                    Some(Ok(bytes)) => {
                        check.body(&bytes);
                        if self.exchange.answer.is_too_long(expectation) {
                            return Poll::Ready(Some(self.exchange.answer.too_long_problem(expectation)));
                        }
                        // Most answers end here, without trailers. Their stream gives the room back when it is dropped.
                        if body.is_end_stream() {
                            return Poll::Ready(None);
                        }
                        if let Err(error) = body.flow_control().release_capacity(bytes.len()) {
                            return Poll::Ready(Some(problem(&error)));
                        }
                    }
                    Some(Err(error)) => return Poll::Ready(Some(self.fail(&error))),
                    None => {
                        let broken = match ready!(body.poll_trailers(context)) {
                            Ok(trailers) => {
                                let trailers = trailers.unwrap_or_default();
                                check.trailers(|name| trailers.get(name).map(HeaderValue::as_bytes));
                                None
                            }
                            Err(error) => Some(self.fail(&error)),
                        };
                        return Poll::Ready(broken);
                    }
                },
            }
        }
    }
}
