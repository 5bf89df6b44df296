//! Compares one answer with its expectation while it arrives. The body is kept only if a check needs it.

use tare_sample::ErrorClass;
use tare_wire::grpc::{Reply, ReplyError};
use tare_wire::http::{Head, Sink};

use crate::input::check::Expectation;
use crate::problem::{Problem, escape};

/// Largest body in bytes that is kept for checks of the whole body.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// The part of the answer that has arrived.
#[derive(Debug, Default)]
pub(crate) struct PartialAnswer {
    /// 0 until the head has come.
    status: u16,
    body_bytes: u64,
    kept: Vec<u8>,
    /// The message and the status of a call of gRPC.
    reply: Option<Box<Reply>>,
    problem: Option<Box<Problem>>,
}

/// A [`Sink`] that compares what it receives.
pub(crate) struct AnswerChecker<'a> {
    pub(crate) answer: &'a mut PartialAnswer,
    pub(crate) expectation: &'a Expectation,
}

impl Sink for AnswerChecker<'_> {
    fn head(&mut self, head: &Head<'_>) {
        self.answer.status = head.status;
        self.answer.problem = self.expectation.judge_head(head).map(Box::new);
        if self.expectation.grpc.is_some() {
            self.answer.reply.get_or_insert_default().take_headers(|name| head.header_value(name));
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        let bytes = self.answer.reply.as_mut().map_or(bytes, |reply| reply.take_body(bytes));
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

impl AnswerChecker<'_> {
    /// Takes the trailers, by name in lower case.
    pub(crate) fn trailers<'a>(&mut self, value: impl Fn(&str) -> Option<&'a [u8]>) {
        if let Some(reply) = &mut self.answer.reply {
            reply.take_trailers(value);
        }
    }
}

impl PartialAnswer {
    /// How far the answer has come, for the text of a timeout; empty if its head has not.
    pub(crate) fn progress(&self) -> String {
        match self.status {
            0 => String::new(),
            status => format!(": status {status} came, and {} bytes of the body", self.body_bytes),
        }
    }

    /// The status; 0 until the head has come.
    pub(crate) const fn status(&self) -> u16 {
        self.status
    }

    /// Whether the body need not be read to its end: it is too long, or no call of gRPC has such an answer.
    pub(crate) fn is_too_long(&self, expectation: &Expectation) -> bool {
        expectation.is_exceeded_by(self.body_bytes) || self.reply.as_ref().is_some_and(|reply| reply.is_wrong())
    }

    /// The problem of an answer whose body is too long: the wrong status of an error page, and otherwise a protocol error.
    pub(crate) fn too_long_problem(&mut self, expectation: &Expectation) -> Problem {
        let of_status = self.problem.take_if(|problem| problem.class == ErrorClass::Status).map(|problem| *problem);
        let of_call =
            || self.reply.as_ref().filter(|reply| reply.is_wrong()).and_then(|_| self.problem_of_call(expectation));
        of_status.or_else(of_call).unwrap_or_else(|| {
            let text = format!(
                "the body went on after {} bytes and was read no further; --check 'length BYTES' allows a longer one",
                self.body_bytes
            );
            Problem::new(ErrorClass::Protocol, text)
        })
    }

    /// The first problem of a complete answer, if it has one.
    pub(crate) fn verdict(&mut self, expectation: &Expectation) -> Option<Problem> {
        if let Some(problem) = self.problem.take_if(|problem| problem.class == ErrorClass::Status) {
            return Some(*problem);
        }
        if let Some(problem) = self.problem_of_call(expectation).or_else(|| self.problem.take().map(|found| *found)) {
            return Some(problem);
        }
        let of_whole = || {
            let text = expectation.whole.iter().find_map(|check| check.judge(&self.kept))?;
            Some(Problem::new(ErrorClass::Validation, text))
        };
        expectation.judge_length(self.body_bytes).or_else(of_whole)
    }

    /// What is wrong with the answer to a call of gRPC.
    fn problem_of_call(&self, expectation: &Expectation) -> Option<Problem> {
        let error = self.reply.as_ref()?.check(expectation.grpc?).err()?;
        let class = match error {
            ReplyError::Status { .. } => ErrorClass::Status,
            _ => ErrorClass::Protocol,
        };
        Some(Problem::new(class, error.to_string()))
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
