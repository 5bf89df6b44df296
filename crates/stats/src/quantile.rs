//! Statistics of a plain list of numbers, and which percentiles may be printed at all.
//! Latencies are in [`crate::histogram`]; these functions are for the few values of slices and forks.

use crate::error::{StatsError, require};

/// The percentiles that reports offer, from which [`printable`] selects.
pub const STANDARD_PERCENTILES: [f64; 9] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 99.9999];

/// A percentile is printed only with at least this many samples above it.
pub const SAMPLES_ABOVE: f64 = 10.0;

/// The share cut from *each* end by [`trimmed_mean`]; the middle 60 % remain.
pub const TRIM: f64 = 0.2;

/// Whether `percentile` (0–100) of `n` samples has enough samples above it to be printed.
pub fn printable(n: u64, percentile: f64) -> bool {
    // 100 − 99.9 is not exactly 0.1 in binary; without the tolerance 10,000 samples would miss their own p99.9.
    n as f64 * (100.0 - percentile) / 100.0 + 1e-8 >= SAMPLES_ABOVE
}

/// The quantile `q` (0–1) of `values`, interpolated linearly between the two nearest order statistics. Errors: `values`
/// is empty or not finite, or `q` is outside 0–1. Source: Hyndman & Fan 1996, definition 7 (the default of R and
/// NumPy).
pub fn quantile(values: &[f64], q: f64) -> Result<f64, StatsError> {
    require("a quantile", 1, values)?;
    if !(0.0..=1.0).contains(&q) {
        return Err(StatsError::BadParameter { name: "quantile", value: q, expected: "between 0 and 1" });
    }
    let sorted = sorted(values);
    let position = (sorted.len() - 1) as f64 * q;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    Ok(sorted[below] + (position - below as f64) * (sorted[above] - sorted[below]))
}

/// The middle value, or the mean of the two middle values. Errors: `values` is empty or not finite.
pub fn median(values: &[f64]) -> Result<f64, StatsError> {
    quantile(values, 0.5)
}

/// The arithmetic mean. Errors: `values` is empty or not finite.
pub fn mean(values: &[f64]) -> Result<f64, StatsError> {
    require("a mean", 1, values)?;
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample (divisor n − 1). Errors: there are fewer than two values, or one is not finite.
pub fn sd(values: &[f64]) -> Result<f64, StatsError> {
    require("a standard deviation", 2, values)?;
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Ok((squares / (values.len() - 1) as f64).sqrt())
}

/// The mean of what is left after cutting ⌊0.2 n⌋ values from each end of the sorted list. With fewer than five values
/// nothing is cut, and this is the plain mean. Errors: `values` is empty or not finite. Source: Tukey & McLaughlin
/// 1963; 20 % is the share that Wilcox recommends for general use.
pub fn trimmed_mean(values: &[f64]) -> Result<f64, StatsError> {
    require("a trimmed mean", 1, values)?;
    let cut = (values.len() as f64 * TRIM).floor() as usize;
    mean(&sorted(values)[cut..values.len() - cut])
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_by(f64::total_cmp);
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_samples_above_it() {
        for (n, percentile, expected) in [
            (20, 50.0, true),
            (19, 50.0, false),
            (1_000, 99.0, true),
            (999, 99.0, false),
            (10_000, 99.9, true),
            (9_999, 99.9, false),
            (10_000_000, 99.9999, true),
            (9_999_999, 99.9999, false),
            (u64::MAX, 100.0, false),
            (0, 50.0, false),
        ] {
            assert_eq!(printable(n, percentile), expected, "{n} samples, p{percentile}");
        }
    }

    #[test]
    fn quantiles_agree_with_r_and_numpy() {
        // quantile(c(1, 2, 4, 8), c(0, .1, .25, .5, .9, 1)) in R.
        let values = [8.0, 1.0, 4.0, 2.0];
        for (q, expected) in [(0.0, 1.0), (0.1, 1.3), (0.25, 1.75), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((quantile(&values, q).unwrap() - expected).abs() < 1e-12, "q {q}");
        }
        assert_eq!(median(&[7.0]).unwrap(), 7.0);
    }

    #[test]
    fn trimming_cuts_a_fifth_from_each_end() {
        // Ten values: two are cut from each end. The mean of 3..=8 is 5.5 for any outlier.
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1e9];
        assert_eq!(trimmed_mean(&values).unwrap(), 5.5);
        assert_eq!(trimmed_mean(&[1.0, 2.0, 3.0, 10.0]).unwrap(), 4.0, "nothing is cut below five values");
    }

    #[test]
    fn the_standard_deviation_divides_by_n_minus_one() {
        // Squares about the mean 5 sum to 32; 32 / 7.
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((sd(&values).unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        assert!(matches!(mean(&[1.0, f64::NAN]), Err(StatsError::NotFinite { index: 1, .. })));
        assert!(matches!(sd(&[1.0]), Err(StatsError::TooFew { needed: 2, got: 1, .. })));
        assert!(matches!(quantile(&[1.0], 50.0), Err(StatsError::BadParameter { .. })));
        assert!(matches!(median(&[]), Err(StatsError::TooFew { .. })));
    }
}
