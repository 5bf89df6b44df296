//! Numbers from a seed, as requests and think time need them.

use std::time::Duration;

use rand::SeedableRng;
use rand::rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use crate::schedule::Share;

/// The source of one worker: workers draw independently of one another.
pub(crate) fn source(seed: u64, share: Share) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed ^ (share.worker as u64).rotate_left(32))
}

/// Uniform on `0..bound`; 0 for an empty range. The bias of multiplying is below `bound` / 2⁶⁴.
pub(crate) fn below(random: &mut Pcg64Mcg, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// Uniform on `0..=span`.
pub(crate) fn up_to(random: &mut Pcg64Mcg, span: u64) -> u64 {
    match span.checked_add(1) {
        Some(bound) => below(random, bound),
        None => random.next_u64(),
    }
}

/// Exponential with this mean.
pub(crate) fn exponential(random: &mut Pcg64Mcg, mean: Duration) -> Duration {
    // Uniform on (0, 1], so that its logarithm is finite.
    let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    mean.mul_f64(-uniform.ln())
}

/// Bytes that no compression makes shorter.
pub(crate) fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    Pcg64Mcg::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}
