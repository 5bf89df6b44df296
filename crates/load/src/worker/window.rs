//! The boundaries of a slice in time, and the CPU time at those that were crossed.

use std::time::Duration;

use tare_sys::clock::Nanos;

use super::WorkerSlice;
use crate::recorder::Spent;
use crate::stop_rule::StopRule;

/// The longest drain of a slice that was cancelled: its user is waiting.
const CANCELLED_DRAIN: Duration = Duration::from_millis(500);

/// The boundaries of a slice, and the CPU time at those that were crossed.
pub(super) struct Window {
    pub(super) active: bool,
    pub(super) from: Nanos,
    pub(super) until: Nanos,
    pub(super) drain_until: Nanos,
    pub(super) drain_timeout: Duration,
    /// Whether all that is counted must be done by the end of the window.
    pub(super) wants_all: bool,
    /// Whether the slice has been cancelled, in its window or in its drain.
    pub(super) is_cut_short: bool,
    spent_at_from: Option<Spent>,
    spent_at_until: Option<Spent>,
}

impl Window {
    pub(super) const fn none() -> Self {
        Self {
            active: false,
            from: Nanos::ZERO,
            until: Nanos::ZERO,
            drain_until: Nanos::ZERO,
            drain_timeout: Duration::ZERO,
            wants_all: false,
            is_cut_short: false,
            spent_at_from: None,
            spent_at_until: None,
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
            self.wants_all = false;
            self.until = self.until.min(now);
            self.drain_until = self.drain_until.min(now + self.drain_timeout.min(CANCELLED_DRAIN));
        }
    }

    pub(super) fn of(slice: &WorkerSlice) -> Self {
        let from = slice.start + slice.discard_head;
        let wants_all = matches!(slice.stop, StopRule::Count { .. });
        let mut window = Self { active: true, from, drain_timeout: slice.drain_timeout, wants_all, ..Self::none() };
        window.end_at(slice.start + slice.stop.at_most());
        window
    }

    /// Whether a boundary has been crossed that [`Window::cross`] has not been told of.
    pub(super) fn is_crossed(&self, now: Nanos) -> bool {
        self.spent_at_until.is_none() && now >= self.next_boundary()
    }

    /// Takes the CPU time for that at each boundary that has been crossed for the first time.
    pub(super) fn cross(&mut self, now: Nanos, spent: Spent) {
        if now >= self.from.min(self.until) {
            self.spent_at_from.get_or_insert(spent);
        }
        if now >= self.until {
            self.spent_at_until.get_or_insert(spent);
        }
    }

    /// The next boundary that has not been crossed.
    pub(super) fn next_boundary(&self) -> Nanos {
        match (self.spent_at_from, self.spent_at_until) {
            (None, _) => self.from.min(self.until),
            (Some(_), None) => self.until,
            (Some(_), Some(_)) => self.drain_until,
        }
    }

    /// CPU time of the window as far as it was crossed; `now` tells that of the present.
    pub(super) fn spent(&self, now: impl Fn() -> Spent) -> Spent {
        let until = self.spent_at_until.unwrap_or_else(now);
        until.since(self.spent_at_from.unwrap_or(until))
    }
}
