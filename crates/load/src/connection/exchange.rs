//! One request and what has come of it so far.

use tare_sys::clock::Nanos;

use crate::answer::Seen;
use crate::messages::Owed;
use crate::recorder::Times;

/// A request that is under way on a connection.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) times: Times,
    /// When it fails for want of an answer.
    pub(crate) deadline: Nanos,
    /// Which of the request set.
    pub(crate) request: usize,
    pub(crate) seen: Seen,
    /// Of a subscription that was given up: the messages that it was still owed.
    pub(crate) owed: Option<Owed>,
    /// How often a server has sent it back unprocessed.
    pub(crate) returns: u8,
}

impl Exchange {
    pub(crate) fn new(request: usize, times: Times, deadline: Nanos) -> Self {
        Self { times, deadline, request, seen: Seen::default(), owed: None, returns: 0 }
    }
}
