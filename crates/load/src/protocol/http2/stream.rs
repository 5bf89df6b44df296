//! One stream: a request that leaves as flow control permits, and an answer that arrives and is checked.

use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_wire::http::{Head, Method, Sink};
use tare_wire::http2::{ErrorCode, Section};

use crate::input::request::{Parts, RequestSet};
use crate::problem::Problem;
use crate::protocol::answer::ONLY_INTERIM;
use crate::protocol::connection::{AnswerSink, Exchange};
use crate::protocol::conversation::Push;

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) exchange: Exchange,
    /// The request, in case it must be sent again.
    pub(super) parts: Arc<Parts>,
    /// Bytes of the request's body that have left.
    pub(super) sent_bytes: usize,
    /// How many more the server accepts. Its settings may make that negative.
    pub(super) window_bytes: i64,
    /// Bytes that came since this side has last given room.
    pub(super) unreturned_bytes: u32,
    has_head: bool,
    /// What is left of the body, where the head says it.
    pub(super) rest_bytes: Option<u64>,
}

#[derive(Debug)]
pub(super) enum Progress {
    More,
    Complete,
    /// It need not be read to its end, or it is malformed: the stream is reset with this code.
    Failed(Problem, ErrorCode),
}

impl Stream {
    pub(super) fn new(mut exchange: Exchange, parts: Arc<Parts>, push: Option<Push>) -> Self {
        exchange.subscribe(push);
        Self { exchange, parts, sent_bytes: 0, window_bytes: 0, unreturned_bytes: 0, has_head: false, rest_bytes: None }
    }

    pub(super) fn unsent(&self) -> &[u8] {
        self.parts.body.get(self.sent_bytes..).unwrap_or_default()
    }

    /// Whether a check needs the fields of its header sections.
    pub(super) fn reads_headers(&self, requests: &RequestSet) -> bool {
        self.exchange.subscription.is_some() || requests.get(self.exchange.request).expectation.reads_headers()
    }

    /// Takes a head, an interim one, or trailers.
    pub(super) fn on_section(&mut self, section: &Section, is_last: bool, requests: &RequestSet) -> Progress {
        let expectation = &requests.get(self.exchange.request).expectation;
        match (section.wrong, section.status) {
            (Some(what), _) => return wrong(what),
            (None, None) if self.has_head && is_last => {
                self.exchange.answer.take_trailers(|name| section.value(name));
            }
            (None, _) if self.has_head => return wrong("a second head, or trailers that do not end the stream"),
            (None, None) => return wrong("a head without a status"),
            (None, Some(101)) => return wrong("status 101, which HTTP/2 does not have"),
            (None, Some(100..=199)) if is_last => return wrong("an interim answer that ends the stream"),
            (None, Some(100..=199)) => {
                self.exchange.answer.before_head = ONLY_INTERIM;
                return Progress::More;
            }
            (None, Some(status)) => {
                self.exchange.answer.before_head = "";
                let fields = section.fields();
                AnswerSink { exchange: &mut self.exchange, expectation }.head(&Head::new(status, &fields));
                self.has_head = true;
                let is_bodiless = self.parts.method == Method::HEAD || matches!(status, 204 | 304);
                self.rest_bytes = if is_bodiless { Some(0) } else { section.length };
            }
        }
        self.after(is_last)
    }

    pub(super) fn on_data(&mut self, bytes: &[u8], is_last: bool, requests: &RequestSet) -> Progress {
        if !self.has_head {
            return wrong("data before the head");
        }
        let expectation = &requests.get(self.exchange.request).expectation;
        if let Some(rest) = &mut self.rest_bytes {
            let Some(left) = rest.checked_sub(bytes.len() as u64) else {
                return wrong("more data than the content-length, the method or the status permits");
            };
            *rest = left;
        }
        AnswerSink { exchange: &mut self.exchange, expectation }.body(bytes);
        let answer = &mut self.exchange.answer;
        if answer.is_too_long(expectation) {
            return Progress::Failed(answer.too_long_problem(expectation), ErrorCode::CANCEL);
        }
        self.after(is_last)
    }

    fn after(&mut self, is_last: bool) -> Progress {
        let subscription = &mut self.exchange.subscription;
        if let Some(problem) = subscription.as_mut().and_then(|events| events.arrived.problem.take()) {
            return Progress::Failed(problem, ErrorCode::CANCEL);
        }
        match self.rest_bytes {
            _ if !is_last => Progress::More,
            Some(1..) => wrong("less data than the content-length says"),
            _ => {
                if let Some(events) = subscription {
                    events.arrived.end();
                }
                Progress::Complete
            }
        }
    }
}

fn wrong(what: &str) -> Progress {
    malformed(ErrorCode::PROTOCOL, what)
}

/// The end of a stream whose frames are wrong.
pub(super) fn malformed(code: ErrorCode, what: &str) -> Progress {
    let text = format!("stream reset (RST_STREAM) by this side: {code}: {what}");
    Progress::Failed(Problem::new(ErrorClass::Protocol, text), code)
}
