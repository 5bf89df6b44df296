//! What has arrived of a stream of events, over any version of HTTP.

use tare_sample::ErrorClass;
use tare_wire::events::EventReader;
use tare_wire::http::{Head, Sink};

use super::conversation::Push;
use crate::input::check::Expectation;
use crate::problem::{Problem, escape};

#[derive(Debug, Default)]
pub(super) struct Arrived {
    /// 0 until the head has come.
    pub(super) status: u16,
    reader: Option<EventReader>,
    /// Events that were not reported yet.
    pub(super) unreported: u64,
    events: u64,
    pub(super) problem: Option<Problem>,
}

/// A [`Sink`] that judges the head and counts the events.
pub(super) struct EventSink<'a> {
    pub(super) arrived: &'a mut Arrived,
    pub(super) expectation: &'a Expectation,
}

impl Sink for EventSink<'_> {
    fn head(&mut self, head: &Head<'_>) {
        self.arrived.status = head.status;
        let encoded = || problem_of_coding(head.header_value("content-encoding"));
        self.arrived.problem = self.expectation.judge_head(head).or_else(encoded);
        self.arrived.reader = Some(EventReader::of_content_type(head.header_value("content-type")));
    }

    fn body(&mut self, bytes: &[u8]) {
        let Some(reader) = &mut self.arrived.reader else { return };
        if self.arrived.problem.is_none() {
            match reader.take(bytes) {
                Ok(ended) => self.arrived.count(ended),
                Err(error) => self.arrived.problem = Some(Problem::new(ErrorClass::Protocol, error.to_string())),
            }
        }
    }
}

/// The problem of a stream that is encoded, so that its events cannot be told apart.
fn problem_of_coding(coding: Option<&[u8]>) -> Option<Problem> {
    let coding = coding.filter(|coding| !coding.eq_ignore_ascii_case(b"identity"))?;
    let remedy = "ask for them as they are (-H 'Accept-Encoding: identity')";
    let text = format!("events encoded as {}, which cannot be told apart; {remedy}", escape(coding));
    Some(Problem::new(ErrorClass::Validation, text))
}

impl Arrived {
    const fn count(&mut self, events: u64) {
        self.events += events;
        self.unreported += events;
    }

    /// Takes the end of the stream, which may end an event.
    pub(super) fn end(&mut self) {
        let ends_event = self.reader.take().is_some_and(|reader| reader.finish());
        self.count(u64::from(ends_event));
    }

    /// What is wrong with a stream that has ended; `None` if that was its time.
    pub(super) fn early_end(&self, push: &Push) -> Option<Problem> {
        if self.events == 0 {
            return Some(Problem::new(ErrorClass::Validation, "the response ended without an event"));
        }
        let missing = push.remaining_after(self.events);
        let text = || format!("the stream ended after {} of {} events", self.events, self.events + missing);
        (missing > 0).then(|| Problem::new(ErrorClass::Read, text()))
    }
}
