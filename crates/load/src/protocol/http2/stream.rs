//! One stream: a request that leaves as flow control permits, and an answer that arrives and is checked.

use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_wire::http::{Head, Method, Sink};
use tare_wire::http2::{ErrorCode, Section};

use crate::input::request::{Parts, RequestSet};
use crate::problem::Problem;
use crate::protocol::answer::AnswerChecker;
use crate::protocol::arrived::{Arrived, EventSink};
use crate::protocol::connection::Exchange;
use crate::protocol::conversation::Push;
use crate::protocol::subscription::Subscription;

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
    rest_bytes: Option<u64>,
    /// Where the answer is a stream of events.
    pub(super) events: Option<Box<Events>>,
    /// It has ended, and not all of its events were reported yet.
    pub(super) is_over: bool,
}

/// The events of a stream: what has come, and what was reported.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) push: Push,
    pub(super) arrived: Arrived,
    pub(super) reported: Subscription,
}

/// How far an answer is.
#[derive(Debug)]
pub(super) enum Progress {
    More,
    Complete,
    /// It need not be read to its end, or it is malformed: the stream is reset with this code.
    Failed(Problem, ErrorCode),
}

impl Stream {
    pub(super) fn new(exchange: Exchange, parts: Arc<Parts>, push: Option<Push>) -> Self {
        let events = |push| Box::new(Events { push, arrived: Arrived::default(), reported: Subscription::default() });
        Self {
            exchange,
            parts,
            sent_bytes: 0,
            window_bytes: 0,
            unreturned_bytes: 0,
            has_head: false,
            rest_bytes: None,
            events: push.map(events),
            is_over: false,
        }
    }

    /// The exchange of a stream that has failed. The rest of its events counts as missing.
    pub(super) fn into_exchange(mut self) -> Exchange {
        let missing = |events: &Events| events.reported.missing_at_break(&events.push, self.exchange.times().intended);
        self.exchange.missing = self.events.as_deref().map(missing);
        self.exchange
    }

    pub(super) fn unsent(&self) -> &[u8] {
        self.parts.body.get(self.sent_bytes..).unwrap_or_default()
    }

    /// Whether a check needs the fields of its header sections.
    pub(super) fn reads_headers(&self, requests: &RequestSet) -> bool {
        self.events.is_some() || requests.get(self.exchange.request).expectation.reads_headers()
    }

    /// Takes a head, an interim one, or trailers.
    pub(super) fn on_section(&mut self, section: &Section, is_last: bool, requests: &RequestSet) -> Progress {
        let expectation = &requests.get(self.exchange.request).expectation;
        let answer = &mut self.exchange.answer;
        match (section.wrong, section.status) {
            (Some(what), _) => return wrong(what),
            (None, None) if self.has_head && is_last => {
                AnswerChecker { answer, expectation }.trailers(|name| section.value(name));
            }
            (None, _) if self.has_head => return wrong("a second head, or trailers that do not end the stream"),
            (None, None) => return wrong("a head without a status"),
            (None, Some(101)) => return wrong("status 101, which HTTP/2 does not have"),
            (None, Some(100..=199)) if is_last => return wrong("an interim answer that ends the stream"),
            (None, Some(100..=199)) => return Progress::More,
            (None, Some(status)) => {
                let fields = section.fields();
                let head = Head::new(status, &fields);
                match &mut self.events {
                    Some(events) => {
                        EventSink { arrived: &mut events.arrived, expectation }.head(&head);
                        self.exchange.note_status(status);
                    }
                    None => AnswerChecker { answer, expectation }.head(&head),
                }
                self.has_head = true;
                let is_bodiless = self.parts.method == Method::HEAD || matches!(status, 204 | 304);
                self.rest_bytes = if is_bodiless { Some(0) } else { section.length };
            }
        }
        self.after(is_last)
    }

    /// Takes a part of the body.
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
        let answer = &mut self.exchange.answer;
        match &mut self.events {
            Some(events) => EventSink { arrived: &mut events.arrived, expectation }.body(bytes),
            None => AnswerChecker { answer, expectation }.body(bytes),
        }
        if answer.is_too_long(expectation) {
            return Progress::Failed(answer.too_long_problem(expectation), ErrorCode::CANCEL);
        }
        self.after(is_last)
    }

    fn after(&mut self, is_last: bool) -> Progress {
        if let Some(problem) = self.events.as_mut().and_then(|events| events.arrived.problem.take()) {
            return Progress::Failed(problem, ErrorCode::CANCEL);
        }
        match self.rest_bytes {
            _ if !is_last => Progress::More,
            Some(1..) => wrong("less data than the content-length says"),
            _ => {
                if let Some(events) = &mut self.events {
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
