//! The clock that stamps pushed messages, and the estimate of its offset when it is another machine's.

use tare_sample::{ClockEstimate, ClockSamples, MessageTally, ServerClock};
use tare_sys::clock::{Epoch, Nanos};
use tare_sys::socket::Target;
use tare_wire::ws::Stamped;

/// With fewer stamped messages, the shortest delay may be far from the shortest possible one.
const LEAST_MESSAGES: u64 = 5;

pub(crate) fn is_own_clock(setting: ServerClock, target: &Target) -> bool {
    match setting {
        ServerClock::Auto => target.is_on_this_machine(),
        ServerClock::Same => true,
        ServerClock::Estimate => false,
    }
}

/// The offset of the server's clock that a slice assumes. By default nothing is known of it: a message counts by its
/// arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClockModel {
    /// The server's epoch; `None` where it is unknown.
    pub(crate) epoch: Option<Epoch>,
    /// How the epoch was estimated; `None` if the clock is this machine's.
    pub(crate) estimate: Option<ClockEstimate>,
}

impl ClockModel {
    /// Estimates the server's clock from samples; `ours` is this machine's, assumed if messages came without stamps.
    pub(crate) fn of(samples: &ClockSamples, messages: u64, ours: Epoch) -> Self {
        if samples.stamped == 0 && messages > 0 {
            return Self::own_clock(ours);
        }
        let epoch = estimated_epoch(samples, ours);
        let estimate = ClockEstimate {
            offset_ns: epoch.map(|epoch| (epoch.unix_ns as i64).wrapping_sub(ours.unix_ns as i64)),
            messages: samples.stamped,
            round_trip_ns: samples.round_trip_ns,
            is_confirmed: false,
        };
        Self { epoch, estimate: Some(estimate) }
    }

    pub(crate) fn write_to(&self, tally: &mut MessageTally) {
        tally.clock_within_ns = self.epoch.map_or(0, |epoch| epoch.within_ns);
        tally.clock = self.estimate;
    }

    pub(crate) const fn own_clock(ours: Epoch) -> Self {
        Self { epoch: Some(ours), estimate: None }
    }

    /// The moment at which a message with this stamp was sent, and the stamp; `None` if that is unknown.
    pub(crate) fn sent_at(self, stamp: Option<Stamped>) -> Option<(Nanos, Stamped)> {
        let (epoch, stamp) = self.epoch.zip(stamp)?;
        Some((epoch.monotonic_from_unix(stamp.unix_ns), stamp))
    }

    /// How long after its arrival a message's stamp may be before the message counts as ahead of time, in nanoseconds.
    /// An estimated clock has no limit: such a message shows that the estimate is wrong.
    pub(crate) fn tolerance_ns(self) -> u64 {
        let ours = self.epoch.filter(|_| self.estimate.is_none());
        ours.map_or(u64::MAX, |epoch| epoch.within_ns)
    }

    /// The same estimate, with its error widened for these messages of a slice: one that is faster than those of the
    /// probe shows that the server's clock may be ahead by one more round trip.
    pub(crate) fn widened_by(self, samples: &ClockSamples) -> Self {
        let (Some(epoch), Some(round_trip_ns)) = (self.epoch, self.estimate.and_then(|found| found.round_trip_ns))
        else {
            return self;
        };
        let latest_ns = samples.unix_ns + round_trip_ns + samples.unit_ns;
        let within_ns = epoch.within_ns.max(latest_ns.saturating_sub(epoch.unix_ns));
        Self { epoch: Some(Epoch { within_ns, ..epoch }), ..self }
    }

    /// The same estimate, confirmed by that `after` the slice. The error is the larger, and includes the change.
    pub(crate) fn confirmed_by(self, after: &Self) -> Self {
        let (Some(before), Some(end)) = (self.epoch, after.epoch) else { return self };
        let end_ns = before.unix_ns.abs_diff(end.unix_ns) + end.within_ns;
        let estimate = self.estimate.zip(after.estimate).map(|(mine, theirs)| ClockEstimate {
            offset_ns: mine.offset_ns,
            messages: mine.messages + theirs.messages,
            round_trip_ns: mine.round_trip_ns.max(theirs.round_trip_ns),
            is_confirmed: true,
        });
        let epoch = Epoch { unix_ns: before.unix_ns, within_ns: before.within_ns.max(end_ns) };
        Self { epoch: Some(epoch), estimate: estimate.or(self.estimate) }
    }
}

/// The fastest message took a part of the shortest round trip, and its stamp was truncated or rounded to its unit. The
/// middle of both ranges is taken. The error is half a round trip and, since stamps may be rounded, a whole unit.
fn estimated_epoch(samples: &ClockSamples, ours: Epoch) -> Option<Epoch> {
    let round_trip_ns = samples.round_trip_ns.filter(|_| samples.stamped >= LEAST_MESSAGES)?;
    Some(Epoch {
        unix_ns: samples.unix_ns + round_trip_ns / 2 + samples.unit_ns / 2,
        within_ns: round_trip_ns.div_ceil(2) + samples.unit_ns + ours.within_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Epoch = Epoch { unix_ns: 1_700_000_000_000_000_000, within_ns: 20 };
    const S: i64 = 1_000_000_000;

    /// Samples of messages with these delays, from a server whose clock is `ahead_ns` ahead.
    fn samples(ahead_ns: i64, delays_ns: &[u64], unit_ns: u64, round_trip_ns: Option<u64>) -> ClockSamples {
        let mut samples = ClockSamples::default();
        for (n, delay_ns) in (1..).zip(delays_ns) {
            let sent = Nanos(n * 100_000_000 + 7);
            let unix_ns = OURS.unix_ns.checked_add_signed(ahead_ns).unwrap() + sent.0;
            samples.add_message(unix_ns / unit_ns * unit_ns, unit_ns, sent.0 + delay_ns);
        }
        round_trip_ns.into_iter().for_each(|ns| samples.add_round_trip(ns));
        samples
    }

    #[test]
    fn the_quickest_message_and_the_quickest_round_trip_tell_the_offset() {
        let even = [40_000, 30_000, 90_000, 10_000_000, 30_500];
        for (ahead_ns, delays_ns, unit_ns, round_trip_ns, offset_ns, within_ns) in [
            (3 * S, &even[..], 1, 60_000, 3 * S, 30_021),
            (-3 * S, &even, 1, 60_000, -3 * S, 30_021),
            (0, &even, 1, 60_000, 0, 30_021),
            // The way to the server is longer than the way back, then the reverse: both within the stated error.
            (3 * S, &even, 1, 30_000, 3 * S - 15_000, 15_021),
            (3 * S, &even, 1, 300_000, 3 * S + 120_000, 150_021),
            // Odd times are rounded up.
            (0, &even, 1, 60_001, 0, 30_022),
            // The truncated part of a stamp adds to the error.
            (3 * S, &even, 1_000_000, 60_000, 3 * S + 499_993, 1_030_020),
            // A server that delays every message looks like a clock that is behind.
            (0, &[5_030_000; 5], 1, 60_000, -5_000_000, 30_021),
        ] {
            let model = ClockModel::of(&samples(ahead_ns, delays_ns, unit_ns, Some(round_trip_ns)), 5, OURS);
            let (found, epoch) = (model.estimate.unwrap(), model.epoch.unwrap());
            assert_eq!((found.offset_ns, epoch.within_ns), (Some(offset_ns), within_ns), "{ahead_ns} {round_trip_ns}");
            assert_eq!(epoch.unix_ns, OURS.unix_ns.checked_add_signed(offset_ns).unwrap());
            assert_eq!((found.messages, found.round_trip_ns), (5, Some(round_trip_ns)));
        }
    }

    #[test]
    fn too_little_is_no_estimate_and_messages_without_stamps_need_none() {
        for (delays_ns, round_trip_ns, messages) in
            [(&[30_000; 4][..], Some(60_000), 4), (&[30_000; 9], None, 9), (&[], Some(60_000), 0), (&[], None, 0)]
        {
            let ClockModel { epoch, estimate } =
                ClockModel::of(&samples(0, delays_ns, 1, round_trip_ns), messages, OURS);
            let stamped = delays_ns.len() as u64;
            let nothing = ClockEstimate { messages: stamped, round_trip_ns, ..ClockEstimate::default() };
            assert_eq!((epoch, estimate), (None, Some(nothing)));
        }
        assert_eq!(ClockModel::of(&samples(0, &[], 1, Some(60_000)), 20, OURS), ClockModel::own_clock(OURS));
    }

    #[test]
    fn a_clock_that_has_moved_is_as_uncertain_as_it_has_moved() {
        let at = |ahead_ns| ClockModel::of(&samples(ahead_ns, &[30_000; 6], 1, Some(60_000)), 6, OURS);
        for (before, after, within_ns) in
            [(at(0), at(0), 30_021), (at(0), at(200_000), 230_021), (at(S), at(S - 200_000), 230_021)]
        {
            let whole = before.confirmed_by(&after);
            let found = whole.estimate.unwrap();
            assert_eq!(
                (whole.epoch.unwrap().within_ns, whole.epoch.unwrap().unix_ns),
                (within_ns, before.epoch.unwrap().unix_ns)
            );
            assert_eq!(
                (found.messages, found.offset_ns, found.is_confirmed),
                (12, before.estimate.unwrap().offset_ns, true)
            );
        }
        let nothing = ClockModel { epoch: None, estimate: Some(ClockEstimate::default()) };
        assert_eq!((at(0).confirmed_by(&nothing), nothing.confirmed_by(&at(0))), (at(0), nothing));
        let moved = Epoch { unix_ns: OURS.unix_ns + 500, within_ns: 30 };
        let same = ClockModel::own_clock(OURS).confirmed_by(&ClockModel::own_clock(moved));
        assert_eq!((same.epoch.unwrap().within_ns, same.estimate), (530, None));
    }

    #[test]
    fn a_message_that_was_quicker_than_all_before_makes_the_estimate_less_certain() {
        let found = ClockModel::of(&samples(3 * S, &[150_000; 6], 1, Some(80_000)), 6, OURS);
        // The clock is 110 µs further ahead than the estimate, and the estimate allowed for 40 µs at most.
        for (delay_ns, within_ns) in [(150_000, 40_021), (145_000, 45_001), (30_000, 160_001), (10_000_000, 40_021)] {
            let widened = found.widened_by(&samples(3 * S, &[delay_ns; 9], 1, None));
            assert_eq!((widened.epoch.unwrap().within_ns, widened.estimate), (within_ns, found.estimate), "{delay_ns}");
        }
        let same = ClockModel::own_clock(OURS);
        assert_eq!((same.widened_by(&samples(3 * S, &[1; 9], 1, None)), same.tolerance_ns()), (same, 20));
        assert_eq!(found.widened_by(&ClockSamples::default()), found);
    }

    #[test]
    fn the_clock_is_ours_on_every_address_of_this_machine_unless_it_is_said_otherwise() {
        let target = |address: &str| Target::Tcp(address.parse().unwrap());
        // The other address is reserved for documentation: no machine has it.
        let (here, there) = (target("127.0.0.1:80"), target("192.0.2.1:80"));
        let file = Target::Unix("/run/socket".into());
        for (clock, ours) in [
            (ServerClock::Auto, [true, true, false]),
            (ServerClock::Same, [true; 3]),
            (ServerClock::Estimate, [false; 3]),
        ] {
            assert_eq!([&here, &file, &there].map(|target| is_own_clock(clock, target)), ours, "{clock:?}");
        }
    }
}
