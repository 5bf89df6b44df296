//! What the server itself knows of the requests that it answered: the truth that a client's figures are held against.

use tare_sys::clock::Nanos;

/// One answered request, on the monotonic clock of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Its place in the order in which requests came, from 0.
    pub nth: u64,
    /// When the server knew of it: after a stall, when it thawed.
    pub received: Nanos,
    /// When the answer was about to be handed to the kernel.
    pub answered: Nanos,
}

/// The books, if they are kept.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Option<Vec<Served>>);

impl Ledger {
    pub(crate) fn new(is_kept: bool) -> Self {
        Self(is_kept.then(Vec::new))
    }

    /// Books an answer; costs nothing when no books are kept.
    pub(crate) fn book(&mut self, nth: u64, received: Nanos, answered: impl FnOnce() -> Nanos) {
        if let Some(served) = &mut self.0 {
            served.push(Served { nth, received, answered: answered() });
        }
    }

    /// Everything that was answered, in the order in which it came.
    pub(crate) fn close(self) -> Vec<Served> {
        let mut served = self.0.unwrap_or_default();
        served.sort_unstable_by_key(|one| one.nth);
        served
    }
}
