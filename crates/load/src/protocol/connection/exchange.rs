//! One request under way and the part of its answer that has arrived.

use tare_sys::clock::Nanos;

use crate::protocol::answer::PartialAnswer;
use crate::recorder::Times;
use crate::recorder::missing_messages::MissingMessages;

/// A request that is under way on a connection.
#[derive(Debug)]
pub(crate) struct Exchange {
    times: Times,
    /// When it times out.
    pub(crate) deadline: Nanos,
    /// Index in the request set.
    pub(crate) request: usize,
    pub(crate) answer: PartialAnswer,
    /// Messages that a failed subscription has not received.
    pub(crate) missing: Option<MissingMessages>,
    /// How many times a server has sent it back unprocessed.
    pub(crate) returns: u8,
}

impl Exchange {
    /// Its times, with the status of the answer as far as that has come.
    pub(crate) const fn times(&self) -> Times {
        Times { status: self.answer.status(), ..self.times }
    }

    pub(crate) fn new(request: usize, times: Times, deadline: Nanos) -> Self {
        let times = Times { request: Some(request as u32), ..times };
        Self { times, deadline, request, answer: PartialAnswer::default(), missing: None, returns: 0 }
    }
}
