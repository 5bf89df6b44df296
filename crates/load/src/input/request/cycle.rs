//! The order of requests: a cycle in which each appears as often as its weight says, evenly spread.

use std::sync::Arc;

use crate::error::LoadError;

/// The longest cycle. Weights that need a longer one are rejected.
const MAX_CYCLE: u64 = 1 << 20;

/// The cycle of requests with these weights. With equal weights it has each request once, in order.
pub(crate) fn request_cycle(weights: &[u32]) -> Result<Arc<[u32]>, LoadError> {
    let divisor = weights.iter().copied().fold(0, gcd).max(1);
    let weights = || weights.iter().map(|weight| u64::from(weight / divisor)).enumerate();
    if weights().map(|(_, weight)| weight).sum::<u64>() > MAX_CYCLE {
        let what = format!("the weights of all requests make a cycle of more than {MAX_CYCLE} requests");
        let remedy = "use smaller weights, or with a common divisor, or fewer requests";
        return Err(LoadError::input("requests", &what, remedy));
    }
    // A request's entries are evenly spaced. Up to the longest cycle, places are equal only where their fractions are.
    let place = |number: u64, weight: u64| (number as f64 + 0.5) / weight as f64;
    let entries =
        |(request, weight): (usize, u64)| (0..weight).map(move |number| (place(number, weight), request as u32));
    let mut cycle: Vec<(f64, u32)> = weights().flat_map(entries).collect();
    cycle.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(cycle.into_iter().map(|(_, request)| request).collect())
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
            assert_eq!(&*request_cycle(weights).unwrap(), expected, "{weights:?}");
        }
    }

    #[test]
    fn a_cycle_that_is_too_long_is_refused() {
        assert!(request_cycle(&[1 << 20, 1]).is_err());
        assert_eq!(request_cycle(&[1 << 30, 1 << 31]).unwrap().len(), 3);
    }
}
