//! The clock of a run. The machine's monotonic clock starts again with each boot; that of a resumed run does not.

use std::time::Duration;

use tare_sys::clock::Nanos;

/// Tells moments of the monotonic clock as time since the run began. The time between an interruption and its end does not
/// count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunClock {
    /// When this process began, or went on with, the run.
    begin: Nanos,
    /// What the run had lasted by then.
    before: Duration,
}

impl RunClock {
    /// A clock that says `before` at the moment `now`.
    pub const fn going_on(before: Duration, now: Nanos) -> Self {
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
        let clock = RunClock::going_on(50 * minute, Nanos(ns(3)));
        assert_eq!([clock.at(Nanos(ns(3))), clock.at(Nanos(ns(5)))], [ns(50), ns(52)]);
        let new = RunClock::going_on(Duration::ZERO, Nanos(ns(3)));
        assert_eq!(new.at(Nanos(ns(4))), ns(1));
    }
}
