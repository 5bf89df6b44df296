//! Odd starts: forks that settled in another mode than the rest, such as at half the speed.

use serde::{Deserialize, Serialize};

use crate::compare::SD_FLOOR;
use crate::error::{StatsError, require};
use crate::quantile::median;

/// An odd start differs from the median by at least this factor.
pub const ODD_RATIO: f64 = 1.25;

/// And at least this many robust standard deviations.
const ODD_DEVIATIONS: f64 = 5.0;

/// The smallest number of forks from which an odd one can be identified.
const MIN_FORKS: usize = 4;

/// A normal sample's standard deviation is this many times its median absolute deviation.
const SD_PER_MAD: f64 = 1.4826;

/// A fork that settled in another mode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OddStart {
    /// Its place in the input.
    pub index: usize,
    /// Its level relative to the median of all: 0.5 is half of it.
    pub ratio: f64,
}

/// The forks whose level (or ratio) differs from the median by a factor of [`ODD_RATIO`] and by five robust standard
/// deviations, in the order given. None with fewer than four forks, and none if half of them or more would be odd:
/// then the usual mode is not known.
///
/// # Errors
/// A level is zero, negative or not finite.
pub fn find_odd_starts(levels: &[f64]) -> Result<Vec<OddStart>, StatsError> {
    if let Some(index) = levels.iter().position(|level| level.is_nan() || *level <= 0.0) {
        return Err(StatsError::NotFinite { index, value: levels[index] });
    }
    if levels.len() < MIN_FORKS {
        return Ok(Vec::new());
    }
    let logs: Vec<f64> = levels.iter().map(|level| level.ln()).collect();
    require("odd starts", MIN_FORKS, &logs)?;
    let centre = median(&logs)?;
    let distances: Vec<f64> = logs.iter().map(|log| (log - centre).abs()).collect();
    let spread = (SD_PER_MAD * median(&distances)?).max(SD_FLOOR);
    let is_odd = |distance: f64| distance >= ODD_RATIO.ln() && distance >= ODD_DEVIATIONS * spread;
    let odd: Vec<OddStart> = (0..logs.len())
        .filter(|index| is_odd(distances[*index]))
        .map(|index| OddStart { index, ratio: (logs[index] - centre).exp() })
        .collect();
    Ok(if odd.len() * 2 >= levels.len() { Vec::new() } else { odd })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(levels: &[f64]) -> Vec<usize> {
        find_odd_starts(levels).unwrap().iter().map(|odd| odd.index).collect()
    }

    #[test]
    fn a_start_at_half_the_speed_is_odd() {
        let levels = [16.2, 17.1, 16.8, 9.9, 17.4, 16.0, 18.0, 17.2, 16.6];
        let odd = find_odd_starts(&levels).unwrap();
        assert_eq!(odd.len(), 1);
        assert_eq!(odd[0].index, 3);
        assert!((odd[0].ratio - 9.9 / 16.8).abs() < 1e-9, "{odd:?}");
        assert_eq!(indices(&[1.0, 1.01, 0.99, 2.0, 0.5, 1.0]), [3, 4], "on both sides");
    }

    #[test]
    fn starts_that_merely_scatter_are_not_odd() {
        assert_eq!(indices(&[10.0, 12.0, 14.0, 9.0, 16.0, 11.0]), [0usize; 0], "wide, and one mode");
        assert_eq!(indices(&[10.0, 10.01, 10.02, 10.0, 10.01, 11.0]), [0usize; 0], "tight, and 10 % is no mode");
        assert_eq!(indices(&[10.0, 10.1, 5.0]), [0usize; 0], "three starts cannot tell");
        assert_eq!(indices(&[10.0, 10.1, 5.0, 5.1]), [0usize; 0], "either half may be the usual one");
    }

    #[test]
    fn a_level_that_is_none_is_refused() {
        assert!(find_odd_starts(&[1.0, 0.0, 1.0, 1.0]).is_err());
        assert!(find_odd_starts(&[1.0, f64::INFINITY, 1.0, 1.0]).is_err());
    }
}
