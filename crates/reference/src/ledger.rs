//! The server's own list of the requests that it answered: to compare a client's figures with.

use tare_sys::clock::Nanos;

/// One answered request, on the monotonic clock of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Its index in the order of arrival, from 0.
    pub nth: u64,
    /// When the server noticed it; after a stall, the end of the stall.
    pub received: Nanos,
    /// When the answer was about to be sent.
    pub answered: Nanos,
}

/// The list, if it is kept.
#[derive(Debug)]
pub(crate) struct Ledger(pub(crate) Option<Vec<Served>>);

impl Ledger {
    /// Adds an answer; costs nothing if no list is kept.
    pub(crate) fn add(&mut self, nth: u64, received: Nanos, answered: impl FnOnce() -> Nanos) {
        if let Some(served) = &mut self.0 {
            served.push(Served { nth, received, answered: answered() });
        }
    }

    /// All answered requests, in the order of arrival.
    pub(crate) fn into_answers(self) -> Vec<Served> {
        let mut served = self.0.unwrap_or_default();
        served.sort_unstable_by_key(|one| one.nth);
        served
    }
}
