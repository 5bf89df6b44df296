//! One request under way and the part of its answer that has arrived.

use std::sync::Arc;

use tare_sys::clock::Nanos;
use tare_wire::http::{Head, Sink};
use tare_wire::ws::Stamped;

use super::{Returned, Step};
use crate::input::check::Expectation;
use crate::input::request::{Parts, Prepared, RequestSet};
use crate::problem::Problem;
use crate::protocol::answer::PartialAnswer;
use crate::protocol::conversation::Push;
use crate::protocol::redirect::next_request;
use crate::protocol::subscription::Subscription;
use crate::recorder::Times;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::pushed_message::PushedMessage;

/// A request that is under way on a connection.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// With the status of the answer, as far as that has come.
    pub(crate) times: Times,
    pub(crate) deadline: Nanos,
    /// No later message moves the deadline beyond this.
    pub(crate) last_deadline: Nanos,
    pub(crate) request: usize,
    /// Its answer has no body.
    pub(crate) is_head: bool,
    /// It says that the connection ends with its answer.
    pub(crate) announces_close: bool,
    pub(crate) answer: PartialAnswer,
    /// What the server pushes for it; `None` if it is answered once.
    pub(crate) subscription: Option<Box<Subscription>>,
    /// How many times a server has sent it back unprocessed.
    pub(crate) returns: u8,
    /// The request as it was sent; only where redirects are followed.
    pub(crate) sent: Option<Arc<Parts>>,
    pub(crate) redirects: u8,
}

impl Exchange {
    pub(crate) fn new(requests: &RequestSet, request: usize, times: Times, deadline: Nanos) -> Self {
        let times = Times { request: Some(request as u32), ..times };
        let Prepared { is_head, announces_close, .. } = *requests.get(request);
        Self { times, deadline, last_deadline: Nanos::MAX, request, is_head, announces_close, ..Self::default() }
    }

    /// Begins the subscription to what the server pushes, if it does.
    pub(crate) fn subscribe(&mut self, push: Option<Push>) {
        self.subscription = push.map(|push| Box::new(Subscription::new(push)));
    }

    /// The next event of a stream that was not reported, or its end.
    pub(crate) fn next_report(&mut self) -> Option<Step> {
        self.subscription.as_mut()?.next_report()
    }

    /// Whether a stream of events has ended, apart from what was not reported.
    pub(crate) fn is_over(&self) -> bool {
        self.subscription.as_ref().is_some_and(|subscription| subscription.arrived.is_over)
    }

    /// Counts a message of its subscription; `None` for one that was sent before. The next must come until `deadline`, and its end
    /// until the last one.
    pub(crate) fn count_message(
        &mut self,
        at: Nanos,
        sent: Option<(Nanos, Stamped)>,
        deadline: Nanos,
    ) -> Option<PushedMessage> {
        let times = self.times;
        let subscription = self.subscription.as_mut()?;
        self.deadline = deadline.min(self.last_deadline);
        let is_earlier = sent.is_some_and(|(sent, _)| sent < times.intended);
        if is_earlier {
            return None;
        }
        // A stream of events has a status, and its first event answers the request.
        let answers = (times.status > 0 && subscription.taken == 0).then_some(times);
        let counted = subscription.count_message(at, sent);
        Some(PushedMessage { request: times.request, answers, ..counted })
    }

    /// Those that its subscription has not received, if that ends correctly now.
    pub(crate) fn skipped(&self) -> Option<MissingMessages> {
        Some(self.subscription.as_ref()?.skipped(self.times.intended))
    }

    /// How long its stream of events has been silent at `end`, if that is long.
    pub(crate) fn silence_ns(&self, end: Nanos) -> Option<u64> {
        self.subscription.as_ref()?.silence_ns(self.times.intended, end)
    }

    /// Whether a message of its subscription has come.
    pub(crate) fn has_message(&self) -> bool {
        self.subscription.as_ref().is_some_and(|subscription| subscription.taken > 0)
    }

    /// The messages that its subscription has not received, if that fails now.
    pub(crate) fn missing(&self) -> Option<MissingMessages> {
        let subscription = self.subscription.as_ref()?;
        Some(subscription.missing_at_break(self.times.intended))
    }

    /// How far the answer has come, for the text of a timeout. A stream of events is late with its next event, however far it is.
    pub(crate) fn progress(&self) -> String {
        self.answer.progress(if self.subscription.is_some() { 0 } else { self.times.status })
    }

    /// Before the request is sent again: nothing of the new answer has come.
    pub(crate) fn forget_answer(&mut self) {
        (self.answer, self.times.status) = (PartialAnswer::default(), 0);
    }

    pub(crate) fn fail(self, problem: Problem) -> Step {
        Step::Finished(self, Some(problem))
    }

    /// What a complete answer of the server at `base` means: the end of the exchange, or the request to which it leads.
    pub(crate) fn complete(mut self, requests: &RequestSet, base: &str) -> Step {
        let problem = match (self.answer.take_location(), self.sent.take()) {
            (Some(location), Some(sent)) => {
                let status = self.times.status;
                match next_request(&sent, status, &location, base, (self.redirects, requests.follow())) {
                    Ok(next) => {
                        self.forget_answer();
                        self.redirects += 1;
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
        Step::Finished(self, problem)
    }
}

/// A [`Sink`] for the answer to an exchange: it is compared, or its events are counted.
pub(crate) struct AnswerSink<'a> {
    pub(crate) exchange: &'a mut Exchange,
    pub(crate) expectation: &'a Expectation,
}

impl Sink for AnswerSink<'_> {
    fn head(&mut self, head: &Head<'_>) {
        let Exchange { times, answer, subscription, .. } = &mut *self.exchange;
        times.status = head.status;
        match subscription {
            None => answer.take_head(head, self.expectation),
            Some(subscription) => subscription.arrived.take_head(head, self.expectation),
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        let Exchange { answer, subscription, .. } = &mut *self.exchange;
        match subscription {
            None => answer.take_body(bytes, self.expectation),
            Some(subscription) => subscription.arrived.take_body(bytes),
        }
    }

    fn reads_fields(&self, status: u16) -> bool {
        self.exchange.subscription.is_some() || self.expectation.reads_fields_of(status)
    }
}
