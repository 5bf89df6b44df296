//! One stream: a request that leaves as flow control permits, and an answer that arrives and is checked.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};
use tare_wire::http::Sink;

use super::message::{is_unprocessed, malformed_field, problem, tell_head};
use crate::input::request::{Parts, RequestSet};
use crate::problem::Problem;
use crate::protocol::answer::Judge;
use crate::protocol::connection::Exchange;

/// One stream and its exchange.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) exchange: Exchange,
    /// The request, in case it must be sent again.
    pub(super) parts: Arc<Parts>,
    /// The server has said that it will not process the stream.
    pub(super) is_unprocessed: bool,
    answer: Answer,
    upload: Option<Upload>,
}

#[derive(Debug)]
enum Answer {
    /// No answer will come, because the request never left.
    Never(Option<Problem>),
    Head(ResponseFuture),
    Body(RecvStream),
}

/// The unsent part of a request's body.
#[derive(Debug)]
struct Upload {
    stream: SendStream<Bytes>,
    rest: Bytes,
}

impl Stream {
    /// A stream whose headers are being sent. `body` follows as flow control permits.
    pub(super) fn new(
        exchange: Exchange,
        parts: Arc<Parts>,
        answer: ResponseFuture,
        mut stream: SendStream<Bytes>,
        body: Option<Bytes>,
    ) -> Self {
        let upload = body.map(|rest| {
            stream.reserve_capacity(rest.len());
            Upload { stream, rest }
        });
        Self { exchange, parts, is_unprocessed: false, answer: Answer::Head(answer), upload }
    }

    /// The parts of a request that could not leave.
    pub(super) const fn failed(exchange: Exchange, parts: Arc<Parts>, problem: Problem) -> Self {
        Self { exchange, parts, is_unprocessed: false, answer: Answer::Never(Some(problem)), upload: None }
    }

    /// Sends as much of the body as flow control permits. Returns whether it sent any.
    pub(super) fn upload(&mut self, context: &mut Context<'_>) -> bool {
        let mut has_sent = false;
        while let Some(Upload { stream, rest }) = &mut self.upload {
            let Poll::Ready(room) = stream.poll_capacity(context) else { break };
            let room = match room {
                Some(Ok(room)) if room > 0 => room.min(rest.len()),
                Some(Ok(_)) => break,
                // The server wants no more of the body. Its answer says why.
                Some(Err(_)) | None => {
                    self.upload = None;
                    break;
                }
            };
            let part = rest.split_to(room);
            let is_last = rest.is_empty();
            has_sent = true;
            if stream.send_data(part, is_last).is_err() || is_last {
                self.upload = None;
            }
        }
        has_sent
    }

    /// Reads the available part of the answer. Ready at its end, with its problem if it has one.
    pub(super) fn answer(&mut self, context: &mut Context<'_>, requests: &RequestSet) -> Poll<Option<Problem>> {
        let expectation = &requests.get(self.exchange.request).expectation;
        loop {
            let mut check = Judge { seen: &mut self.exchange.seen, expectation };
            match &mut self.answer {
                Answer::Never(problem) => return Poll::Ready(problem.take()),
                Answer::Head(head) => match ready!(Pin::new(head).poll(context)) {
                    Ok(answer) => {
                        let (head, body) = answer.into_parts();
                        if let Some(problem) = malformed_field(&head.headers) {
                            return Poll::Ready(Some(problem));
                        }
                        tell_head(&head, &mut check);
                        self.answer = Answer::Body(body);
                    }
                    Err(error) => {
                        self.is_unprocessed = is_unprocessed(&error);
                        return Poll::Ready(Some(problem(&error)));
                    }
                },
                Answer::Body(body) => match ready!(body.poll_data(context)) {
                    Some(Ok(bytes)) => {
                        check.body(&bytes);
                        if let Err(error) = body.flow_control().release_capacity(bytes.len()) {
                            return Poll::Ready(Some(problem(&error)));
                        }
                        if self.exchange.seen.is_flooded(expectation) {
                            return Poll::Ready(Some(self.exchange.seen.flood()));
                        }
                    }
                    Some(Err(error)) => return Poll::Ready(Some(problem(&error))),
                    None => {
                        let broken = match ready!(body.poll_trailers(context)) {
                            Ok(trailers) => trailers.as_ref().and_then(malformed_field),
                            Err(error) => Some(problem(&error)),
                        };
                        return Poll::Ready(broken.or_else(|| self.exchange.seen.verdict(expectation)));
                    }
                },
            }
        }
    }
}
