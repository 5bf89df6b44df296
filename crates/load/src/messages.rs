//! What a slice has shown of the messages of WebSockets, beyond the counts and times that all answers have.

use std::time::Duration;

use tare_stats::LatencyHistogram;
use tare_sys::clock::Nanos;

use crate::pushed::Pushed;
use crate::server_clock::{ClockEstimate, Clues, Reckoning};

/// The pushed messages of a slice, each of which belongs to it by when it was sent.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// Messages that came, duplicates among them.
    pub received: u64,
    /// Messages that did not come: so many as the stamps before and after leave room for, and what a subscription that
    /// broke off, or never came about, was still owed: the rest of the messages that were wanted, or, where as many are
    /// wanted as come, what there was room for until it broke off or the window ended.
    pub missing: u64,
    /// Of those received, how many came later than a period after they were sent, when the next was due; without stamps,
    /// how many came later than two periods after the one before.
    pub late: u64,
    /// Of those received, how many had been sent before another that had come already.
    pub out_of_order: u64,
    /// Of those received, how many had the same stamp as the one before.
    pub duplicated: u64,
    /// Of those received, how many came before they were sent, by their stamps and by more than the clocks may be off; none
    /// by a clock that is estimated, whose estimate makes room for them.
    pub ahead: u64,
    /// Pings answered; they are no messages.
    pub pings: u64,
    /// Subscriptions that came to their end.
    pub subscriptions: u64,
    /// By how much the time between two messages of a subscription differs from the period, either way. It needs no clock
    /// of the server's.
    pub jitter: LatencyHistogram,
    /// How coarse the coarsest stamps were, in nanoseconds; 0 without stamps.
    pub stamp_unit_ns: u64,
    /// How far the difference between the server's clock and ours may have been from what was reckoned with, in
    /// nanoseconds.
    pub clock_within_ns: u64,
    /// What is known of the server's clock; `None` where it is this machine's, or nothing is stamped.
    pub clock: Option<ClockEstimate>,
    /// What the messages say of it, where it is another.
    pub(crate) clues: Clues,
}

/// The messages that a subscription is still owed when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owed {
    /// So many in any case.
    pub(crate) messages: u64,
    /// And those since the last, where as many were wanted as come.
    pub(crate) silence: Option<Silence>,
}

/// A time in which no message came, though one was to come in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    pub(crate) since: Nanos,
    pub(crate) period: Duration,
}

impl Owed {
    /// How many messages are missing between two moments.
    pub(crate) fn missing(&self, from: Nanos, until: Nanos) -> u64 {
        self.messages + self.silence.map_or(0, |silence| silence.room(from, until))
    }
}

impl Silence {
    /// Messages that there was room for, where one may be late by half a period before it counts.
    fn room(&self, from: Nanos, until: Nanos) -> u64 {
        let (silent_ns, period_ns) = (until.since(self.since.max(from)), Nanos::from(self.period).0.max(1));
        (silent_ns.saturating_add(period_ns / 2) / period_ns).saturating_sub(1)
    }
}

impl Messages {
    /// Books one pushed message, of which the clocks may be off by so much.
    pub(crate) fn book(&mut self, pushed: &Pushed, within_ns: u64) {
        self.received += 1;
        self.late += u64::from(pushed.is_late);
        self.out_of_order += u64::from(pushed.is_out_of_order);
        self.duplicated += u64::from(pushed.is_duplicate);
        self.ahead += u64::from(pushed.sent.is_some_and(|sent| sent.since(pushed.came) > within_ns));
        self.stamp_unit_ns = self.stamp_unit_ns.max(pushed.unit_ns);
        if let Some(jitter_ns) = pushed.jitter_ns {
            self.jitter.record_ns(jitter_ns);
        }
    }

    /// Says what the server's clock was taken to be.
    pub(crate) fn reckon(&mut self, reckoning: &Reckoning) {
        self.clock_within_ns = reckoning.epoch.map_or(0, |epoch| epoch.within_ns);
        self.clock = reckoning.estimate;
    }

    /// Adds another worker's, or another time's.
    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.received, other.received),
            (&mut self.missing, other.missing),
            (&mut self.late, other.late),
            (&mut self.out_of_order, other.out_of_order),
            (&mut self.duplicated, other.duplicated),
            (&mut self.ahead, other.ahead),
            (&mut self.pings, other.pings),
            (&mut self.subscriptions, other.subscriptions),
        ] {
            *mine += theirs;
        }
        self.jitter.merge(&other.jitter);
        self.stamp_unit_ns = self.stamp_unit_ns.max(other.stamp_unit_ns);
        // One slice has one; of parts of it, the last knows best how far it was off.
        self.clock = other.clock.or(self.clock);
        self.clock_within_ns = self.clock_within_ns.max(other.clock_within_ns);
        self.clues.add(&other.clues);
    }
}
