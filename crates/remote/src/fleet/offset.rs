//! The offset of an agent's clocks, from pings over the pipe of its orders and reports.

use crate::protocol::ClockReading;

/// How far an agent's clocks are ahead of the coordinator's; negative if behind. Half the round trip is the possible error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// Of the monotonic clocks, in nanoseconds. Each counts from the boot of its machine.
    pub monotonic_ns: i64,
    pub wall_ns: i64,
    pub round_trip_ns: u64,
}

impl ClockOffset {
    /// From a ping that was sent and answered at these moments of the coordinator's monotonic clock, in nanoseconds.
    /// `epoch_unix_ns` is what the coordinator's wall clock showed at the origin of that clock.
    pub fn from_ping(sent_ns: u64, answered_ns: u64, epoch_unix_ns: u64, reading: &ClockReading) -> Self {
        let round_trip_ns = answered_ns.saturating_sub(sent_ns);
        let middle_ns = sent_ns + round_trip_ns / 2;
        let difference = |theirs: u64, ours: u64| (theirs as i64).wrapping_sub(ours as i64);
        Self {
            monotonic_ns: difference(reading.monotonic_ns, middle_ns),
            wall_ns: difference(reading.unix_ns, epoch_unix_ns.wrapping_add(middle_ns)),
            round_trip_ns,
        }
    }

    /// Converts a time of the coordinator's monotonic clock to the agent's, in nanoseconds.
    pub const fn on_agent_clock(&self, moment_ns: u64) -> u64 {
        moment_ns.wrapping_add(self.monotonic_ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: u64 = 1_700_000_000_000_000_000;
    const S: i64 = 1_000_000_000;

    /// A ping at `at_ns`, with these times for the two ways, to an agent whose clocks are ahead by these.
    fn offset(at_ns: u64, there_ns: u64, back_ns: u64, monotonic_ns: i64, wall_ns: i64) -> ClockOffset {
        let then_ns = at_ns + there_ns;
        let monotonic_ns = then_ns.checked_add_signed(monotonic_ns).unwrap();
        let unix_ns = (EPOCH + then_ns).checked_add_signed(wall_ns).unwrap();
        ClockOffset::from_ping(at_ns, then_ns + back_ns, EPOCH, &ClockReading { number: 1, monotonic_ns, unix_ns })
    }

    #[test]
    fn the_offset_is_known_within_half_a_round_trip() {
        for (there_ns, back_ns) in [(50_000, 50_000), (0, 90_000), (90_000, 0), (1, 0)] {
            for ahead_ns in [0, 3 * S, -3 * S, 86_400 * S] {
                let found = offset(90_000 * S as u64, there_ns, back_ns, ahead_ns, ahead_ns);
                assert_eq!(found.round_trip_ns, there_ns + back_ns);
                assert!(found.monotonic_ns.abs_diff(ahead_ns) <= found.round_trip_ns.div_ceil(2), "{found:?}");
                assert!(found.wall_ns.abs_diff(ahead_ns) <= found.round_trip_ns.div_ceil(2), "{found:?}");
            }
        }
    }

    #[test]
    fn a_start_is_the_same_moment_on_a_clock_that_is_three_seconds_off() {
        let start_ns = 100 * S as u64;
        for ahead_ns in [3 * S, -3 * S] {
            let found = offset(99 * S as u64, 40_000, 40_000, ahead_ns, 0);
            assert_eq!(found.on_agent_clock(start_ns), start_ns.checked_add_signed(ahead_ns).unwrap());
        }
    }
}
