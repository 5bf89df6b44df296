//! How a slice is ended early from another thread, with a usable sample.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that ends a running slice; clones share it. The loop looks at least every 100 ms.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the slice that runs with this flag, and every later one.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has been raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    /// Shares a flag that a signal handler raises.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}
