//! Which streams have news. The crate wakes them, and the connection polls no others.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The streams woken since the last poll. Only one thread uses it; `Wake` demands the lock.
#[derive(Debug, Default)]
pub(super) struct Woken(Mutex<Vec<usize>>);

struct Bell {
    slot: usize,
    woken: Arc<Woken>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.push(self.slot);
    }
}

impl Woken {
    /// The waker of the stream in a slot.
    pub(super) fn waker(self: &Arc<Self>, slot: usize) -> Waker {
        Arc::new(Bell { slot, woken: Arc::clone(self) }).into()
    }

    pub(super) fn push(&self, slot: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
    }

    /// Moves the woken streams into `slots`.
    pub(super) fn take(&self, slots: &mut Vec<usize>) {
        slots.append(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
