//! Compares one answer with its expectation while it arrives. The body is kept only if a check needs it.

use tare_sample::ErrorClass;
use tare_wire::http::{Head, Sink};

use crate::input::check::Expectation;
use crate::problem::{Problem, escape};

/// Largest body in bytes that is kept for checks of the whole body.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// The part of the answer that has arrived.
#[derive(Debug, Default)]
pub(crate) struct PartialAnswer {
    body_bytes: u64,
    kept: Vec<u8>,
    problem: Option<Box<Problem>>,
}

/// A [`Sink`] that compares what it receives.
pub(crate) struct AnswerChecker<'a> {
    pub(crate) answer: &'a mut PartialAnswer,
    pub(crate) expectation: &'a Expectation,
}

impl Sink for AnswerChecker<'_> {
    fn head(&mut self, head: &Head<'_>) {
        self.answer.problem = self.expectation.judge_head(head).map(Box::new);
    }

    fn body(&mut self, bytes: &[u8]) {
        let from = self.answer.body_bytes;
        self.answer.body_bytes += bytes.len() as u64;
        if self.answer.problem.is_some() {
            return;
        }
        if let Some(exact) = &self.expectation.exact {
            self.answer.compare(exact, from, bytes);
        }
        if !self.expectation.whole.is_empty() {
            self.answer.keep(bytes);
        }
    }
}

impl PartialAnswer {
    /// Whether the body is too long to be read to its end.
    pub(crate) fn is_too_long(&self, expectation: &Expectation) -> bool {
        expectation.is_exceeded_by(self.body_bytes)
    }

    /// The problem of an answer whose body is too long: the wrong status of an error page, and otherwise a protocol error.
    pub(crate) fn too_long_problem(&mut self) -> Problem {
        match self.problem.take() {
            Some(problem) if problem.class == ErrorClass::Status => *problem,
            _ => Problem::new(ErrorClass::Protocol, "body without end"),
        }
    }

    /// The first problem of a complete answer, if it has one.
    pub(crate) fn verdict(&mut self, expectation: &Expectation) -> Option<Problem> {
        if let Some(problem) = self.problem.take() {
            return Some(*problem);
        }
        let of_whole = || {
            let text = expectation.whole.iter().find_map(|check| check.judge(&self.kept))?;
            Some(Problem::new(ErrorClass::Validation, text))
        };
        expectation.judge_length(self.body_bytes).or_else(of_whole)
    }

    /// Compares the part of the body that begins at `from`.
    fn compare(&mut self, expected: &[u8], from: u64, bytes: &[u8]) {
        let rest = usize::try_from(from).ok().and_then(|from| expected.get(from..)).unwrap_or_default();
        // The length of a body that is too long is checked at its end.
        let common = rest.len().min(bytes.len());
        if rest[..common] != bytes[..common] {
            let offset = rest.iter().zip(bytes).take_while(|(wanted, found)| wanted == found).count();
            let (wanted, found) = (escape(&rest[offset..]), escape(&bytes[offset..]));
            self.note(format!("body differs at byte {}: \"{found}\" instead of \"{wanted}\"", from + offset as u64));
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.kept.len() + bytes.len() > MAX_KEPT_BYTES {
            return self.note("body of more than 16 MiB, which checks of the whole body cannot take in".to_owned());
        }
        self.kept.extend_from_slice(bytes);
    }

    fn note(&mut self, text: String) {
        self.problem.get_or_insert_with(|| Box::new(Problem::new(ErrorClass::Validation, text)));
    }
}
