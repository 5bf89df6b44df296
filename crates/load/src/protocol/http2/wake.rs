//! The streams that the `h2` crate has woken. The connection polls only these.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The streams woken since the last poll. Only one thread uses it; `Wake` demands the lock.
#[derive(Debug, Default)]
pub(super) struct WokenStreams(Mutex<Vec<usize>>);

struct StreamWaker {
    slot: usize,
    woken: Arc<WokenStreams>,
}

impl Wake for StreamWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.push(self.slot);
    }
}

impl WokenStreams {
    pub(super) fn waker(self: &Arc<Self>, slot: usize) -> Waker {
        Arc::new(StreamWaker { slot, woken: Arc::clone(self) }).into()
    }

    pub(super) fn push(&self, slot: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(slot);
    }

    /// Moves the woken streams into `slots`.
    pub(super) fn take(&self, slots: &mut Vec<usize>) {
        slots.append(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
