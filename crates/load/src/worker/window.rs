//! The boundaries of a slice in time, and the CPU time at those that were crossed.

use std::time::Duration;

use tare_sys::clock::{Clock, Nanos};

use super::WorkerSlice;

/// The longest drain of a slice that was cancelled: its user is waiting.
const CANCELLED_DRAIN: Duration = Duration::from_millis(500);

/// The boundaries of a slice, and the CPU time at those that were crossed.
pub(super) struct Window {
    pub(super) active: bool,
    pub(super) from: Nanos,
    pub(super) until: Nanos,
    pub(super) drain_until: Nanos,
    pub(super) drain_timeout: Duration,
    /// Whether the slice has been cancelled, in its window or in its drain.
    pub(super) is_cut_short: bool,
    pub(super) cpu_at_from: Option<u64>,
    pub(super) cpu_at_until: Option<u64>,
}

impl Window {
    pub(super) const fn none() -> Self {
        Self {
            active: false,
            from: Nanos::ZERO,
            until: Nanos::ZERO,
            drain_until: Nanos::ZERO,
            drain_timeout: Duration::ZERO,
            is_cut_short: false,
            cpu_at_from: None,
            cpu_at_until: None,
        }
    }

    pub(super) fn end_at(&mut self, until: Nanos) {
        self.until = until;
        self.drain_until = until + self.drain_timeout;
    }

    /// Ends the window at `now` unless it has ended, and the drain shortly after; only the first call counts.
    pub(super) fn cut_short(&mut self, now: Nanos) {
        if !self.is_cut_short {
            self.is_cut_short = true;
            self.until = self.until.min(now);
            self.drain_until = self.drain_until.min(now + self.drain_timeout.min(CANCELLED_DRAIN));
        }
    }

    pub(super) fn of(slice: &WorkerSlice) -> Self {
        let from = slice.start + slice.discard_head;
        let mut window = Self { active: true, from, drain_timeout: slice.drain_timeout, ..Self::none() };
        window.end_at(slice.start + slice.stop.at_most());
        window
    }

    /// Reads the thread's CPU time at each boundary that has been crossed for the first time.
    pub(super) fn cross(&mut self, now: Nanos, clock: &impl Clock) {
        if self.cpu_at_from.is_none() && now >= self.from.min(self.until) {
            self.cpu_at_from = Some(clock.thread_cpu_ns());
        }
        if self.cpu_at_until.is_none() && now >= self.until {
            self.cpu_at_until = Some(clock.thread_cpu_ns());
        }
    }

    /// The next boundary that has not been crossed.
    pub(super) fn next_boundary(&self) -> Nanos {
        match (self.cpu_at_from, self.cpu_at_until) {
            (None, _) => self.from.min(self.until),
            (Some(_), None) => self.until,
            (Some(_), Some(_)) => self.drain_until,
        }
    }

    /// CPU time of the thread within the window, as far as it was crossed.
    pub(super) fn cpu_ns(&self, clock: &impl Clock) -> u64 {
        let until = self.cpu_at_until.unwrap_or_else(|| clock.thread_cpu_ns());
        until.saturating_sub(self.cpu_at_from.unwrap_or(until))
    }
}
