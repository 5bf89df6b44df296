//! Counts of the messages that a server pushed over WebSockets.

use serde::{Deserialize, Serialize};

use crate::clock::ClockEstimate;

/// Counts of pushed messages. A message belongs to the slice in which it was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageTally {
    /// Messages that came, duplicates included.
    pub received: u64,
    /// Messages that did not come: gaps between stamps, and what a subscription that broke off or was never opened
    /// should still have received. Where there is no set number of messages, that is one per period until the subscription
    /// broke off or the window ended.
    pub missing: u64,
    /// Received messages that came more than one period after they were sent; without stamps, more than two periods after
    /// the message before.
    pub late: u64,
    /// Received messages that had been sent before one that came earlier.
    pub out_of_order: u64,
    /// Received messages with the same stamp as the one before.
    pub duplicated: u64,
    /// Received messages that, by their stamps, came before they were sent, by more than the error of the clocks. None by
    /// an estimated clock, since the estimate allows for them.
    pub ahead: u64,
    /// Pings answered. They are not messages.
    pub pings: u64,
    /// Subscriptions that were read to their end.
    pub subscriptions: u64,
    /// Streams of events that were silent when the load ended, for much longer than their events had been apart.
    #[serde(default)]
    pub silent: u64,
    /// The longest of these silences, in nanoseconds.
    #[serde(default)]
    pub silent_ns: u64,
    /// Resolution of the coarsest stamp, in nanoseconds; 0 without stamps.
    pub stamp_unit_ns: u64,
    /// Largest error of the assumed difference between the server's clock and the generator's, in nanoseconds.
    pub clock_within_ns: u64,
    /// What is known of the server's clock; `None` where it is the generator's, nothing is stamped, or the record is older
    /// than this field.
    pub clock: Option<ClockEstimate>,
}

impl MessageTally {
    /// Whether the server neither pushed a message nor missed one, and no subscription has ended.
    pub const fn is_empty(&self) -> bool {
        self.received == 0 && self.missing == 0 && self.subscriptions == 0
    }

    /// Adds the tally of another worker or slice. Counts are summed; of clocks and resolutions the least certain is kept.
    pub fn merge(&mut self, other: &Self) {
        self.received += other.received;
        self.missing += other.missing;
        self.late += other.late;
        self.out_of_order += other.out_of_order;
        self.duplicated += other.duplicated;
        self.ahead += other.ahead;
        self.pings += other.pings;
        self.subscriptions += other.subscriptions;
        self.silent += other.silent;
        self.silent_ns = self.silent_ns.max(other.silent_ns);
        self.stamp_unit_ns = self.stamp_unit_ns.max(other.stamp_unit_ns);
        if self.clock_uncertainty() <= other.clock_uncertainty() {
            self.clock = other.clock;
        }
        self.clock_within_ns = self.clock_within_ns.max(other.clock_within_ns);
    }

    /// Rank of uncertainty: the generator's own clock, then an estimated one by its error, then an unknown one.
    fn clock_uncertainty(&self) -> (u8, u64) {
        match self.clock {
            None => (0, 0),
            Some(ClockEstimate { offset_ns: Some(_), .. }) => (1, self.clock_within_ns),
            Some(ClockEstimate { offset_ns: None, .. }) => (2, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_written_before_clocks_were_estimated_are_read() {
        let old = r#"{"received":5,"missing":0,"late":0,"out_of_order":0,"duplicated":0,"ahead":0,"pings":0,
            "subscriptions":1,"stamp_unit_ns":1,"clock_within_ns":90}"#;
        let read: MessageTally = serde_json::from_str(old).unwrap();
        assert_eq!((read.received, read.clock_within_ns, read.clock), (5, 90, None));
    }

    #[test]
    fn the_least_certain_of_several_clock_estimates_is_kept_and_the_last_of_equal_ones() {
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
            tallies.iter().for_each(|tally| sum.merge(tally));
            assert_eq!((sum.clock.map(|clock| clock.messages), sum.clock_within_ns), (messages, within_ns));
        }
    }
}
