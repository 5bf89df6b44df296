//! How fast connections are opened, so that a listener's backlog holds them until the server has accepted them.
//!
//! The JVM's default backlog is 50, and the kernel drops or resets connects beyond that number. So connections are
//! opened in steps below it. In preparation the next step also waits while a connect is pending or the listener holds
//! connections. That of another machine cannot be seen, and within a slice reading it would disturb the load.

use std::time::Duration;

use tare_sys::clock::Nanos;

use crate::schedule::Share;

/// Connections opened at once, over all workers of a target.
const STEP: usize = 32;
/// Time from the beginning of one step to the next.
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Pace {
    step: usize,
    left: usize,
    /// When the next step may begin.
    pub(super) renew_at: Nanos,
}

impl Pace {
    pub(super) fn of(share: Share) -> Self {
        let step = (STEP / share.workers).max(1);
        Self { step, left: step, renew_at: Nanos::ZERO }
    }

    /// Begins the next step if the pause since the last one is over.
    pub(super) fn renew(&mut self, now: Nanos) {
        if self.is_due(now) {
            self.left = self.step;
        }
    }

    /// Whether the pause since the last step is over.
    pub(super) fn is_due(&self, now: Nanos) -> bool {
        now >= self.renew_at
    }

    pub(super) fn hold(&mut self, now: Nanos) {
        self.left = 0;
        self.renew_at = now + PAUSE;
    }

    /// Whether one more may be opened now; if so, it counts.
    pub(super) fn take(&mut self, now: Nanos) -> bool {
        if self.left == self.step {
            self.renew_at = now + PAUSE;
        }
        let may = self.left > 0;
        self.left -= usize::from(may);
        may
    }

    /// How long it takes to open this many, when every connect succeeds at once.
    pub(super) fn span_of(&self, connections: usize) -> Duration {
        PAUSE.saturating_mul(connections.div_ceil(self.step).try_into().unwrap_or(u32::MAX))
    }
}
