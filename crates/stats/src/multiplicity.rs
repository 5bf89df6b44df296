//! Many comparisons at once: which findings survive when a table offers many chances to be wrong.

use crate::error::{StatsError, require_alpha};

/// Which hypotheses "no difference" are rejected at false-discovery rate `alpha`, in the order given.
///
/// With the K e-values sorted downwards, the k largest are rejected for the largest k whose k-th value is at least
/// K / (alpha · k). This also holds for dependent comparisons, such as those that share a baseline and a machine.
///
/// # Errors
/// `alpha` is outside (0, 1), or an e-value is negative or NaN.
///
/// # Source
/// Wang & Ramdas, "False discovery rate control with e-values", JRSS B 84 (2022).
pub fn e_bh(e_values: &[f64], alpha: f64) -> Result<Vec<bool>, StatsError> {
    require_alpha(alpha)?;
    if let Some(index) = e_values.iter().position(|e| e.is_nan() || *e < 0.0) {
        return Err(StatsError::BadParameter { name: "e-value", value: e_values[index], expected: "0 or more" });
    }
    let mut descending = e_values.to_vec();
    descending.sort_by(|a, b| b.total_cmp(a));
    let rejected = (1..=descending.len()).rev().find(|k| descending[k - 1] >= threshold(e_values.len(), *k, alpha));
    // Equal e-values are rejected together, because the next rank's threshold is lower.
    let bar = rejected.map_or(f64::INFINITY, |k| threshold(e_values.len(), k, alpha));
    Ok(e_values.iter().map(|e| *e >= bar).collect())
}

/// Which hypotheses "no difference" are rejected at false-discovery rate `alpha`, in the order given, from a p-value and a
/// weight for each. The weights should average 1.
///
/// With K hypotheses, the k with p ≤ weight · alpha · k / (K · (1 + 1/2 + … + 1/K)) are rejected, for the largest k that there
/// are as many of. This also holds for dependent comparisons.
///
/// # Errors
/// `alpha` is outside (0, 1), or a p-value is outside 0–1.
///
/// # Source
/// Benjamini & Yekutieli, Annals of Statistics 29 (2001); with weights Blanchard & Roquain, Electronic Journal of Statistics
/// 2 (2008).
pub fn weighted_by(hypotheses: &[(f64, f64)], alpha: f64) -> Result<Vec<bool>, StatsError> {
    require_alpha(alpha)?;
    require_p_values(hypotheses.iter().map(|(p, _)| *p))?;
    let all = hypotheses.len();
    let harmonic: f64 = (1..=all).map(|rank| 1.0 / rank as f64).sum();
    let is_within =
        |(p, weight): &(f64, f64), rank: usize| *p <= weight * alpha * rank as f64 / (all as f64 * harmonic);
    let reached = |rank: &usize| hypotheses.iter().filter(|one| is_within(one, *rank)).count() >= *rank;
    let rank = (1..=all).rev().find(reached);
    Ok(hypotheses.iter().map(|one| rank.is_some_and(|rank| is_within(one, rank))).collect())
}

/// Which hypotheses "no difference" are rejected so that any of them is rejected wrongly with probability `alpha` at most, in
/// the order given. Valid whatever the dependence between them.
///
/// # Errors
/// `alpha` is outside (0, 1), or a p-value is outside 0–1.
///
/// # Source
/// Holm, Scandinavian Journal of Statistics 6 (1979).
pub fn holm(p_values: &[f64], alpha: f64) -> Result<Vec<bool>, StatsError> {
    require_alpha(alpha)?;
    require_p_values(p_values.iter().copied())?;
    let rejected_at = holm_levels(p_values.len(), alpha, |index, level| Ok(p_values[index] <= level))?;
    Ok(rejected_at.into_iter().map(|level| level.is_some()).collect())
}

/// Holm's procedure for hypotheses that have a test at any level and no p-value: the level at which each of `count` is rejected,
/// `None` where it is not. `rejects` tests the hypothesis of that index at a level.
///
/// It ends after `count` rounds at most, because a round that rejects nothing is the last and no rejection is taken back. If a
/// test that rejects at a level also rejects at every higher one, then more `alpha` takes no rejection away: by induction each
/// round begins with at least the rejections, and so at the level, of the same round at a smaller `alpha`.
pub(crate) fn holm_levels(
    count: usize,
    alpha: f64,
    mut rejects: impl FnMut(usize, f64) -> Result<bool, StatsError>,
) -> Result<Vec<Option<f64>>, StatsError> {
    let mut rejected_at = vec![None; count];
    for _ in 0..count {
        let open: Vec<usize> = (0..count).filter(|index| rejected_at[*index].is_none()).collect();
        let level = alpha / open.len().max(1) as f64;
        let mut is_last = true;
        for index in open {
            if rejects(index, level)? {
                (rejected_at[index], is_last) = (Some(level), false);
            }
        }
        if is_last {
            break;
        }
    }
    Ok(rejected_at)
}

fn require_p_values(mut p_values: impl Iterator<Item = f64>) -> Result<(), StatsError> {
    match p_values.find(|p| !(0.0..=1.0).contains(p)) {
        Some(value) => Err(StatsError::BadParameter { name: "p-value", value, expected: "between 0 and 1" }),
        None => Ok(()),
    }
}

/// The evidence that the `rank`-th of `hypotheses` needs.
fn threshold(hypotheses: usize, rank: usize, alpha: f64) -> f64 {
    hypotheses as f64 / (alpha * rank as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejections_agree_with_the_definition_worked_by_hand() {
        // α 0.05, K 4: thresholds for ranks 1..4 are 80, 40, 26.67, 20.
        for (e_values, expected) in [
            (vec![81.0, 1.0, 0.5, 2.0], vec![true, false, false, false]),
            (vec![79.0, 1.0, 0.5, 2.0], vec![false; 4]),
            (vec![2.0, 45.0, 41.0, 0.0], vec![false, true, true, false]),
            // No rank but the last passes, and then all do.
            (vec![21.0, 20.0, 22.0, 23.0], vec![true; 4]),
            (vec![f64::INFINITY, 30.0, 27.0, 19.0], vec![true, true, true, false]),
            (vec![], vec![]),
        ] {
            assert_eq!(e_bh(&e_values, 0.05).unwrap(), expected, "{e_values:?}");
        }
    }

    #[test]
    fn a_single_hypothesis_needs_one_over_alpha() {
        assert_eq!(e_bh(&[100.0], 0.01).unwrap(), [true]);
        assert_eq!(e_bh(&[99.0], 0.01).unwrap(), [false]);
    }

    #[test]
    fn holm_agrees_with_r() {
        // p.adjust(c(.01, .04, .03, .005), "holm") in R: 0.03 0.06 0.06 0.02.
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05).unwrap(), [true, false, false, true]);
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.06).unwrap(), [true; 4]);
        assert_eq!(holm(&[], 0.05).unwrap(), []);
        assert!(holm(&[1.5], 0.05).is_err() && holm(&[f64::NAN], 0.05).is_err());
    }

    proptest::proptest! {
        #[test]
        fn more_alpha_takes_no_rejection_away(
            p_values in proptest::collection::vec(0.0..=1.0_f64, 0..12),
            alpha in 0.001..0.5_f64,
            factor in 1.0..1.9_f64,
        ) {
            let (less, more) = (holm(&p_values, alpha).unwrap(), holm(&p_values, alpha * factor).unwrap());
            proptest::prop_assert!(less.iter().zip(&more).all(|(less, more)| *more || !less), "{:?} {:?}", less, more);
        }
    }

    #[test]
    fn a_test_that_takes_its_answer_back_ends_all_the_same() {
        // Rejects at a third of α, and never again.
        let once = |_: usize, level: f64| Ok(level < 0.02);
        assert_eq!(holm_levels(3, 0.05, once).unwrap().iter().flatten().count(), 3);
        let asked = std::cell::Cell::new(0);
        let never = |_: usize, _: f64| {
            asked.set(asked.get() + 1);
            Ok(false)
        };
        assert_eq!((holm_levels(3, 0.05, never).unwrap(), asked.get()), (vec![None; 3], 3));
    }

    #[test]
    fn benjamini_and_yekutieli_agree_with_r() {
        // p.adjust(c(.039, .001, .041, .008), "BY") in R: 0.0854 0.0083 0.0854 0.0333.
        let equal = |alpha| weighted_by(&[(0.039, 1.0), (0.001, 1.0), (0.041, 1.0), (0.008, 1.0)], alpha).unwrap();
        assert_eq!(equal(0.05), [false, true, false, true]);
        assert_eq!(equal(0.086), [true; 4]);
        assert_eq!(weighted_by(&[], 0.05).unwrap(), []);
        assert!(weighted_by(&[(1.5, 1.0)], 0.05).is_err() && weighted_by(&[(f64::NAN, 1.0)], 0.05).is_err());
    }

    #[test]
    fn a_weight_moves_error_from_one_hypothesis_to_another() {
        // K 2: p ≤ weight · 0.05 · k / 3.
        assert_eq!(weighted_by(&[(0.03, 1.0), (0.9, 1.0)], 0.05).unwrap(), [false, false]);
        assert_eq!(weighted_by(&[(0.03, 1.9), (0.9, 0.1)], 0.05).unwrap(), [true, false]);
    }

    #[test]
    fn what_is_no_evidence_value_is_refused() {
        assert!(e_bh(&[1.0, f64::NAN], 0.05).is_err());
        assert!(e_bh(&[-1.0], 0.05).is_err());
        assert!(e_bh(&[1.0], 0.0).is_err());
    }
}
