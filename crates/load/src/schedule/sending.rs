//! When a request of an open schedule may leave: at its intended start, or with others at the next tick.

use std::fmt;
use std::time::Duration;

use tare_sys::clock::Nanos;

/// How closely sends follow the intended starts. Response times count from the intended start in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sending {
    /// At the intended start. The generator sleeps until then, and is late by its wake-up delay.
    #[default]
    Exact,
    /// At the intended start, by a generator that busy-waits before each send and while an answer may arrive, so that
    /// neither is late. It uses up to all CPU time of its core, which must be its own.
    Spinning,
    /// At the first tick at or after the intended start; this is the time between ticks, from the start of the slice
    /// on. One wake-up for many requests saves CPU, but the server receives bursts.
    Tick(Duration),
}

impl Sending {
    /// When a request may leave, in a slice that began at `start`.
    pub(crate) fn leaves_at(self, start: Nanos, intended: Nanos) -> Nanos {
        match self.tick_ns() {
            0 => intended,
            tick_ns => Nanos(start.0.saturating_add(intended.since(start).div_ceil(tick_ns).saturating_mul(tick_ns))),
        }
    }

    /// The length of a tick in nanoseconds; 0 without ticks.
    pub(crate) fn tick_ns(self) -> u64 {
        match self {
            Self::Exact | Self::Spinning => 0,
            Self::Tick(tick) => Nanos::from(tick).0,
        }
    }
}

impl fmt::Display for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Spinning => f.write_str("exact, spinning"),
            Self::Tick(tick) => write!(f, "in ticks of {tick:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_counted_from_the_start_of_the_slice() {
        let tick = Sending::Tick(Duration::from_micros(500));
        for (sending, intended, leaves_at) in [
            (Sending::Exact, 1_234_567, 1_234_567),
            (Sending::Spinning, 1_234_567, 1_234_567),
            (tick, 1_000_000, 1_000_000),
            (tick, 1_000_001, 1_500_000),
            (tick, 1_500_000, 1_500_000),
            (tick, 1_999_999, 2_000_000),
            (Sending::Tick(Duration::ZERO), 1_000_001, 1_000_001),
        ] {
            assert_eq!(sending.leaves_at(Nanos(1_000_000), Nanos(intended)), Nanos(leaves_at), "{sending} {intended}");
        }
    }
}
