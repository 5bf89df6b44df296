//! What has arrived of a stream of events, over any version of HTTP.

use tare_sample::ErrorClass;
use tare_wire::events::EventReader;
use tare_wire::http::Head;

use crate::input::check::Expectation;
use crate::problem::{Problem, escape};

#[derive(Debug, Default)]
pub(crate) struct Arrived {
    /// `None` until the head has come, and after the end.
    reader: Option<EventReader>,
    /// Events that were not reported yet.
    pub(super) unreported: u64,
    events: u64,
    pub(super) problem: Option<Problem>,
    /// The stream has ended, or something is wrong with it.
    pub(super) is_over: bool,
}

impl Arrived {
    pub(super) fn take_head(&mut self, head: &Head<'_>, expectation: &Expectation) {
        let encoded = || problem_of_coding(head.header_value("content-encoding"));
        if let Some(problem) = expectation.judge_head(head).or_else(encoded) {
            self.fail(problem);
        }
        self.reader = Some(EventReader::of_content_type(head.header_value("content-type")));
    }

    pub(super) fn take_body(&mut self, bytes: &[u8]) {
        let (Some(reader), false) = (&mut self.reader, self.is_over) else { return };
        match reader.take(bytes) {
            Ok(ended) => self.count(ended),
            Err(error) => self.fail(Problem::new(ErrorClass::Protocol, error.to_string())),
        }
    }

    /// Takes the end of the stream, which may end an event.
    pub(super) fn end(&mut self) {
        let ends_event = self.reader.take().is_some_and(|reader| reader.finish());
        self.count(u64::from(ends_event));
        self.is_over = true;
    }

    pub(super) fn fail(&mut self, problem: Problem) {
        self.problem = Some(problem);
        self.is_over = true;
    }

    const fn count(&mut self, events: u64) {
        self.events += events;
        self.unreported += events;
    }

    /// What is wrong with a stream that has ended, of which so many events were wanted; `None` if that was its time.
    pub(super) fn early_end(&self, wanted: Option<u64>) -> Option<Problem> {
        let (class, text) = match wanted {
            _ if self.events == 0 => (ErrorClass::Validation, "the response ended without an event".to_owned()),
            Some(wanted) if self.events < wanted => {
                (ErrorClass::Read, format!("the stream ended after {} of {wanted} events", self.events))
            }
            _ => return None,
        };
        Some(Problem::new(class, text))
    }
}

/// The problem of a stream that is encoded, so that its events cannot be told apart.
fn problem_of_coding(coding: Option<&[u8]>) -> Option<Problem> {
    let coding = coding.filter(|coding| !coding.eq_ignore_ascii_case(b"identity"))?;
    let remedy = "ask for them as they are (-H 'Accept-Encoding: identity')";
    let text = format!("events encoded as {}, which cannot be told apart; {remedy}", escape(coding));
    Some(Problem::new(ErrorClass::Validation, text))
}
