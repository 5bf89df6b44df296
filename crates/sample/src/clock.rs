//! Whose clock stamps pushed messages, and what is known of a clock that is not the generator's.

use serde::{Deserialize, Serialize};
use tare_units::named_values;

named_values! {
    #[derive(Default)]
    pub enum ServerClock: "the clock of pushed messages" {
        /// The generator's if the server's address belongs to this machine or is a file; otherwise as [`Self::Estimate`].
        #[default]
        Auto = "auto",
        Same = "same",
        /// Another clock, whose offset is estimated before and after each slice.
        Estimate = "estimate",
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockEstimate {
    /// How far the server's clock is ahead of the generator's, in nanoseconds; negative if it is behind. `None` where too
    /// few messages came or no ping was answered: stamps then mean nothing.
    pub offset_ns: Option<i64>,
    pub messages: u64,
    /// The shortest round trip of a ping, in nanoseconds.
    pub round_trip_ns: Option<u64>,
    /// Whether the offset was estimated after the slice as well as before.
    pub is_confirmed: bool,
}

/// The extremes of stamped messages and pings, from which a server's clock is estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockSamples {
    pub stamped: u64,
    /// Resolution of the coarsest stamp, in nanoseconds.
    pub unit_ns: u64,
    /// The largest difference of a stamp and its arrival on the monotonic clock, in nanoseconds. It is what the server's
    /// clock showed at the origin of the monotonic clock, if the fastest message took no time.
    pub unix_ns: u64,
    /// The shortest round trip of a ping, in nanoseconds.
    pub round_trip_ns: Option<u64>,
}

impl ClockSamples {
    /// Adds a message with the stamp `unix_ns`, in steps of `unit_ns`, that arrived at `arrived_ns` of the monotonic clock.
    pub fn add_message(&mut self, unix_ns: u64, unit_ns: u64, arrived_ns: u64) {
        self.stamped += 1;
        self.unit_ns = self.unit_ns.max(unit_ns);
        self.unix_ns = self.unix_ns.max(unix_ns.saturating_sub(arrived_ns));
    }

    pub fn add_round_trip(&mut self, round_trip_ns: u64) {
        self.round_trip_ns = Some(self.round_trip_ns.map_or(round_trip_ns, |least| least.min(round_trip_ns)));
    }

    /// Adds the samples of another worker or of a later time.
    pub fn merge(&mut self, other: &Self) {
        self.stamped += other.stamped;
        self.unit_ns = self.unit_ns.max(other.unit_ns);
        self.unix_ns = self.unix_ns.max(other.unix_ns);
        other.round_trip_ns.into_iter().for_each(|ns| self.add_round_trip(ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_server_clocks_are_read_again() {
        for clock in ServerClock::ALL {
            assert_eq!(clock.name().parse(), Ok(clock));
            assert_eq!(serde_json::to_string(&clock).unwrap(), format!("\"{}\"", clock.name()));
        }
        assert!("ntp".parse::<ServerClock>().unwrap_err().contains("write auto, same or estimate"));
    }

    #[test]
    fn the_fastest_message_and_the_shortest_round_trip_are_kept() {
        let mut samples = ClockSamples::default();
        samples.add_message(1_000, 1, 400);
        let mut later = ClockSamples::default();
        later.add_message(2_000, 10, 1_500);
        later.add_round_trip(80);
        later.add_round_trip(90);
        samples.merge(&later);
        let expected = ClockSamples { stamped: 2, unit_ns: 10, unix_ns: 600, round_trip_ns: Some(80) };
        assert_eq!(samples, expected);
    }
}
