//! When requests should leave: pure functions of a seed and an index, blind to what the server does.

use rand::SeedableRng;
use rand::rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// The load model of a slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// Each user sends its next request when it has the answer to the one before. The intended start is the moment at
    /// which that answer was there (or at which a lost connection was begun again), so that what the generator adds
    /// while it is busy with other users counts as send lag and in the response time.
    Closed,
    /// Open loop: requests should leave at equal distances.
    Constant {
        /// Offered rate over all workers.
        rate_per_s: f64,
    },
    /// Open loop: requests should leave as a Poisson process, as from many users who do not know of one another.
    Poisson {
        /// Mean offered rate over all workers.
        rate_per_s: f64,
    },
}

/// Which of the workers' parts of one schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// This worker, from 0.
    pub worker: usize,
    /// How many there are.
    pub workers: usize,
}

/// The intended starts of one worker, ascending, in nanoseconds after the start of the slice, without end.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// Starts `offset + index × step` in units of the whole schedule's interval, computed from the index so that
    /// rounding does not add up.
    Constant {
        /// Nanoseconds between two starts of the whole schedule.
        interval_ns: f64,
        /// The next start of this worker, counted over the whole schedule.
        next: u64,
        /// The number of workers among whom the starts go round.
        step: u64,
    },
    /// A Poisson process of this worker's part of the rate: independent processes add up to one of the whole rate.
    Poisson {
        /// Mean nanoseconds between two starts of this worker.
        mean_ns: f64,
        /// The last start.
        last_ns: f64,
        /// The source of gaps.
        random: Box<Pcg64Mcg>,
    },
}

impl Schedule {
    /// The offered rate, if the model has one.
    pub const fn rate_per_s(self) -> Option<f64> {
        match self {
            Self::Closed => None,
            Self::Constant { rate_per_s } | Self::Poisson { rate_per_s } => Some(rate_per_s),
        }
    }

    /// The intended starts of one worker; `None` for the closed loop, where answers decide.
    pub fn arrivals(self, seed: u64, share: Share) -> Option<Arrivals> {
        match self {
            Self::Closed => None,
            Self::Constant { rate_per_s } => Some(Arrivals::Constant {
                interval_ns: 1e9 / rate_per_s,
                next: share.worker as u64,
                step: share.workers as u64,
            }),
            Self::Poisson { rate_per_s } => Some(Arrivals::Poisson {
                mean_ns: 1e9 / rate_per_s * share.workers as f64,
                last_ns: 0.0,
                random: Box::new(Pcg64Mcg::seed_from_u64(seed ^ (share.worker as u64).rotate_left(32))),
            }),
        }
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        match self {
            Self::Constant { interval_ns, next, step } => {
                let start_ns = *next as f64 * *interval_ns;
                *next += *step;
                Some(start_ns as u64)
            }
            Self::Poisson { mean_ns, last_ns, random } => {
                *last_ns += -*mean_ns * uniform_above_zero(random).ln();
                Some(*last_ns as u64)
            }
        }
    }
}

/// Uniform on (0, 1], so that its logarithm is finite.
fn uniform_above_zero(random: &mut Pcg64Mcg) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Share = Share { worker: 0, workers: 1 };

    fn starts(schedule: Schedule, seed: u64, share: Share, count: usize) -> Vec<u64> {
        schedule.arrivals(seed, share).unwrap().take(count).collect()
    }

    #[test]
    fn constant_starts_are_a_table() {
        for (rate_per_s, expected) in [
            (1.0, [0, 1_000_000_000, 2_000_000_000]),
            (1000.0, [0, 1_000_000, 2_000_000]),
            (3.0, [0, 333_333_333, 666_666_666]),
            (1e9, [0, 1, 2]),
        ] {
            assert_eq!(starts(Schedule::Constant { rate_per_s }, 0, ALONE, 3), expected, "{rate_per_s}/s");
        }
    }

    #[test]
    fn rounding_does_not_add_up() {
        let schedule = Schedule::Constant { rate_per_s: 3.0 };
        assert_eq!(schedule.arrivals(0, ALONE).unwrap().nth(3_000_000), Some(1_000_000_000_000_000));
    }

    #[test]
    fn workers_take_turns_and_together_make_the_whole() {
        let schedule = Schedule::Constant { rate_per_s: 1000.0 };
        let mut together: Vec<u64> =
            (0..3).flat_map(|worker| starts(schedule, 0, Share { worker, workers: 3 }, 4)).collect();
        together.sort_unstable();
        assert_eq!(together, starts(schedule, 0, ALONE, 12));
    }

    #[test]
    fn closed_has_no_starts_of_its_own() {
        assert!(Schedule::Closed.arrivals(0, ALONE).is_none());
        assert_eq!(Schedule::Closed.rate_per_s(), None);
    }

    #[test]
    fn a_seed_names_one_poisson_schedule() {
        let schedule = Schedule::Poisson { rate_per_s: 500.0 };
        assert_eq!(starts(schedule, 7, ALONE, 50), starts(schedule, 7, ALONE, 50));
        assert_ne!(starts(schedule, 7, ALONE, 50), starts(schedule, 8, ALONE, 50));
        let other_worker = Share { worker: 1, workers: 2 };
        assert_ne!(starts(schedule, 7, Share { worker: 0, workers: 2 }, 50), starts(schedule, 7, other_worker, 50));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
        let count = 200_000;
        let starts = starts(Schedule::Poisson { rate_per_s: 1000.0 }, 42, ALONE, count);
        let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Five standard errors of either estimate.
        let tolerance = 5.0 / (count as f64).sqrt();
        assert!((mean / 1e6 - 1.0).abs() < tolerance, "mean {mean}");
        assert!((variance.sqrt() / 1e6 - 1.0).abs() < 2.0 * tolerance, "sd {}", variance.sqrt());
    }
}
