//! Odd starts: forks that run in another mode than the rest, such as at half the speed.

use crate::error::StatsError;

/// An odd start differs from every usual one by at least this factor.
pub const ODD_RATIO: f64 = 1.25;

/// And by at least this many standard deviations of the usual ones.
const ODD_DEVIATIONS: f64 = 6.0;

/// The expected range of 4 to 10 values in standard deviations of their normal distribution: the factors d₂ of control charts
/// (Tippett, Biometrika 17, 1925). Of so few values, the range estimates the deviation as well as their squares do.
const RANGES_IN_DEVIATIONS: [f64; 7] = [2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078];

/// The number of values of the first of these factors.
const FEWEST_IN_RANGE: usize = 4;

/// The smallest number of forks from which an odd one can be identified.
const MIN_FORKS: usize = 5;

/// The places of the forks whose level (or ratio) lies apart from that of the majority, in order. The majority are at
/// least two thirds of the forks, which lie together: three close forks of five can be neighbours by chance. Between it
/// and every other fork is a gap of at least [`ODD_RATIO`] and six of its standard deviations, which forks that merely
/// scatter do not have. None with fewer than five forks or without such a majority: then the usual mode is not known.
/// `bench/decide/run replay` counts what leaving odd forks out does to intervals. Errors: a level is not positive.
pub fn find_odd_starts(levels: &[f64]) -> Result<Vec<usize>, StatsError> {
    if let Some(index) = levels.iter().position(|level| !level.is_finite() || *level <= 0.0) {
        return Err(StatsError::NotFinite { index, value: levels[index] });
    }
    if levels.len() < MIN_FORKS {
        return Ok(Vec::new());
    }
    let logs: Vec<f64> = levels.iter().map(|level| level.ln()).collect();
    let mut sorted = logs.clone();
    sorted.sort_by(f64::total_cmp);
    let Some(usual) = separate_majority(&sorted) else { return Ok(Vec::new()) };
    let is_odd = |index: &usize| logs[*index] < usual[0] || logs[*index] > usual[usual.len() - 1];
    Ok((0..logs.len()).filter(is_odd).collect())
}

/// The largest majority of sorted values with a wide gap to all others; `None` where all belong together or none is one.
fn separate_majority(sorted: &[f64]) -> Option<&[f64]> {
    let least = (2 * sorted.len()).div_ceil(3);
    let parts =
        (least..sorted.len()).rev().flat_map(|size| (0..=sorted.len() - size).map(move |from| (from, from + size)));
    let is_separate = |(from, to): &(usize, usize)| {
        let range = sorted[*to - 1] - sorted[*from];
        let gap = ODD_RATIO.ln().max(ODD_DEVIATIONS * deviation(range, to - from));
        let below = from.checked_sub(1).is_none_or(|below| sorted[*from] - sorted[below] >= gap);
        below && sorted.get(*to).is_none_or(|above| above - sorted[*to - 1] >= gap)
    };
    parts.into_iter().find(is_separate).map(|(from, to)| &sorted[from..to])
}

/// The standard deviation of `count` values from their range. More than ten count as ten: the result is then too large, and
/// fewer forks are odd.
fn deviation(range: f64, count: usize) -> f64 {
    let at = count.saturating_sub(FEWEST_IN_RANGE).min(RANGES_IN_DEVIATIONS.len() - 1);
    range / RANGES_IN_DEVIATIONS[at]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(levels: &[f64]) -> Vec<usize> {
        find_odd_starts(levels).unwrap()
    }

    #[test]
    fn a_start_at_half_the_speed_is_odd() {
        assert_eq!(indices(&[16.2, 17.1, 16.8, 9.9, 17.4, 16.0, 18.0, 17.2, 16.6]), [3]);
        assert_eq!(indices(&[1.0, 1.01, 0.99, 2.0, 0.5, 1.0]), [3, 4], "on both sides");
    }

    #[test]
    fn starts_that_merely_scatter_are_not_odd() {
        assert_eq!(indices(&[10.0, 12.0, 14.0, 9.0, 16.0, 11.0]), [0usize; 0], "wide, and one mode");
        assert_eq!(indices(&[10.0, 10.01, 10.02, 10.0, 10.01, 11.0]), [0usize; 0], "tight, and 10 % is no mode");
        let two_slow = [1.073, 1.135, 1.541, 1.702, 1.0885, 1.1];
        assert_eq!(indices(&two_slow), [2, 3], "two of six");
        assert_eq!(indices(&two_slow[..5]), [0usize; 0], "recorded starts of http4s: three of five are too few");
        assert_eq!(indices(&[1.0, 1.01, 0.99, 1.02, 1.5, 1.6, 1.7]), [0usize; 0], "four of seven are too few");
        let slow_baseline = [0.751, 1.196, 1.049, 1.075, 1.182, 1.051, 1.117];
        assert_eq!(indices(&slow_baseline), [0], "recorded: one of seven starts of http4s");
        assert_eq!(indices(&slow_baseline[..6]), [0usize; 0], "five usual ones that scatter so tell less");
        assert_eq!(indices(&[10.0, 10.1, 5.0]), [0usize; 0], "three starts cannot tell");
        assert_eq!(indices(&[10.0, 10.1, 5.0, 5.1]), [0usize; 0], "either half may be the usual one");
    }

    #[test]
    fn a_level_that_is_none_is_refused() {
        assert!(find_odd_starts(&[1.0, 0.0, 1.0, 1.0]).is_err());
        assert!(find_odd_starts(&[1.0, f64::INFINITY, 1.0, 1.0]).is_err());
    }
}
