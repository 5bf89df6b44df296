//! One request under way and the part of its answer that has arrived.

use std::sync::Arc;

use tare_sys::clock::Nanos;

use super::{Returned, Step};
use crate::input::request::{Parts, RequestSet};
use crate::problem::Problem;
use crate::protocol::answer::PartialAnswer;
use crate::protocol::redirect::next_request;
use crate::recorder::Times;
use crate::recorder::missing_messages::MissingMessages;

/// A request that is under way on a connection.
#[derive(Debug)]
pub(crate) struct Exchange {
    times: Times,
    /// When it times out.
    pub(crate) deadline: Nanos,
    /// Index in the request set.
    pub(crate) request: usize,
    pub(crate) answer: PartialAnswer,
    /// Messages that a failed subscription has not received.
    pub(crate) missing: Option<MissingMessages>,
    /// How many times a server has sent it back unprocessed.
    pub(crate) returns: u8,
    /// The request as it was sent; only where redirects are followed.
    pub(crate) sent: Option<Arc<Parts>>,
    pub(crate) redirects: u8,
}

impl Exchange {
    /// Its times, with the status of the answer as far as that has come.
    pub(crate) const fn times(&self) -> Times {
        match self.answer.status() {
            0 => self.times,
            status => Times { status, ..self.times },
        }
    }

    /// Notes the status of a stream of events, which is no answer that is compared.
    pub(crate) const fn note_status(&mut self, status: u16) {
        self.times.status = status;
    }

    pub(crate) fn new(request: usize, times: Times, deadline: Nanos) -> Self {
        let times = Times { request: Some(request as u32), ..times };
        Self {
            times,
            deadline,
            request,
            answer: PartialAnswer::default(),
            missing: None,
            returns: 0,
            sent: None,
            redirects: 0,
        }
    }

    /// The end of an exchange that has failed.
    pub(crate) fn fail(self, problem: Problem) -> Step {
        Step::Finished { times: self.times(), problem: Some(problem), kept: None, missing: self.missing }
    }

    /// What a complete answer means: the end of the exchange, or the request to which it leads. `base` is scheme and
    /// authority of the server.
    pub(crate) fn complete(mut self, requests: &RequestSet, base: &str) -> Step {
        let problem = match (self.answer.take_location(), self.sent.take()) {
            (Some(location), Some(sent)) => {
                let status = self.answer.status();
                match next_request(&sent, status, &location, base, (self.redirects, requests.follow())) {
                    Ok(next) => {
                        (self.answer, self.redirects) = (PartialAnswer::default(), self.redirects + 1);
                        return Step::Returned(Returned {
                            exchange: self,
                            parts: Arc::new(next),
                            redirected: Some(status),
                        });
                    }
                    Err(problem) => Some(problem),
                }
            }
            _ => self.answer.verdict(&requests.get(self.request).expectation),
        };
        Step::Finished { times: self.times(), problem, kept: self.answer.take_kept(), missing: None }
    }
}
