//! Computes intended starts from a rate over time. Requests get counts in the order in which they are due, evenly or at random.
//! Each is due when the integral of the rate reaches its count.
//!
//! This change of time is exact. The n-th moment follows from the n-th count alone, so rounding errors do not add up. A
//! unit Poisson process becomes one whose intensity is the rate (Çinlar, *Introduction to Stochastic Processes*, 1975,
//! ch. 4.7).

use rand_pcg::Pcg64Mcg;
use tare_sample::Arrivals;

use super::Share;
use super::stages::{Segment, Stages};
use crate::random;

/// The intended starts of one worker, ascending, in nanoseconds after the start of the slice. They end when the rate stays at
/// zero.
pub struct Starts {
    counts: Counts,
    clock: Clock,
}

/// Counts at which requests are due, as values of the rate's integral.
enum Counts {
    /// Every n-th count of the whole schedule, for n workers.
    Even { next: u64, step: u64 },
    /// A Poisson process for this worker's share of the rate. Independent processes add up to one of the whole rate.
    Poisson { last: f64, mean: f64, random: Box<Pcg64Mcg> },
}

/// Converts counts to times.
struct Clock {
    segments: Vec<Segment>,
    current: usize,
    /// The integral of the rate before the current segment.
    before: f64,
}

impl Starts {
    pub(super) fn by_rate(rate_per_s: &Stages, arrivals: Arrivals, seed: u64, share: Share) -> Self {
        let counts = match arrivals {
            Arrivals::Even => Counts::Even { next: share.worker as u64, step: share.workers as u64 },
            Arrivals::Poisson => Counts::Poisson {
                last: 0.0,
                mean: share.workers as f64,
                random: Box::new(random::worker_source(seed, share.worker)),
            },
        };
        Self { counts, clock: Clock::of(rate_per_s) }
    }
}

impl Iterator for Starts {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.clock.reaches_ns(self.counts.next())
    }
}

impl Counts {
    fn next(&mut self) -> f64 {
        match self {
            Self::Even { next, step } => {
                let count = *next;
                *next += *step;
                count as f64
            }
            Self::Poisson { last, mean, random } => {
                *last += *mean * random::unit_exponential(random);
                *last
            }
        }
    }
}

impl Clock {
    fn of(rate_per_s: &Stages) -> Self {
        Self { segments: rate_per_s.segments(), current: 0, before: 0.0 }
    }

    /// When the integral of the rate exceeds `count`; `None` if it never does. Counts must ascend.
    fn reaches_ns(&mut self, count: f64) -> Option<u64> {
        loop {
            let segment = self.segments.get(self.current)?;
            if count - self.before < segment.sum() {
                return Some(segment.reaches_ns(count - self.before) as u64);
            }
            self.before += segment.sum();
            self.current += 1;
        }
    }
}
