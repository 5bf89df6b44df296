//! The reader of answers: fed with pieces cut anywhere, it tells a sink of the head and the body as they come, and
//! keeps nothing of the body. It holds bytes only of a header section that came in several pieces.

use super::chunked::Chunked;
use super::head::{Framing, Head, with_head};
use super::{MAX_HEAD_BYTES, ParseError};

/// Takes what a [`ResponseParser`] finds.
pub trait Sink {
    /// The head of the final answer; interim answers (1xx) are passed over.
    fn head(&mut self, head: &Head<'_>);
    /// The next bytes of the body, decoded.
    fn body(&mut self, bytes: &[u8]);
}

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All bytes were taken; the answer is not at its end.
    NeedsMore,
    /// The answer is complete.
    Complete {
        /// Bytes of the input that belonged to it; what follows is another answer's.
        consumed: usize,
        /// Whether the connection may carry a further request.
        keeps_alive: bool,
    },
}

/// Reads one answer after another from pieces of a connection's stream.
#[derive(Debug)]
pub struct ResponseParser {
    state: ResponseState,
    is_head_request: bool,
    keeps_alive: bool,
    /// A header section that is not complete.
    held: Vec<u8>,
    /// So many bytes are looked at again although no line has ended.
    look_again_at: usize,
}

#[derive(Debug)]
enum ResponseState {
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

impl Default for ResponseParser {
    fn default() -> Self {
        Self {
            state: ResponseState::Head,
            is_head_request: false,
            keeps_alive: true,
            held: Vec::new(),
            look_again_at: 0,
        }
    }
}

impl ResponseParser {
    /// A parser that awaits the answer to a request other than HEAD.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes ready for the answer to the next request. Buffers are kept, so that this costs nothing.
    pub fn expect(&mut self, is_head_request: bool) {
        self.state = ResponseState::Head;
        self.is_head_request = is_head_request;
        self.keeps_alive = true;
        self.held.clear();
    }

    /// Takes the next bytes of the stream.
    ///
    /// # Errors
    /// When they cannot be an answer; the parser is of no use until [`ResponseParser::expect`].
    pub fn feed(&mut self, input: &[u8], sink: &mut impl Sink) -> Result<Progress, ParseError> {
        let mut at = 0;
        while let ResponseState::Head = self.state {
            match self.feed_head(&input[at..], sink)? {
                Some(consumed) => at += consumed,
                None => return Ok(Progress::NeedsMore),
            }
        }
        self.feed_body(input, at, sink)
    }

    /// Says that the stream has ended; fine only for a body that lasts until then.
    ///
    /// # Errors
    /// When an answer was awaited or not complete, or what came of it could not have become one.
    pub fn finish(&self) -> Result<(), ParseError> {
        match self.state {
            ResponseState::UntilClose => Ok(()),
            ResponseState::Head if self.held.is_empty() => Err(ParseError::NoAnswer),
            ResponseState::Head => with_head(&self.held, |_, _| Ok(())).and(Err(ParseError::TruncatedHead)),
            ResponseState::Length(_) | ResponseState::Chunked(_) => Err(ParseError::TruncatedBody),
        }
    }

    /// Parses a head from `input`, behind what is held; the bytes of `input` it used, or `None` when all were held
    /// back because the head is not complete.
    fn feed_head(&mut self, input: &[u8], sink: &mut impl Sink) -> Result<Option<usize>, ParseError> {
        if input.is_empty() && self.held.is_empty() {
            return Ok(None);
        }
        if self.may_wait(input) {
            self.held.extend_from_slice(input);
            return Ok(None);
        }
        let held_before = self.held.len();
        let mut held = std::mem::take(&mut self.held);
        let bytes = if held.is_empty() {
            input
        } else {
            held.extend_from_slice(&input[..input.len().min(MAX_HEAD_BYTES + 1)]);
            &held[..]
        };
        let window = &bytes[..bytes.len().min(MAX_HEAD_BYTES)];
        let parsed = with_head(window, |head, length| {
            let (framing, keeps_alive) = head.framing(self.is_head_request)?;
            if !head.is_interim() {
                sink.head(head);
            }
            Ok((framing, keeps_alive, head.is_interim(), length))
        })?;
        let Some((framing, keeps_alive, is_interim, length)) = parsed else {
            if bytes.len() >= MAX_HEAD_BYTES {
                return Err(ParseError::HeadTooLong);
            }
            if held_before == 0 {
                held.extend_from_slice(input);
            }
            self.look_again_at = (2 * held.len()).min(MAX_HEAD_BYTES);
            self.held = held;
            return Ok(None);
        };
        held.clear();
        self.held = held;
        if !is_interim {
            self.keeps_alive = keeps_alive;
            self.state = match framing {
                Framing::Length(length) => ResponseState::Length(length),
                Framing::Chunked => ResponseState::Chunked(Chunked::new()),
                Framing::UntilClose => ResponseState::UntilClose,
            };
        }
        Ok(Some(length - held_before))
    }

    /// Whether another look at what is held cannot pay yet: httparse begins anew each time, and a peer that sends single
    /// bytes would make that quadratic. A section ends with a line; garbage without lines is found out by doubling.
    fn may_wait(&self, input: &[u8]) -> bool {
        !self.held.is_empty() && self.held.len() + input.len() < self.look_again_at && !input.contains(&b'\n')
    }

    fn feed_body(&mut self, input: &[u8], at: usize, sink: &mut impl Sink) -> Result<Progress, ParseError> {
        let rest = &input[at..];
        let (consumed, complete) = match &mut self.state {
            ResponseState::Length(remaining) => {
                let take = usize::try_from(*remaining).map_or(rest.len(), |remaining| remaining.min(rest.len()));
                if take > 0 {
                    sink.body(&rest[..take]);
                }
                *remaining -= take as u64;
                (take, *remaining == 0)
            }
            ResponseState::Chunked(chunked) => chunked.feed(rest, |bytes| sink.body(bytes))?,
            ResponseState::UntilClose => {
                if !rest.is_empty() {
                    sink.body(rest);
                }
                (rest.len(), false)
            }
            ResponseState::Head => (0, false),
        };
        Ok(if complete {
            Progress::Complete { consumed: at + consumed, keeps_alive: self.keeps_alive }
        } else {
            Progress::NeedsMore
        })
    }
}
