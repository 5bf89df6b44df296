//! The boundaries of a slice in time, and the CPU time at those that have been crossed.

use std::time::Duration;

use tare_sys::clock::Nanos;

use super::CpuTimes;
use crate::recorder::slice::WorkerSlice;
use crate::schedule::stop_rule::StopRule;

/// The longest drain of a cancelled slice, because its user is waiting.
const CANCELLED_DRAIN: Duration = Duration::from_millis(500);

/// The boundaries of a slice, and the CPU time at those that have been crossed. The default is that between slices.
#[derive(Default)]
pub(super) struct Window {
    /// Whether a slice is running, in its head, window or drain.
    pub(super) is_active: bool,
    /// Begin of the window, after the discarded head.
    pub(super) from: Nanos,
    /// End of the window, where the drain begins.
    pub(super) until: Nanos,
    pub(super) drain_until: Nanos,
    drain_timeout: Duration,
    /// Whether all requests of a count must end within the window.
    pub(super) wants_all: bool,
    /// Whether the slice was cancelled, in its window or in its drain.
    pub(super) is_cancelled: bool,
    spent_at_from: Option<CpuTimes>,
    spent_at_until: Option<CpuTimes>,
}

impl Window {
    pub(super) fn of(slice: &WorkerSlice) -> Self {
        let WorkerSlice { spec, start, .. } = slice;
        let from = *start + spec.discard_head;
        let wants_all = matches!(spec.stop, StopRule::Count { .. });
        let mut window =
            Self { is_active: true, from, drain_timeout: spec.drain_timeout, wants_all, ..Self::default() };
        window.end_at(*start + spec.stop.longest_time());
        window
    }

    pub(super) fn contains(&self, moment: Nanos) -> bool {
        self.from <= moment && moment < self.until
    }

    pub(super) fn end_at(&mut self, until: Nanos) {
        self.until = until;
        self.drain_until = until + self.drain_timeout;
    }

    /// Ends the window at `now` unless it has ended, and the drain shortly after. Only the first call counts.
    pub(super) fn cancel(&mut self, now: Nanos) {
        if !self.is_cancelled {
            self.is_cancelled = true;
            self.wants_all = false;
            self.until = self.until.min(now);
            self.drain_until = self.drain_until.min(now + self.drain_timeout.min(CANCELLED_DRAIN));
        }
    }

    /// Keeps the CPU time of each boundary that has passed since the last call.
    pub(super) fn read_cpu_at_boundary(&mut self, now: Nanos, spent: impl Fn() -> CpuTimes) {
        if self.spent_at_until.is_some() || now < self.next_boundary() {
            return;
        }
        let spent = spent();
        if now >= self.from.min(self.until) {
            self.spent_at_from.get_or_insert(spent);
        }
        if now >= self.until {
            self.spent_at_until.get_or_insert(spent);
        }
    }

    pub(super) fn next_boundary(&self) -> Nanos {
        match (self.spent_at_from, self.spent_at_until) {
            (None, _) => self.from.min(self.until),
            (Some(_), None) => self.until,
            (Some(_), Some(_)) => self.drain_until,
        }
    }

    /// CPU time of the window so far; `now` reads the current one.
    pub(super) fn spent(&self, now: impl Fn() -> CpuTimes) -> CpuTimes {
        let until = self.spent_at_until.unwrap_or_else(now);
        until.since(self.spent_at_from.unwrap_or(until))
    }
}
