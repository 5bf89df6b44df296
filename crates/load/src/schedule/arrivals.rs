//! Computes intended starts from a rate over time: each is due when the integral of the rate reaches its count. A
//! moment follows from its count alone, so rounding errors do not add up, and a unit Poisson process becomes one whose
//! intensity is the rate (Çinlar, *Introduction to Stochastic Processes*, 1975, ch. 4.7).

use std::iter::Peekable;
use std::vec::IntoIter;

use rand_pcg::Pcg64Mcg;
use tare_sample::Arrivals;

use super::Share;
use super::stages::{Segment, Stages};
use crate::random;

/// The intended starts of one worker, ascending, in nanoseconds of the slice. They end when the rate stays at zero.
pub struct Starts {
    /// The count at which the last request was due, and the mean distance to the next.
    count: f64,
    mean_step: f64,
    /// Of a Poisson process for this worker's share of the rate: independent processes add up to one of the whole rate.
    random: Option<Box<Pcg64Mcg>>,
    /// What is left of the rate over time, and its integral before.
    segments: Peekable<IntoIter<Segment>>,
    before: f64,
}

impl Starts {
    pub(super) fn by_rate(rate_per_s: &Stages, arrivals: Arrivals, seed: u64, share: Share) -> Self {
        let (worker, workers) = (share.worker as f64, share.workers as f64);
        let (count, random) = match arrivals {
            // Every n-th count of the whole schedule, for n workers.
            Arrivals::Even => (worker - workers, None),
            Arrivals::Poisson => (0.0, Some(Box::new(random::worker_source(seed, share.worker)))),
        };
        let segments = rate_per_s.segments().into_iter().peekable();
        Self { count, mean_step: workers, random, segments, before: 0.0 }
    }
}

impl Iterator for Starts {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.count += self.mean_step * self.random.as_mut().map_or(1.0, |random| random::unit_exponential(random));
        loop {
            let segment = self.segments.peek()?;
            if self.count - self.before < segment.sum() {
                return Some(segment.reaches_ns(self.count - self.before) as u64);
            }
            self.before += segment.sum();
            self.segments.next();
        }
    }
}
