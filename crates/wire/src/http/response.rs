//! The parser of answers: passes head and body to a sink as they arrive, in pieces of any size. It keeps nothing of a
//! body, and bytes of a header section only if that arrived in several pieces, or may be repeated by the next answer.

use super::head::{Body, Head, with_head};
use super::{MAX_HEAD_BYTES, ParseError};

/// Up to this length, an incomplete header section is parsed again at the end of each line.
const TRY_EACH_LINE_BYTES: usize = 4 * 1024;

/// Receives the parts of an answer from a [`ResponseParser`].
pub trait Sink {
    /// The head of the final answer; interim answers (1xx) are skipped.
    fn head(&mut self, head: &Head<'_>);
    fn body(&mut self, bytes: &[u8]);

    /// Whether it reads the fields of a head of this status. If not, a later one may come without them.
    fn reads_fields(&self, _status: u16) -> bool {
        true
    }

    /// Whether the rest need not come, for a caller who reads only the start of an answer.
    fn has_enough(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All bytes were read, and the answer is not complete.
    NeedsMore,
    Complete {
        /// Bytes of the input that belong to it. The rest belongs to the next answer.
        consumed: usize,
        /// Whether the connection may carry another request.
        keeps_alive: bool,
    },
}

/// Reads one answer after another from pieces of a connection's stream.
#[derive(Debug, Default)]
pub struct ResponseParser {
    /// `None` until the head has come.
    body: Option<Body>,
    is_head_request: bool,
    keeps_alive: bool,
    /// The start of an incomplete header section.
    held: Vec<u8>,
    /// Size of the section at which it is parsed again even without the end of a line.
    retry_at_bytes: usize,
    last_head: LastHead,
}

/// The head of the last answer whose fields nobody read. Most servers send the same head to the same request, and change its
/// date once a second. To compare it is cheaper than to parse it: a GET over 64 connections costs 2 % less.
#[derive(Debug, Default)]
struct LastHead {
    /// Empty if there is none.
    bytes: Vec<u8>,
    status: u16,
    body_bytes: u64,
    keeps_alive: bool,
}

impl LastHead {
    fn is_repeated_by(&self, input: &[u8]) -> bool {
        !self.bytes.is_empty() && input.starts_with(&self.bytes)
    }
}

impl ResponseParser {
    /// Expects the answer to a request other than HEAD.
    pub fn new() -> Self {
        Self::default()
    }

    /// Prepares for the answer to the next request, and keeps the buffers.
    pub fn expect_response(&mut self, is_head_request: bool) {
        self.body = None;
        self.is_head_request = is_head_request;
        self.held.clear();
    }

    /// Parses the next bytes of the stream. After an error it is unusable until [`ResponseParser::expect_response`].
    pub fn feed(&mut self, input: &[u8], sink: &mut impl Sink) -> Result<Progress, ParseError> {
        let mut at = 0;
        while self.body.is_none() {
            if self.held.is_empty() {
                at += count_line_ends(&input[at..]);
            }
            if at == input.len() {
                return Ok(Progress::NeedsMore);
            }
            match self.feed_head(&input[at..], sink)? {
                Some(consumed) => at += consumed,
                None => return Ok(Progress::NeedsMore),
            }
        }
        self.feed_body(input, at, sink)
    }

    /// Whether the head has come, and states the length of the body.
    pub const fn knows_length(&self) -> bool {
        matches!(self.body, Some(Body::Length(_)))
    }

    /// Handles the end of the stream, which completes only a body that lasts until then.
    pub fn finish_stream(&self) -> Result<(), ParseError> {
        match self.body {
            Some(Body::UntilClose) => Ok(()),
            None if self.held.is_empty() => Err(ParseError::NoAnswer),
            None => with_head(&self.held, |_, _| Ok(())).and(Err(ParseError::TruncatedHead)),
            Some(Body::Length(_) | Body::Chunked(_)) => Err(ParseError::TruncatedBody),
        }
    }

    /// Parses a head from the kept bytes and `input`. Returns how many bytes of `input` it used; `None` if it is not
    /// complete, and all are kept.
    fn feed_head(&mut self, input: &[u8], sink: &mut impl Sink) -> Result<Option<usize>, ParseError> {
        let held_before = self.held.len();
        if held_before == 0 {
            let length = self.parse_head(input, sink)?;
            if length.is_none() {
                self.held.extend_from_slice(input);
                self.retry_at_bytes = 2 * input.len();
            }
            return Ok(length);
        }
        self.held.extend_from_slice(&input[..input.len().min(MAX_HEAD_BYTES)]);
        if self.is_too_early_to_parse(held_before) {
            return Ok(None);
        }
        let held = std::mem::take(&mut self.held);
        let parsed = self.parse_head(&held, sink);
        self.held = held;
        let length = parsed?;
        match length {
            Some(_) => self.held.clear(),
            None => self.retry_at_bytes = 2 * self.held.len(),
        }
        Ok(length.map(|length| length - held_before))
    }

    /// Parses a head at the start of `bytes`, and returns its length; `None` if it is not complete.
    fn parse_head(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Option<usize>, ParseError> {
        let last = &self.last_head;
        if !self.is_head_request && last.is_repeated_by(bytes) && !sink.reads_fields(last.status) {
            sink.head(&Head::new(last.status, &[]));
            (self.body, self.keeps_alive) = (Some(Body::Length(last.body_bytes)), last.keeps_alive);
            return Ok(Some(last.bytes.len()));
        }
        let window = &bytes[..bytes.len().min(MAX_HEAD_BYTES)];
        let parsed = with_head(window, |head, length| {
            let (body, keeps_alive) = head.body(self.is_head_request)?;
            if head.is_interim() {
                return Ok(length);
            }
            sink.head(head);
            if let (Body::Length(body_bytes), false, false) =
                (&body, self.is_head_request, sink.reads_fields(head.status))
            {
                let last = &mut self.last_head;
                (last.status, last.body_bytes, last.keeps_alive) = (head.status, *body_bytes, keeps_alive);
                last.bytes.clear();
                last.bytes.extend_from_slice(&bytes[..length]);
            }
            (self.body, self.keeps_alive) = (Some(body), keeps_alive);
            Ok(length)
        })?;
        match parsed {
            None if bytes.len() >= MAX_HEAD_BYTES => Err(ParseError::HeadTooLong),
            length => Ok(length),
        }
    }

    /// httparse starts again each time, so single bytes from a peer would take quadratic time. A short section is tried
    /// again at the end of each line; a long one, and garbage without lines, when its size doubles or it ends.
    fn is_too_early_to_parse(&self, held_before: usize) -> bool {
        let has_end = if self.held.len() < TRY_EACH_LINE_BYTES {
            self.held[held_before..].contains(&b'\n')
        } else {
            has_empty_line(&self.held[held_before.saturating_sub(2)..])
        };
        self.held.len() < self.retry_at_bytes.min(MAX_HEAD_BYTES) && !has_end
    }

    fn feed_body(&mut self, input: &[u8], at: usize, sink: &mut impl Sink) -> Result<Progress, ParseError> {
        let (consumed, complete) = match &mut self.body {
            Some(body) => body.feed(&input[at..], |bytes| sink.body(bytes))?,
            None => (0, false),
        };
        Ok(if complete {
            Progress::Complete { consumed: at + consumed, keeps_alive: self.keeps_alive }
        } else {
            Progress::NeedsMore
        })
    }
}

/// How many bytes at the start are empty lines, which mean nothing before an answer (RFC 9112, sections 2.2 and 9.2).
pub fn count_line_ends(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

/// The first line of an answer in HTTP/1, without its end: `HTTP/1.1 400 Bad Request`.
pub fn status_line(bytes: &[u8]) -> Option<&[u8]> {
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    line.starts_with(b"HTTP/1.").then_some(line)
}

/// Whether these bytes are the settings with which a server of HTTP/2 begins (RFC 9113, sections 3.4 and 6.5).
pub const fn begins_http2(bytes: &[u8]) -> bool {
    matches!(bytes, [0, _, _, 4, 0, 0, 0, 0, 0, ..])
}

/// Whether these bytes are an alert of TLS, its answer to a request in plain text (RFC 8446, sections 5.1 and 6).
pub const fn begins_tls_alert(bytes: &[u8]) -> bool {
    matches!(bytes, [21, 3, 0..=4, ..])
}

/// Whether the bytes have an empty line behind another line.
fn has_empty_line(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\n\n") || bytes.windows(3).any(|three| three == b"\n\r\n")
}
