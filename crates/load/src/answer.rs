//! Holds one answer against what was expected of it, while it arrives and without keeping it.

use tare_wire::http::{Head, Sink};

use crate::request::{BodyExpectation, Expectation};
use crate::sample::{ErrorClass, escape};

/// Bytes beyond the expected body that are still read as a wrong answer; more is a flood.
const MAX_EXCESS_BYTES: u64 = 64 * 1024;
/// Bytes of a body of which nothing is expected, beyond which it is a flood.
const MAX_ANY_BYTES: u64 = 1 << 30;

/// A failure of one request: its class and what was seen, for the first of its class to be shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) class: ErrorClass,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self { class, text: text.into() }
    }
}

/// What has been seen of the answer so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    body_bytes: u64,
    problem: Option<Box<Problem>>,
}

/// A [`Sink`] that compares.
pub(crate) struct Check<'a> {
    pub(crate) seen: &'a mut Seen,
    pub(crate) expectation: &'a Expectation,
}

impl Sink for Check<'_> {
    fn head(&mut self, head: &Head<'_>) {
        if head.status != self.expectation.status {
            let text = format!("status {} instead of {}", head.status, self.expectation.status);
            return self.seen.note(ErrorClass::Status, text);
        }
        for (name, expected) in &self.expectation.headers {
            let found = head.header(name);
            if found != Some(expected.as_bytes()) {
                let found = found.map_or("absent".to_owned(), |value| format!("\"{}\"", escape(value)));
                self.seen.note(ErrorClass::Validation, format!("header {name} is {found} instead of \"{expected}\""));
            }
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        let from = self.seen.body_bytes;
        self.seen.body_bytes += bytes.len() as u64;
        let BodyExpectation::Exact(expected) = &self.expectation.body else { return };
        if self.seen.problem.is_some() {
            return;
        }
        let rest = usize::try_from(from).ok().and_then(|from| expected.get(from..)).unwrap_or_default();
        // An overlong body is found out by its length at the end.
        let common = rest.len().min(bytes.len());
        if rest[..common] != bytes[..common] {
            let offset = rest.iter().zip(bytes).take_while(|(wanted, found)| wanted == found).count();
            let (wanted, found) = (escape(&rest[offset..]), escape(&bytes[offset..]));
            let text = format!("body differs at byte {}: \"{found}\" instead of \"{wanted}\"", from + offset as u64);
            self.seen.note(ErrorClass::Validation, text);
        }
    }
}

impl Seen {
    /// Forgets the answer before.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether the body has become so long that it must not be read to its end.
    pub(crate) fn is_flooded(&self, expectation: &Expectation) -> bool {
        let limit = expectation.body.length_bytes().map_or(MAX_ANY_BYTES, |length| length + MAX_EXCESS_BYTES);
        self.body_bytes > limit
    }

    /// The first problem of a complete answer, if it has one.
    pub(crate) fn verdict(&mut self, expectation: &Expectation) -> Option<Problem> {
        if let Some(problem) = self.problem.take() {
            return Some(*problem);
        }
        let expected = expectation.body.length_bytes()?;
        (self.body_bytes != expected).then(|| {
            let text = format!("body of {} bytes instead of {expected}", self.body_bytes);
            Problem::new(ErrorClass::Validation, text)
        })
    }

    fn note(&mut self, class: ErrorClass, text: String) {
        self.problem.get_or_insert_with(|| Box::new(Problem { class, text }));
    }
}
