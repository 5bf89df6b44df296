//! What is known of the messages of WebSockets beyond what all answers have in common.

use serde::{Deserialize, Serialize};
use tare_stats::histogram::LatencyHistogram;

use crate::packed::PackedHistogram;

/// The messages that a server pushed during a slice; those of one that only answers have no such entry.
///
/// `H` is as in [`crate::sample::SliceRecord`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Messages<H = LatencyHistogram> {
    /// Their counts.
    pub tally: MessageTally,
    /// By how much the time between two messages of a user differed from the period, either way; needs no server's clock.
    pub jitter: H,
}

/// Counts of pushed messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageTally {
    /// Came, duplicates among them.
    pub received: u64,
    /// Did not come.
    pub missing: u64,
    /// Of those received: came when the next was already due.
    pub late: u64,
    /// Of those received: had been sent before another that had come already.
    pub out_of_order: u64,
    /// Of those received: had the same stamp as the one before.
    pub duplicated: u64,
    /// Of those received: came before they were sent, by their stamps and by more than the clocks may be off.
    pub ahead: u64,
    /// Pings answered; they are no messages.
    pub pings: u64,
    /// Users who read to the end.
    pub subscriptions: u64,
    /// How coarse the stamps were; 0 without stamps.
    pub stamp_unit_ns: u64,
    /// How far the difference between the server's clock and the generator's may have been from what was reckoned with.
    pub clock_within_ns: u64,
    /// What is known of the server's clock, where it is not the generator's; records before this one do not have it.
    #[serde(default)]
    pub clock: Option<ClockEstimate>,
}

/// A server's clock, as its messages tell of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockEstimate {
    /// How far it is ahead of the generator's, below zero if behind; `None` where that could not be estimated, and stamps
    /// mean nothing.
    pub offset_ns: Option<i64>,
    /// Stamped messages that it rests on.
    pub messages: u64,
    /// The least time in which a ping was answered.
    pub round_trip_ns: Option<u64>,
    /// Whether it was estimated afterwards too.
    pub is_confirmed: bool,
}

impl MessageTally {
    /// Adds another slice's: counts add up, uncertainties are the largest, and so the estimate is the least certain.
    pub fn add(&mut self, other: &Self) {
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
        self.stamp_unit_ns = self.stamp_unit_ns.max(other.stamp_unit_ns);
        if self.doubt() <= other.doubt() {
            self.clock = other.clock;
        }
        self.clock_within_ns = self.clock_within_ns.max(other.clock_within_ns);
    }
}

impl MessageTally {
    /// In the order of how little is known: no other clock, one that is estimated ever more vaguely, one that is unknown.
    fn doubt(&self) -> (u8, u64) {
        match self.clock {
            None => (0, 0),
            Some(ClockEstimate { offset_ns: Some(_), .. }) => (1, self.clock_within_ns),
            Some(ClockEstimate { offset_ns: None, .. }) => (2, 0),
        }
    }
}

impl Messages {
    /// Those of several slices together; `None` where nothing was pushed.
    pub fn sum<'a>(each: impl Iterator<Item = &'a Messages<PackedHistogram>>) -> Option<Self> {
        each.fold(None, |sum, one| {
            let mut sum: Self = sum.unwrap_or_default();
            sum.tally.add(&one.tally);
            one.jitter.merge_into(&mut sum.jitter);
            Some(sum)
        })
    }

    /// The same with its histogram packed.
    pub fn pack(self) -> Messages<PackedHistogram> {
        Messages { tally: self.tally, jitter: PackedHistogram::from(&self.jitter) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_of_before_there_were_estimates_are_read() {
        let old = r#"{"received":5,"missing":0,"late":0,"out_of_order":0,"duplicated":0,"ahead":0,"pings":0,
            "subscriptions":1,"stamp_unit_ns":1,"clock_within_ns":90}"#;
        let read: MessageTally = serde_json::from_str(old).unwrap();
        assert_eq!((read.received, read.clock_within_ns, read.clock), (5, 90, None));
    }

    #[test]
    fn of_several_estimates_the_least_certain_stands_and_of_equal_ones_the_last() {
        let of = |offset_ns, clock_within_ns, messages| {
            let clock = Some(ClockEstimate { offset_ns, messages, ..ClockEstimate::default() });
            MessageTally { clock_within_ns, clock, ..MessageTally::default() }
        };
        let none = MessageTally { clock_within_ns: 500, ..MessageTally::default() };
        for (tallies, messages, within_ns) in [
            (&[none, of(Some(1), 40, 20), of(Some(2), 30, 40)][..], Some(20), 500),
            (&[of(Some(1), 30, 20), of(Some(2), 30, 40)], Some(40), 30),
            (&[of(None, 0, 3), of(Some(2), 30, 40)], Some(3), 30),
            (&[none, none], None, 500),
        ] {
            let mut sum = MessageTally::default();
            tallies.iter().for_each(|tally| sum.add(tally));
            assert_eq!((sum.clock.map(|clock| clock.messages), sum.clock_within_ns), (messages, within_ns));
        }
    }
}
