//! Compares one answer with its expectation while it arrives. The body is kept only if a check needs it.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use tare_sample::ErrorClass;
use tare_wire::grpc::{Reply, ReplyError};
use tare_wire::http::Head;

use crate::input::check::Expectation;
use crate::problem::{Problem, escape};

/// Largest body in bytes that is kept for checks of the whole body.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// What is known of an answer of which nothing came but a status of 100 to 199.
pub(super) const ONLY_INTERIM: &str = "only an interim status (1xx) came, and no answer behind it";

/// The part of the answer that has arrived.
#[derive(Debug, Default)]
pub(crate) struct PartialAnswer {
    body_bytes: u64,
    /// What is kept of the body, as it was before it was compressed; or where a redirect leads that is followed.
    pub(crate) kept: Vec<u8>,
    /// Names in the case in which they came, and values; only of an answer that is kept.
    pub(crate) headers: Box<[(String, Vec<u8>)]>,
    /// The message and the status of a call of gRPC.
    reply: Option<Box<Reply>>,
    /// The body is compressed, and is compared when it is complete.
    is_gzip: bool,
    /// It is a redirect that is followed.
    is_followed: bool,
    /// What is known before the head has come, for the text of a timeout.
    pub(super) before_head: &'static str,
    /// Whether its head states how long it is; set for the text of a timeout.
    pub(super) states_length: bool,
    problem: Option<Box<Problem>>,
}

impl PartialAnswer {
    pub(crate) fn take_head(&mut self, head: &Head<'_>, expectation: &Expectation) {
        if let Some(location) = expectation.followed_location(head) {
            (self.is_followed, self.kept) = (true, location.to_vec());
            return;
        }
        if expectation.keeps_answer {
            self.headers = head.headers.iter().map(|field| (field.name.to_owned(), field.value.to_vec())).collect();
        }
        self.problem = expectation.judge_head(head).map(Box::new);
        if expectation.grpc.is_some() {
            self.reply.get_or_insert_default().take_headers(|name| head.header_value(name));
        }
        if expectation.decodes {
            self.note_coding(head.header_value("content-encoding"));
        }
    }

    pub(crate) fn take_body(&mut self, bytes: &[u8], expectation: &Expectation) {
        let bytes = self.reply.as_mut().map_or(bytes, |reply| reply.take_body(bytes));
        let from = self.body_bytes;
        self.body_bytes += bytes.len() as u64;
        if self.problem.is_some() || self.is_followed {
            return;
        }
        if self.is_gzip {
            return self.keep(bytes);
        }
        if let Some(exact) = &expectation.exact {
            self.compare(exact, from, bytes);
        }
        if !expectation.whole.is_empty() || expectation.keeps_answer {
            self.keep(bytes);
        }
    }

    /// Takes the trailers, by name in lower case.
    pub(crate) fn take_trailers<'a>(&mut self, value: impl Fn(&str) -> Option<&'a [u8]>) {
        if let Some(reply) = &mut self.reply {
            reply.take_trailers(value);
        }
    }

    /// How far the answer has come, for the text of a timeout; empty if nothing has. The status is 0 until its head has come.
    pub(crate) fn progress(&self, status: u16) -> String {
        match status {
            0 if self.before_head.is_empty() => String::new(),
            0 => format!(": {}", self.before_head),
            status => {
                let bytes =
                    if self.body_bytes == 0 { "nothing".to_owned() } else { format!("{} bytes", self.body_bytes) };
                let is_stream = (200..300).contains(&status) && !self.states_length;
                let stream =
                    if is_stream { "; of a stream without an end, --event-stream reads the events" } else { "" };
                format!(": status {status} came, and {bytes} of the body{stream}")
            }
        }
    }

    /// Where a complete answer leads that is a redirect to be followed.
    pub(crate) fn take_location(&mut self) -> Option<Vec<u8>> {
        std::mem::take(&mut self.is_followed).then(|| std::mem::take(&mut self.kept))
    }

    /// Whether the body need not be read to its end: it is too long, or no call of gRPC has such an answer.
    pub(crate) fn is_too_long(&self, expectation: &Expectation) -> bool {
        expectation.is_exceeded_by(self.body_bytes, self.is_followed)
            || self.reply.as_ref().is_some_and(|reply| reply.is_wrong())
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

    pub(crate) fn verdict(&mut self, expectation: &Expectation) -> Option<Problem> {
        // An answer to HEAD, and one of status 204 or 304, may name a coding without a body.
        if self.is_gzip && self.body_bytes > 0 {
            self.decode(expectation);
        }
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

    fn problem_of_call(&self, expectation: &Expectation) -> Option<Problem> {
        let error = self.reply.as_ref()?.check(expectation.grpc?).err()?;
        let class = match error {
            ReplyError::Status { .. } => ErrorClass::Status,
            ReplyError::Malformed(_) => ErrorClass::Protocol,
        };
        Some(Problem::new(class, error.to_string()))
    }

    fn note_coding(&mut self, coding: Option<&[u8]>) {
        match coding.map(<[u8]>::to_ascii_lowercase).as_deref() {
            None | Some(b"identity") => {}
            Some(b"gzip" | b"x-gzip") => self.is_gzip = true,
            Some(other) => self.note(format!(
                "body encoded as {}, which checks cannot undo; ask for gzip (-H 'Accept-Encoding: gzip')",
                escape(other)
            )),
        }
    }

    /// Compares a complete body that was compressed, and keeps what it was before.
    fn decode(&mut self, expectation: &Expectation) {
        if self.problem.is_some() {
            return;
        }
        let mut plain = Vec::new();
        let mut decoder = MultiGzDecoder::new(&self.kept[..]).take(MAX_KEPT_BYTES as u64 + 1);
        if let Err(error) = decoder.read_to_end(&mut plain) {
            return self.note(format!("body is no gzip, as its Content-Encoding says: {error}"));
        }
        (self.body_bytes, self.kept) = (plain.len() as u64, Vec::new());
        if let Some(exact) = &expectation.exact {
            self.compare(exact, 0, &plain);
        }
        self.keep(&plain);
    }

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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tare_wire::http::Field;

    use super::*;
    use crate::input::check::Check;

    /// What is wrong with an answer of this coding and body.
    fn judged(checks: &[Check], coding: &[u8], body: &[u8]) -> Option<String> {
        let mut expectation = Expectation::of(checks);
        expectation.decodes = true;
        let mut answer = PartialAnswer::default();
        answer.take_head(&Head::new(200, &[Field { name: "Content-Encoding", value: coding }]), &expectation);
        body.chunks(7).for_each(|part| answer.take_body(part, &expectation));
        answer.verdict(&expectation).map(|problem| problem.text)
    }

    #[test]
    fn checks_see_the_body_as_it_was_before_it_was_compressed() {
        let text = "hello ".repeat(100);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        let gzip = encoder.finish().unwrap();
        let contains = |part: &str| format!("body contains {part}").parse::<Check>().unwrap();
        let right = [contains("lo hel"), Check::body_is(text.as_bytes()), Check::length(600)];
        for check in &right {
            assert_eq!(judged(std::slice::from_ref(check), b"gzip", &gzip), None, "{check:?}");
        }
        assert_eq!(judged(&right, b"identity", text.as_bytes()), None);
        assert_eq!(judged(&[Check::length(0)], b"gzip", b""), None, "there is no body to decode");
        assert!(judged(&[contains("bye")], b"gzip", &gzip).unwrap().contains("does not contain"));
        assert!(judged(&[Check::body_is(*b"hello")], b"gzip", &gzip).unwrap().contains("body of 600 bytes"));
        assert!(judged(&right, b"gzip", b"hello").unwrap().contains("no gzip"));
        assert!(judged(&right, b"br", b"hello").unwrap().contains("Accept-Encoding: gzip"));
    }
}
