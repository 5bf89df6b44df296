//! Finds where the level of a series changed: divides the series into levels at the least cost, and keeps the changes
//! whose two sides differ for certain.

use crate::contrast::{Contrast, SampleMean};
use crate::error::{StatsError, require, require_alpha};
use crate::interval::Interval;
use crate::quantile::{median, sd};

/// A level holds for at least this many values; fewer could be an outlier.
pub const LEAST_VALUES: usize = 3;

/// The cost of each further level: this factor times ln(n), in variances of a value.
///
/// In 1,000 series of 200 values without a change, fewer than one in a hundred gets one; with six changes, one or two in a
/// thousand get another or a misplaced one (`tests/change_points.rs`). With a factor of 3 there were four times as many.
pub const PENALTY: f64 = 4.0;

/// The median absolute deviation of normal values is this share of their standard deviation.
const MAD_OF_NORMAL: f64 = 0.674_489_75;

/// One change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub at: usize,
    /// The new level minus the one before it, with its interval.
    pub size: Interval,
}

/// All changes of level in `values`, in order. `alpha` is the error probability of the interval of each size; a change whose
/// interval contains 0 is none.
///
/// # Errors
/// A value is not finite, or `alpha` is outside (0, 1).
///
/// # Source
/// Optimal partitioning: Jackson et al., IEEE Signal Processing Letters 12 (2005). PELT (Killick et al., JASA 107, 2012) finds
/// the same partition with less work, which matters for far longer series only. The test of every change against its
/// neighbouring levels, the weakest first, is that of Hunter (Fleming et al., ICPE 2023; Apache Otava).
pub fn find_change_points(values: &[f64], alpha: f64) -> Result<Vec<ChangePoint>, StatsError> {
    require_alpha(alpha)?;
    require("change points", 0, values)?;
    let sd = noise_sd(values);
    if values.len() < 2 * LEAST_VALUES || sd == 0.0 {
        return Ok(Vec::new());
    }
    let penalty = PENALTY * (values.len() as f64).ln() * sd * sd;
    certain_changes(values, best_partition(values, penalty), alpha)
}

/// The standard deviation of a value about its level, from the differences of neighbours: a change affects one of them.
fn noise_sd(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let sizes: Vec<f64> = steps.iter().map(|step| step.abs()).collect();
    let robust = median(&sizes).unwrap_or(0.0) / MAD_OF_NORMAL;
    // If most neighbours are equal, the median is 0, and the few that differ give the variance.
    let of_steps = if robust > 0.0 { robust } else { sd(&steps).unwrap_or(0.0) };
    of_steps / 2f64.sqrt()
}

/// The first indices of all levels but the first, in the partition of least squared deviations and penalties.
fn best_partition(values: &[f64], penalty: f64) -> Vec<usize> {
    let cost = SquaredDeviations::of(values);
    // For each number of leading values: the least cost, and where their last level begins.
    let mut best: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); values.len() + 1];
    best[0] = (-penalty, 0);
    for end in LEAST_VALUES..=values.len() {
        let with_level_from = |start: usize| (best[start].0 + cost.of_range(start, end) + penalty, start);
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

/// Drops the least certain change until all that are left are certain.
fn certain_changes(values: &[f64], mut starts: Vec<usize>, alpha: f64) -> Result<Vec<ChangePoint>, StatsError> {
    loop {
        let contrasts: Vec<Contrast> = (0..starts.len())
            .map(|at| {
                let before = if at == 0 { 0 } else { starts[at - 1] };
                let after = starts.get(at + 1).copied().unwrap_or(values.len());
                let side = |values| SampleMean::of_values(values, 0.0);
                Ok(Contrast::independent(&side(&values[before..starts[at]])?, &side(&values[starts[at]..after])?))
            })
            .collect::<Result<_, StatsError>>()?;
        let weakest = (0..starts.len()).max_by(|a, b| contrasts[*a].p_value().total_cmp(&contrasts[*b].p_value()));
        match weakest.filter(|at| contrasts[*at].p_value() > alpha) {
            Some(at) => starts.remove(at),
            None => {
                let change =
                    |(at, contrast): (&usize, &Contrast)| Ok(ChangePoint { at: *at, size: contrast.interval(alpha)? });
                return starts.iter().zip(&contrasts).map(change).collect();
            }
        };
    }
}

/// Squared deviations from the mean of any range, by sums of all values before an index.
struct SquaredDeviations {
    sums: Vec<(f64, f64)>,
}

impl SquaredDeviations {
    fn of(values: &[f64]) -> Self {
        // Deviations from the first value keep the squares small.
        let first = values.first().copied().unwrap_or(0.0);
        let mut sums = vec![(0.0, 0.0)];
        for value in values.iter().map(|value| value - first) {
            let (sum, squares) = sums[sums.len() - 1];
            sums.push((sum + value, squares + value * value));
        }
        Self { sums }
    }

    fn of_range(&self, start: usize, end: usize) -> f64 {
        let sum = self.sums[end].0 - self.sums[start].0;
        let squares = self.sums[end].1 - self.sums[start].1;
        (squares - sum * sum / (end - start) as f64).max(0.0)
    }
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
            let cost = SquaredDeviations::of(&values);
            let bounds: Vec<usize> = [0].into_iter().chain(starts).chain([values.len()]).collect();
            let found: f64 = bounds.windows(2).map(|ends| cost.of_range(ends[0], ends[1])).sum();
            let found = found + penalty * (bounds.len() - 2) as f64;
            assert!((found - least(&values, 0, penalty)).abs() < 1e-9, "{penalty}: {bounds:?}");
        }
    }
}
