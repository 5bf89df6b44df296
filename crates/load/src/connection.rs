//! The state machine of one connection: what it is doing, and what bytes and ends mean while it does so.
//! It decides nothing about other connections or about time, and calls nobody.

use tare_sys::clock::Nanos;
use tare_sys::poll::CloseCause;
use tare_wire::http::{ParseError, Progress, ResponseParser};

use crate::answer::{Check, Problem, Seen};
use crate::recorder::Times;
use crate::request::RequestSet;
use crate::sample::{ErrorClass, escape};

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not open; to be opened again at this moment.
    Closed { retry_at: Nanos },
    /// Being opened.
    Connecting { since: Nanos, deadline: Nanos },
    /// Open, with nothing asked.
    Idle,
    /// Awaiting an answer until the deadline.
    Busy { deadline: Nanos },
}

/// One connection and the request that it carries.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: State,
    /// Since when it could have carried a request; in the closed loop, the next one's intended start.
    pub(crate) free_since: Nanos,
    /// Ends without an answer in between: what the backing-off goes by.
    pub(crate) failures: u32,
    pub(crate) times: Times,
    request: usize,
    parser: ResponseParser,
    seen: Seen,
}

/// What bytes or an end have led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The answer goes on.
    More,
    /// The answer is complete, for better or worse.
    Answered { problem: Option<Problem>, reusable: bool },
    /// The connection cannot be used any further.
    Broken(Problem),
}

impl Connection {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Closed { retry_at: Nanos::ZERO },
            free_since: Nanos::ZERO,
            failures: 0,
            times: Times::default(),
            request: 0,
            parser: ResponseParser::new(),
            seen: Seen::default(),
        }
    }

    /// A request is about to leave on it.
    pub(crate) fn begin(&mut self, request: usize, is_head: bool, times: Times, deadline: Nanos) {
        self.state = State::Busy { deadline };
        self.request = request;
        self.times = times;
        self.parser.expect(is_head);
        self.seen.clear();
    }

    /// Takes bytes that arrived.
    pub(crate) fn receive(&mut self, bytes: &[u8], requests: &RequestSet) -> Step {
        if !matches!(self.state, State::Busy { .. }) {
            let text = format!("{} bytes without a request: \"{}\"", bytes.len(), escape(bytes));
            return Step::Broken(Problem::new(ErrorClass::Protocol, text));
        }
        let expectation = &requests.get(self.request).expectation;
        let mut check = Check { seen: &mut self.seen, expectation };
        match self.parser.feed(bytes, &mut check) {
            Ok(Progress::Complete { consumed, .. }) if consumed < bytes.len() => {
                let text = format!("bytes after the end of the answer: \"{}\"", escape(&bytes[consumed..]));
                Step::Broken(Problem::new(ErrorClass::Protocol, text))
            }
            Ok(Progress::Complete { keeps_alive, .. }) => {
                Step::Answered { problem: self.seen.verdict(expectation), reusable: keeps_alive }
            }
            Ok(Progress::NeedsMore) if self.seen.is_flooded(expectation) => Step::Broken(self.seen.flood()),
            Ok(Progress::NeedsMore) => Step::More,
            Err(error) => {
                let text = format!("{error}: \"{}\"", escape(bytes));
                Step::Broken(Problem::new(ErrorClass::Protocol, text))
            }
        }
    }

    /// Takes the end of the connection.
    pub(crate) fn end(&mut self, cause: &CloseCause, requests: &RequestSet) -> Step {
        let problem = match cause {
            CloseCause::EndOfStream => match self.parser.finish() {
                Ok(()) => {
                    let problem = self.seen.verdict(&requests.get(self.request).expectation);
                    return Step::Answered { problem, reusable: false };
                }
                Err(error) if error.is_truncation() => Problem::new(ErrorClass::Read, error.to_string()),
                Err(error) => Problem::new(ErrorClass::Protocol, error.to_string()),
            },
            CloseCause::ConnectFailed(error) => Problem::new(ErrorClass::Connect, error.to_string()),
            CloseCause::WriteFailed(error) => Problem::new(ErrorClass::Write, error.to_string()),
            CloseCause::ReadFailed(error) => Problem::new(ErrorClass::Read, self.where_it_broke(&error.to_string())),
            _ => Problem::new(ErrorClass::Read, format!("{cause:?}")),
        };
        Step::Broken(problem)
    }

    fn where_it_broke(&self, error: &str) -> String {
        match self.parser.finish() {
            Err(ParseError::TruncatedHead) => format!("{error}, inside the headers"),
            Err(ParseError::TruncatedBody) | Ok(()) => format!("{error}, inside the body"),
            Err(_) => error.to_owned(),
        }
    }
}
