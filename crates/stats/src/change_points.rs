//! Finds where the level of a series changed: divides the series into levels at the least cost, and keeps the changes
//! whose two sides differ for certain.

use crate::contrast::SampleMean;
use crate::error::{StatsError, require, require_alpha};
use crate::interval::Interval;

/// A level holds for at least this many values; fewer could be an outlier.
pub const LEAST_VALUES: usize = 3;

/// The cost of each further level: this factor times ln(n), in variances of a value. In 1,000 series of 200 values
/// without a change, at most one in a hundred gets one, also where the values have two modes or resemble their
/// neighbours (`tests/change_points.rs`).
pub const PENALTY: f64 = 4.0;

/// The largest of the steps between neighbours, this share of them, do not count in the variance: they may be changes of level
/// or outliers. With half of them left out, the rarer mode of a series with two modes did not count, and became levels.
const TRIMMED: f64 = 0.05;

/// The variance of the middle 95 % of normal values, as a share of their variance.
const VARIANCE_WITHOUT_TRIMMED: f64 = 0.758_843;

/// Neighbours that resemble each other more are no noise about a level.
const MOST_CORRELATION: f64 = 0.9;

/// Levels and the noise about them depend on each other; they converge in two or three rounds.
const ROUNDS: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub at: usize,
    /// The new level minus the one before it, with its interval.
    pub size: Interval,
}

/// All changes of level in `values`, in order. `alpha` is the error probability of the interval of each size; a change
/// whose interval contains 0 is none. Errors: a value is not finite, or `alpha` is outside (0, 1). Source: Optimal
/// partitioning: Jackson et al., IEEE Signal Processing Letters 12 (2005). PELT (Killick et al., JASA 107, 2012) finds
/// the same partition with less work, which matters for far longer series only. The test of every change against its
/// neighbouring levels, the weakest first, is that of Hunter (Fleming et al., ICPE 2023; Apache Otava). The variance
/// from steps is von Neumann's (Annals of Mathematical Statistics 12, 1941).
pub fn find_change_points(values: &[f64], alpha: f64) -> Result<Vec<ChangePoint>, StatsError> {
    require_alpha(alpha)?;
    require("change points", 0, values)?;
    if values.len() < 2 * LEAST_VALUES {
        return Ok(Vec::new());
    }
    let mut starts = Vec::new();
    let mut variance = variance_of_independent(values);
    for _ in 0..ROUNDS {
        let found = best_partition(values, PENALTY * (values.len() as f64).ln() * variance);
        variance = variance_about(values, &found);
        let is_settled = found == starts;
        starts = found;
        // Levels without any noise about them leave nothing to find.
        if is_settled || variance == 0.0 {
            break;
        }
    }
    keep_certain_changes(values, starts, variance.sqrt(), alpha)
}

/// The variance of a value about its level if no value depends on the one before it.
fn variance_of_independent(values: &[f64]) -> f64 {
    let squares = half_squared_steps(values, 1);
    let variance = trimmed_variance(&squares);
    // Most neighbours may be equal. Then the few that differ give the variance.
    if variance > 0.0 { variance } else { squares.iter().sum::<f64>() / squares.len() as f64 }
}

/// The variance of a value about its level that the mean of a level suffers from: n times that of a mean of n values. It is
/// larger where a value resembles the one before it. Such values are taken for an autoregressive process of first order.
fn variance_about(values: &[f64], starts: &[usize]) -> f64 {
    let bounds: Vec<usize> = [0].into_iter().chain(starts.iter().copied()).chain([values.len()]).collect();
    let about_level = |ends: &[usize]| {
        let level = &values[ends[0]..ends[1]];
        let centre = level.iter().sum::<f64>() / level.len() as f64;
        level.iter().map(move |value| value - centre)
    };
    let residuals: Vec<f64> = bounds.windows(2).flat_map(about_level).collect();
    // Where neighbours are correlated by ρ, and those next to them by ρ², these are 1 − ρ and 1 − ρ² variances.
    let [near, next] = [1, 2].map(|lag| trimmed_variance(&half_squared_steps(&residuals, lag)));
    if near == 0.0 {
        return 0.0;
    }
    let correlation = (next / near - 1.0).clamp(0.0, MOST_CORRELATION);
    near * (1.0 + correlation) / (1.0 - correlation).powi(2)
}

/// Half of the squared difference of each value to the one `lag` before it, in order of size. Their mean is the variance of
/// independent values, however these are distributed, and a change of level enlarges `lag` of them.
fn half_squared_steps(values: &[f64], lag: usize) -> Vec<f64> {
    let mut squares: Vec<f64> = values.windows(lag + 1).map(|part| (part[lag] - part[0]).powi(2) / 2.0).collect();
    squares.sort_by(f64::total_cmp);
    squares
}

/// The mean of `squares` without the largest, as much as it would be with them if the steps were normal.
fn trimmed_variance(squares: &[f64]) -> f64 {
    let kept = squares.len() - (squares.len() as f64 * TRIMMED).ceil() as usize;
    squares[..kept].iter().sum::<f64>() / kept as f64 / VARIANCE_WITHOUT_TRIMMED
}

/// The first indices of all levels but the first, in the partition of least squared deviations and penalties.
fn best_partition(values: &[f64], penalty: f64) -> Vec<usize> {
    let sums = sums_before(values);
    // For each number of leading values: the least cost, and where their last level begins.
    let mut best: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); values.len() + 1];
    best[0] = (-penalty, 0);
    for end in LEAST_VALUES..=values.len() {
        let with_level_from = |start: usize| (best[start].0 + squared_deviations(&sums, start, end) + penalty, start);
        let options = (0..=end - LEAST_VALUES).map(with_level_from);
        best[end] = options.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or(best[end]);
    }
    let mut starts = Vec::new();
    let mut end = values.len();
    while end > 0 {
        end = best[end].1;
        starts.push(end);
    }
    // The last of them is the first level, which is no change.
    starts.pop();
    starts.reverse();
    starts
}

/// Drops the least significant change until all remaining ones are significant. The values of a level scatter by `least_sd`
/// at least: a short level can agree by chance.
fn keep_certain_changes(
    values: &[f64],
    mut starts: Vec<usize>,
    least_sd: f64,
    alpha: f64,
) -> Result<Vec<ChangePoint>, StatsError> {
    loop {
        let contrasts: Vec<SampleMean> = (0..starts.len())
            .map(|at| {
                let before = if at == 0 { 0 } else { starts[at - 1] };
                let after = starts.get(at + 1).copied().unwrap_or(values.len());
                let side = |values| SampleMean::of_values(values, least_sd);
                Ok(side(&values[starts[at]..after])?.minus(&side(&values[before..starts[at]])?))
            })
            .collect::<Result<_, StatsError>>()?;
        let weakest = (0..starts.len()).max_by(|a, b| contrasts[*a].p_value().total_cmp(&contrasts[*b].p_value()));
        match weakest.filter(|at| contrasts[*at].p_value() > alpha) {
            Some(at) => starts.remove(at),
            None => {
                let change = |(at, contrast): (&usize, &SampleMean)| {
                    Ok(ChangePoint { at: *at, size: contrast.interval(alpha)? })
                };
                return starts.iter().zip(&contrasts).map(change).collect();
            }
        };
    }
}

/// The sums of all values before each index, and of their squares, which deviations from the first value keep small.
fn sums_before(values: &[f64]) -> Vec<(f64, f64)> {
    let first = values.first().copied().unwrap_or(0.0);
    let mut sums = vec![(0.0, 0.0)];
    for value in values.iter().map(|value| value - first) {
        let (sum, squares) = sums[sums.len() - 1];
        sums.push((sum + value, squares + value * value));
    }
    sums
}

/// The squared deviations from the mean of a range, by these sums.
fn squared_deviations(sums: &[(f64, f64)], start: usize, end: usize) -> f64 {
    let sum = sums[end].0 - sums[start].0;
    let squares = sums[end].1 - sums[start].1;
    (squares - sum * sum / (end - start) as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_is_found_with_its_size() {
        let values = [1.0, 1.1, 0.9, 1.0, 1.1, 0.9, 3.0, 3.1, 2.9, 3.0, 3.1, 2.9];
        let changes = find_change_points(&values, 0.001).unwrap();
        assert_eq!(changes.iter().map(|change| change.at).collect::<Vec<_>>(), [6]);
        assert!((changes[0].size.estimate - 2.0).abs() < 1e-9 && changes[0].size.lo > 1.5, "{changes:?}");
    }

    #[test]
    fn an_outlier_is_no_change() {
        let mut values: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 11) * 0.01).collect();
        values[20] = 5.0;
        assert_eq!(find_change_points(&values, 0.001).unwrap(), []);
    }

    #[test]
    fn series_without_noise_or_without_length_have_no_change() {
        assert_eq!(find_change_points(&[], 0.001).unwrap(), []);
        assert_eq!(find_change_points(&[1.0, 2.0, 3.0, 4.0], 0.001).unwrap(), []);
        assert_eq!(find_change_points(&[1.0; 50], 0.001).unwrap(), []);
        assert!(find_change_points(&[1.0, f64::NAN], 0.001).is_err());
    }

    #[test]
    fn levels_without_noise_change_where_they_do() {
        let values: Vec<f64> = (0..30).map(|i| if i < 12 { 1.0 } else { 2.0 }).collect();
        let changes = find_change_points(&values, 0.001).unwrap();
        assert_eq!(changes.iter().map(|change| change.at).collect::<Vec<_>>(), [12]);
    }

    #[test]
    fn the_partition_is_that_of_all_partitions_with_the_least_cost() {
        // Every partition of 11 values into levels of three and more.
        fn least(values: &[f64], start: usize, penalty: f64) -> f64 {
            let deviations = |start: usize, end: usize| {
                let centre = crate::quantile::mean(&values[start..end]).unwrap();
                values[start..end].iter().map(|value| (value - centre).powi(2)).sum::<f64>()
            };
            let rest = (start + LEAST_VALUES..=values.len() - LEAST_VALUES)
                .map(|end| deviations(start, end) + penalty + least(values, end, penalty));
            rest.fold(deviations(start, values.len()), f64::min)
        }
        let values = [0.1, 0.3, 0.2, 1.9, 2.2, 1.7, 2.1, 0.4, 0.2, 0.5, 0.1];
        for penalty in [0.01, 0.5, 2.0, 50.0] {
            let starts = best_partition(&values, penalty);
            let sums = sums_before(&values);
            let bounds: Vec<usize> = [0].into_iter().chain(starts).chain([values.len()]).collect();
            let found: f64 = bounds.windows(2).map(|ends| squared_deviations(&sums, ends[0], ends[1])).sum();
            let found = found + penalty * (bounds.len() - 2) as f64;
            assert!((found - least(&values, 0, penalty)).abs() < 1e-9, "{penalty}: {bounds:?}");
        }
    }
}
