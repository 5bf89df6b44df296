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
    /// Whether the body has become so long that it must not be read to its end.
    pub(crate) fn is_flooded(&self, expectation: &Expectation) -> bool {
        let limit = expectation.body.length_bytes().map_or(MAX_ANY_BYTES, |length| length + MAX_EXCESS_BYTES);
        self.body_bytes > limit
    }

    /// The problem of an answer that is flooded: a long error page is a wrong status, anything else breaks the protocol.
    pub(crate) fn flood(&mut self) -> Problem {
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

#[cfg(test)]
mod tests {
    use super::*;
    use tare_wire::http::ResponseParser;

    /// The verdict on a complete answer to a request that expects `ok` and `X: y`, fed in pieces of `size` bytes.
    fn verdict(raw: &str, size: usize) -> Option<(ErrorClass, String)> {
        let headers = vec![("X".to_owned(), "y".to_owned())];
        let body = BodyExpectation::Exact((*b"okay").into());
        let expectation = Expectation { status: 200, headers, body };
        let (mut parser, mut seen) = (ResponseParser::new(), Seen::default());
        for piece in raw.as_bytes().chunks(size) {
            let mut check = Check { seen: &mut seen, expectation: &expectation };
            parser.feed(piece, &mut check).unwrap();
        }
        seen.verdict(&expectation).map(|problem| (problem.class, problem.text))
    }

    #[test]
    fn answers_are_judged_alike_however_they_come() {
        use ErrorClass::{Status, Validation};
        let answer = |status: u16, x: &str, body: &str| {
            format!("HTTP/1.1 {status} A\r\nX: {x}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        };
        for (raw, expected) in [
            (answer(200, "y", "okay"), None),
            (answer(500, "y", "okay"), Some((Status, "status 500 instead of 200"))),
            (answer(302, "z", "elsewhere"), Some((Status, "status 302 instead of 200"))),
            (answer(200, "z", "okay"), Some((Validation, "header X is \"z\" instead of \"y\""))),
            (answer(200, "y", "oka"), Some((Validation, "body of 3 bytes instead of 4"))),
            (answer(200, "y", "okay!"), Some((Validation, "body of 5 bytes instead of 4"))),
        ] {
            for size in [1, 7, 1000] {
                let expected = expected.map(|(class, text)| (class, text.to_owned()));
                assert_eq!(verdict(&raw, size), expected, "{raw:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_wrong_byte_is_shown_with_its_place() {
        let raw = "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 4\r\n\r\nok\x01y";
        let text = "body differs at byte 2: \"\\x01y\" instead of \"ay\"".to_owned();
        assert_eq!(verdict(raw, 1000), Some((ErrorClass::Validation, text)));
    }
}
