//! The order of requests: a cycle in which each appears as often as its weight says, evenly spread.

use std::cmp::Ordering;
use std::sync::Arc;

/// The longest cycle. Weights that need a longer one are rejected.
pub(crate) const MAX_CYCLE: u64 = 1 << 20;

/// One entry of the cycle: the `number`th of the request's `weight` entries.
struct CycleEntry {
    request: u32,
    number: u64,
    weight: u64,
}

impl CycleEntry {
    /// Entries of one request are evenly spaced on the cycle, at (number + ½) / weight of its length. The comparison
    /// does not round.
    fn order(&self, other: &Self) -> Ordering {
        let here = u128::from(2 * self.number + 1) * u128::from(other.weight);
        let there = u128::from(2 * other.number + 1) * u128::from(self.weight);
        here.cmp(&there).then(self.request.cmp(&other.request))
    }
}

/// The cycle of requests with these weights; `None` if it would be too long. With equal weights it has each request
/// once, in order.
pub(crate) fn request_cycle(weights: &[u32]) -> Option<Arc<[u32]>> {
    let divisor = weights.iter().copied().fold(0, gcd).max(1);
    let weights = || weights.iter().map(|weight| u64::from(weight / divisor)).enumerate();
    if weights().map(|(_, weight)| weight).sum::<u64>() > MAX_CYCLE {
        return None;
    }
    let mut entries: Vec<CycleEntry> = weights()
        .flat_map(|(request, weight)| {
            (0..weight).map(move |number| CycleEntry { request: request as u32, number, weight })
        })
        .collect();
    entries.sort_by(CycleEntry::order);
    Some(entries.iter().map(|entry| entry.request).collect())
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_alternate_by_weight_evenly_spread() {
        for (weights, expected) in [
            (&[1][..], &[0][..]),
            (&[1, 1, 1], &[0, 1, 2]),
            (&[300, 100], &[0, 0, 1, 0]),
            (&[3, 1], &[0, 0, 1, 0]),
            (&[1, 0, 2], &[2, 0, 2]),
            (&[5, 3, 2], &[0, 1, 2, 0, 0, 1, 0, 2, 1, 0]),
            (&[], &[]),
            (&[0], &[]),
        ] {
            assert_eq!(request_cycle(weights).as_deref(), Some(expected), "{weights:?}");
        }
    }

    #[test]
    fn a_cycle_that_is_too_long_is_refused() {
        assert!(request_cycle(&[1 << 20, 1]).is_none());
        assert_eq!(request_cycle(&[1 << 30, 1 << 31]).unwrap().len(), 3);
    }
}
