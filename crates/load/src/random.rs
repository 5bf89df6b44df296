//! Random numbers from a seed, for schedules, requests and think times.

use rand::distr::OpenClosed01;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The random source of one worker. The sources of workers are independent, also where their seeds differ by one bit.
pub(crate) fn worker_source(seed: u64, worker: usize) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed ^ (worker as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Uniform on `0..=max`.
pub(crate) fn up_to(random: &mut Pcg64Mcg, max: u64) -> u64 {
    random.random_range(0..=max)
}

/// Exponential with mean 1.
pub(crate) fn unit_exponential(random: &mut Pcg64Mcg) -> f64 {
    // Uniform on (0, 1], so that its logarithm is finite.
    let uniform: f64 = random.sample(OpenClosed01);
    -uniform.ln()
}
