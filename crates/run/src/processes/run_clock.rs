//! The clock of a run. The machine's monotonic clock starts again with each boot; that of a resumed run does not.

use std::time::Duration;

use tare_sys::clock::Nanos;

/// Converts times of the monotonic clock to time since the run began. The time between an interruption and the resumption does
/// not count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunClock {
    /// When this process started or resumed the run.
    begin: Nanos,
    /// How long the run had lasted by then.
    before: Duration,
}

impl RunClock {
    /// A clock that shows `before` at `now`.
    pub const fn starting_at(before: Duration, now: Nanos) -> Self {
        Self { begin: now, before }
    }

    /// Nanoseconds since the run began, at a moment of this process.
    pub fn at(&self, moment: Nanos) -> u64 {
        Nanos::from(self.before).0.saturating_add(moment.since(self.begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_soon_after_a_boot_keeps_its_time() {
        let (minute, ns) = (Duration::from_secs(60), |minutes: u64| minutes * 60_000_000_000);
        let clock = RunClock::starting_at(50 * minute, Nanos(ns(3)));
        assert_eq!([clock.at(Nanos(ns(3))), clock.at(Nanos(ns(5)))], [ns(50), ns(52)]);
        let new = RunClock::starting_at(Duration::ZERO, Nanos(ns(3)));
        assert_eq!(new.at(Nanos(ns(4))), ns(1));
    }
}
