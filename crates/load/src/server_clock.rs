//! Whose clock stamps messages, and what can be known of one that is not ours: the arithmetic of an estimate.

use tare_sys::clock::{Epoch, Nanos};
use tare_sys::socket::Target;
use tare_wire::ws::Stamped;

use crate::stamps::Stamps;

/// Stamped messages below which the least of their delays may be far from the least possible.
const LEAST_MESSAGES: u64 = 5;

/// Whose clock stamps what a server pushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerClock {
    /// This machine's if the target is a file or an address of this machine, and else one that is to be estimated.
    #[default]
    Auto,
    /// This machine's.
    Same,
    /// Another, whose offset is estimated before and after each slice.
    Estimate,
}

impl ServerClock {
    /// Whether a server there goes by this machine's clock.
    pub(crate) fn is_ours(self, target: &Target) -> bool {
        match self {
            Self::Auto => target.is_here(),
            Self::Same => true,
            Self::Estimate => false,
        }
    }
}

/// What has been found out of a server's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockEstimate {
    /// How far it is ahead of this machine's, in nanoseconds, below zero if behind; `None` where too few messages came, or
    /// no ping was answered.
    pub offset_ns: Option<i64>,
    /// Stamped messages that it rests on.
    pub messages: u64,
    /// The least time in which a ping was answered, in nanoseconds.
    pub round_trip_ns: Option<u64>,
    /// Whether it was estimated after the slice as well as before.
    pub is_confirmed: bool,
}

/// What messages and the answers to pings say of the server's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clues {
    stamped: u64,
    unit_ns: u64,
    /// What the server's clock would have shown at the origin of ours, had the message that says the most of all been on its
    /// way for no time.
    unix_ns: u64,
    round_trip_ns: Option<u64>,
}

impl Clues {
    /// Takes a message that came at this moment.
    pub(crate) fn came(&mut self, stamp: Stamped, at: Nanos) {
        self.stamped += 1;
        self.unit_ns = self.unit_ns.max(stamp.unit_ns);
        self.unix_ns = self.unix_ns.max(stamp.unix_ns.saturating_sub(at.0));
    }

    /// Takes that a ping was answered after so long.
    pub(crate) fn answered(&mut self, after_ns: u64) {
        self.round_trip_ns = Some(self.round_trip_ns.map_or(after_ns, |least| least.min(after_ns)));
    }

    /// Adds those of another worker, or of another time.
    pub(crate) fn add(&mut self, other: &Self) {
        self.stamped += other.stamped;
        self.unit_ns = self.unit_ns.max(other.unit_ns);
        self.unix_ns = self.unix_ns.max(other.unix_ns);
        other.round_trip_ns.into_iter().for_each(|after_ns| self.answered(after_ns));
    }

    /// What they come down to, beside this machine's own epoch. Where `messages` came and none is stamped, there is nothing
    /// to be known, and nothing that rests on it.
    pub(crate) fn reckoning(&self, messages: u64, ours: Epoch) -> Reckoning {
        if self.stamped == 0 && messages > 0 {
            return Reckoning::same(ours);
        }
        let epoch = self.epoch(ours);
        let estimate = ClockEstimate {
            offset_ns: epoch.map(|epoch| (epoch.unix_ns as i64).wrapping_sub(ours.unix_ns as i64)),
            messages: self.stamped,
            round_trip_ns: self.round_trip_ns,
            is_confirmed: false,
        };
        Reckoning { epoch, estimate: Some(estimate) }
    }

    /// The message that was quickest took some part of the quickest round trip, and its stamp was cut or rounded to its
    /// unit. In the middle of what can be, either is off by half as much; rounding makes that of the unit a whole one.
    fn epoch(&self, ours: Epoch) -> Option<Epoch> {
        let round_trip_ns = self.round_trip_ns.filter(|_| self.stamped >= LEAST_MESSAGES)?;
        Some(Epoch {
            unix_ns: self.unix_ns + round_trip_ns / 2 + self.unit_ns / 2,
            within_ns: round_trip_ns.div_ceil(2) + self.unit_ns + ours.within_ns,
        })
    }
}

/// What a slice takes the server's clock to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reckoning {
    /// `None` where it is not known.
    pub(crate) epoch: Option<Epoch>,
    /// What that rests on, unless it is this machine's.
    pub(crate) estimate: Option<ClockEstimate>,
}

impl Reckoning {
    /// The server goes by this machine's clock.
    pub(crate) const fn same(ours: Epoch) -> Self {
        Self { epoch: Some(ours), estimate: None }
    }

    /// What it makes of stamps.
    pub(crate) fn stamps(&self) -> Stamps {
        let by = if self.estimate.is_some() { Stamps::Theirs } else { Stamps::Ours };
        self.epoch.map_or(Stamps::Unknown, by)
    }

    /// The same for a slice of which these messages were heard. None comes before it is sent: one that was quicker than those
    /// of the sounding says that the clock may be as much further ahead, and no more than a round trip beyond that.
    pub(crate) fn widened(self, heard: &Clues) -> Self {
        let (Some(epoch), Some(round_trip_ns)) = (self.epoch, self.estimate.and_then(|found| found.round_trip_ns))
        else {
            return self;
        };
        let latest_ns = heard.unix_ns + round_trip_ns + heard.unit_ns;
        let within_ns = epoch.within_ns.max(latest_ns.saturating_sub(epoch.unix_ns));
        Self { epoch: Some(Epoch { within_ns, ..epoch }), ..self }
    }

    /// The same for a slice at the end of which it was found to be `after`: as far off as either says, and as it has moved.
    pub(crate) fn until(self, after: &Self) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: Epoch = Epoch { unix_ns: 1_700_000_000_000_000_000, within_ns: 20 };
    const S: i64 = 1_000_000_000;

    /// Clues of messages that were under way for so long, from a server whose clock is so far ahead.
    fn clues(ahead_ns: i64, delays_ns: &[u64], unit_ns: u64, round_trip_ns: Option<u64>) -> Clues {
        let mut clues = Clues::default();
        for (n, delay_ns) in (1..).zip(delays_ns) {
            let sent = Nanos(n * 100_000_000 + 7);
            let unix_ns = OURS.unix_ns.checked_add_signed(ahead_ns).unwrap() + sent.0;
            clues.came(Stamped { unix_ns: unix_ns / unit_ns * unit_ns, unit_ns }, Nanos(sent.0 + delay_ns));
        }
        round_trip_ns.into_iter().for_each(|after_ns| clues.answered(after_ns));
        clues
    }

    #[test]
    fn the_quickest_message_and_the_quickest_round_trip_tell_the_offset() {
        let even = [40_000, 30_000, 90_000, 10_000_000, 30_500];
        for (ahead_ns, delays_ns, unit_ns, round_trip_ns, offset_ns, within_ns) in [
            (3 * S, &even[..], 1, 60_000, 3 * S, 30_021),
            (-3 * S, &even, 1, 60_000, -3 * S, 30_021),
            (0, &even, 1, 60_000, 0, 30_021),
            // A way there that is longer than the way back, and the other way round: within what is said.
            (3 * S, &even, 1, 30_000, 3 * S - 15_000, 15_021),
            (3 * S, &even, 1, 300_000, 3 * S + 120_000, 150_021),
            // Odd times are rounded up.
            (0, &even, 1, 60_001, 0, 30_022),
            // What is cut from a stamp belongs to what is not known.
            (3 * S, &even, 1_000_000, 60_000, 3 * S + 499_993, 1_030_020),
            // A server that is late with every message cannot be told from a clock that is behind.
            (0, &[5_030_000; 5], 1, 60_000, -5_000_000, 30_021),
        ] {
            let reckoning = clues(ahead_ns, delays_ns, unit_ns, Some(round_trip_ns)).reckoning(5, OURS);
            let (found, epoch) = (reckoning.estimate.unwrap(), reckoning.epoch.unwrap());
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
            let Reckoning { epoch, estimate } = clues(0, delays_ns, 1, round_trip_ns).reckoning(messages, OURS);
            let stamped = delays_ns.len() as u64;
            let nothing = ClockEstimate { messages: stamped, round_trip_ns, ..ClockEstimate::default() };
            assert_eq!((epoch, estimate), (None, Some(nothing)));
        }
        assert_eq!(clues(0, &[], 1, Some(60_000)).reckoning(20, OURS), Reckoning::same(OURS));
    }

    #[test]
    fn a_clock_that_has_moved_is_as_uncertain_as_it_has_moved() {
        let at = |ahead_ns| clues(ahead_ns, &[30_000; 6], 1, Some(60_000)).reckoning(6, OURS);
        for (before, after, within_ns) in
            [(at(0), at(0), 30_021), (at(0), at(200_000), 230_021), (at(S), at(S - 200_000), 230_021)]
        {
            let whole = before.until(&after);
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
        let nothing = Reckoning { epoch: None, estimate: Some(ClockEstimate::default()) };
        assert_eq!((at(0).until(&nothing), nothing.until(&at(0))), (at(0), nothing));
        let moved = Epoch { unix_ns: OURS.unix_ns + 500, within_ns: 30 };
        let same = Reckoning::same(OURS).until(&Reckoning::same(moved));
        assert_eq!((same.epoch.unwrap().within_ns, same.estimate), (530, None));
    }

    #[test]
    fn a_message_that_was_quicker_than_all_before_makes_the_estimate_less_certain() {
        let found = clues(3 * S, &[150_000; 6], 1, Some(80_000)).reckoning(6, OURS);
        // By the estimate the clock is 110 µs less ahead than it is, and 40 µs at most were thought possible.
        for (delay_ns, within_ns) in [(150_000, 40_021), (145_000, 45_001), (30_000, 160_001), (10_000_000, 40_021)] {
            let widened = found.widened(&clues(3 * S, &[delay_ns; 9], 1, None));
            assert_eq!((widened.epoch.unwrap().within_ns, widened.estimate), (within_ns, found.estimate), "{delay_ns}");
        }
        let same = Reckoning::same(OURS);
        assert_eq!((same.widened(&clues(3 * S, &[1; 9], 1, None)), same.stamps()), (same, Stamps::Ours(OURS)));
        assert_eq!(found.widened(&Clues::default()), found);
    }

    #[test]
    fn the_clock_is_ours_on_every_address_of_this_machine_unless_it_is_said_otherwise() {
        let target = |address: &str| Target::Tcp(address.parse().unwrap());
        // The other is an address for documentation: of no machine.
        let (here, there) = (target("127.0.0.1:80"), target("192.0.2.1:80"));
        let file = Target::Unix("/run/socket".into());
        for (clock, ours) in [
            (ServerClock::Auto, [true, true, false]),
            (ServerClock::Same, [true; 3]),
            (ServerClock::Estimate, [false; 3]),
        ] {
            assert_eq!([&here, &file, &there].map(|target| clock.is_ours(target)), ours, "{clock:?}");
        }
    }
}
