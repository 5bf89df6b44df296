//! The only clock: monotonic and wall time, and the CPU time of the calling thread and process. All measurements read
//! it, so that samples of one run can be compared.

use std::num::NonZeroU64;
use std::ops::{Add, Sub};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use rustix::thread::{clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Number of readings that determine the offset between two clocks.
const EPOCH_READINGS: usize = 8;

/// A moment on the monotonic clock, or a duration, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    pub const ZERO: Self = Self(0);
    /// Later than any other moment: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The time from `earlier` to this moment; 0 if `earlier` is later.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<Duration> for Nanos {
    /// Durations beyond 584 years become [`Nanos::MAX`].
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Add<Duration> for Nanos {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(Self::from(duration).0))
    }
}

impl Sub<Duration> for Nanos {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(Self::from(duration).0))
    }
}

/// A source of time, so that a test can give the load loop a clock of its own.
pub trait Clock {
    /// The current moment. It never decreases.
    fn now(&self) -> Nanos;

    /// CPU time of the calling thread so far. Unit: nanoseconds, user and system time together.
    fn thread_cpu_ns(&self) -> u64;
}

/// The kernel's `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now(&self) -> Nanos {
        now()
    }

    fn thread_cpu_ns(&self) -> u64 {
        thread_cpu_ns()
    }
}

/// The current moment of [`MonotonicClock`]. Source: clock_gettime(2); the vDSO answers it within about 20 to 50 ns.
pub fn now() -> Nanos {
    Nanos(read(ClockId::Monotonic))
}

/// Wall-clock time, only for dates in a record, because it may jump. Unit: nanoseconds since 1970-01-01 UTC; 0 before
/// it.
#[expect(clippy::disallowed_methods, reason = "all others ask this function")]
pub fn wall_unix_ns() -> u64 {
    // Of the C library, so that `bench/faults` can move this clock for one program.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// The offset between a wall clock and this machine's monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch {
    /// The wall clock's time at the origin of the monotonic clock, in nanoseconds since 1970-01-01 UTC.
    pub unix_ns: u64,
    /// The possible error of that, in either direction, in nanoseconds.
    pub within_ns: u64,
}

impl Epoch {
    /// The moment at which the wall clock showed `unix_ns`; [`Nanos::ZERO`] for times before the origin.
    pub const fn monotonic_from_unix(self, unix_ns: u64) -> Nanos {
        Nanos(unix_ns.saturating_sub(self.unix_ns))
    }
}

/// The epoch of this machine's own wall clock. It jumps when the clock is set. Otherwise it is constant, since both
/// clocks run at the same rate.
pub fn wall_clock_epoch() -> Epoch {
    // The wall clock is read between two readings of the other clock. The closest pair is the most exact.
    let reading = || {
        let (before, wall, after) = (now().0, wall_unix_ns(), now().0);
        let half = (after - before).div_ceil(2);
        // On a machine whose clock was never set, the start may be before 1970.
        Epoch { unix_ns: wall.saturating_sub(before + half), within_ns: half }
    };
    let best = (0..EPOCH_READINGS).map(|_| reading()).min_by_key(|epoch| epoch.within_ns);
    best.unwrap_or_default()
}

/// CPU time of the calling thread so far, user and system together, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process so far, user and system together, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    read(ClockId::ProcessCPUTime)
}

/// Sleeps until a moment on the monotonic clock, even if signals interrupt. Returns at once when the moment has passed.
/// Source: clock_nanosleep(2) with TIMER_ABSTIME: a deadline does not drift, but a duration does.
pub fn sleep_until(moment: Nanos) {
    let deadline = Timespec {
        tv_sec: (moment.0 / 1_000_000_000).cast_signed(),
        tv_nsec: (moment.0 % 1_000_000_000).cast_signed(),
    };
    while clock_nanosleep_absolute(ClockId::Monotonic, &deadline) == Err(Errno::INTR) {}
}

/// Lets this thread's waits end at their deadline. By default the kernel may end them up to 50 µs later. Errors: when
/// the kernel forbids it. Waits are then less precise, and nothing else changes. Source: PR_SET_TIMERSLACK(2const).
pub fn sharpen_timers() -> std::io::Result<()> {
    Ok(set_current_timer_slack(NonZeroU64::new(1))?)
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // None of these clocks is ever negative, and tv_nsec is below 10⁹.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_never_runs_backwards() {
        let stamps: Vec<Nanos> = (0..1000).map(|_| now()).collect();
        assert!(stamps.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn cpu_time_grows_while_the_thread_computes() {
        let (thread, process) = (thread_cpu_ns(), process_cpu_ns());
        while thread_cpu_ns() == thread {
            std::hint::spin_loop();
        }
        assert!(process_cpu_ns() > process);
    }

    #[test]
    fn nobody_wakes_before_the_deadline() {
        let deadline = now() + Duration::from_micros(200);
        sleep_until(deadline);
        assert!(now() >= deadline);
        sleep_until(Nanos::ZERO);
    }

    #[test]
    fn moments_of_the_wall_clock_lie_between_those_of_the_monotonic_clock_around_it() {
        let epoch = wall_clock_epoch();
        let (before, wall, after) = (now(), wall_unix_ns(), now());
        let slack = Duration::from_nanos(epoch.within_ns);
        assert!(before - slack <= epoch.monotonic_from_unix(wall) && epoch.monotonic_from_unix(wall) <= after + slack);
    }

    #[test]
    fn wall_time_is_after_this_was_written() {
        assert!(wall_unix_ns() > 1_700_000_000 * 1_000_000_000);
    }

    #[test]
    fn differences_saturate_instead_of_wrapping() {
        assert_eq!(Nanos(3).since(Nanos(5)), 0);
        assert_eq!(Nanos::MAX + Duration::from_secs(1), Nanos::MAX);
        assert_eq!(Nanos(5) - Duration::from_secs(1), Nanos::ZERO);
    }
}
