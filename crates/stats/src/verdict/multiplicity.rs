//! Many comparisons at once: which findings survive when a table offers many chances to be wrong.

use crate::error::{StatsError, require_alpha};
use crate::verdict::LARGE_TABLE;

/// How many hypotheses "no difference" of a table are rejected at false-discovery rate `alpha`: those with p ≤ alpha ·
/// k / K, for the largest k that there are as many of. It holds for independent p-values, and for those that depend
/// positively, as where comparisons share a baseline. Errors: `alpha` is outside (0, 1), or a p-value is outside 0–1.
/// Source: Benjamini & Hochberg, JRSS B 57 (1995); for positive dependence Benjamini & Yekutieli, Annals of Statistics
/// 29 (2001).
pub fn benjamini_hochberg(p_values: &[f64], alpha: f64) -> Result<usize, StatsError> {
    require_alpha(alpha)?;
    require_p_values(p_values.iter().copied())?;
    let within = |rank: usize| p_values.iter().filter(|p| **p <= rank_level(rank, p_values.len(), alpha)).count();
    Ok((1..=p_values.len()).rev().find(|rank| within(*rank) >= *rank).unwrap_or(0))
}

/// The largest p-value of a table of `all` at which a hypothesis is rejected as the `rank`-th.
pub(crate) fn rank_level(rank: usize, all: usize, alpha: f64) -> f64 {
    alpha * rank as f64 / all.max(1) as f64
}

/// Which hypotheses are rejected, in the order given: by Holm's procedure, or by Benjamini and Hochberg's in a table.
pub fn rejected_together(p_values: &[f64], alpha: f64) -> Result<Vec<bool>, StatsError> {
    if p_values.len() < LARGE_TABLE as usize {
        return holm(p_values, alpha);
    }
    let level = rank_level(benjamini_hochberg(p_values, alpha)?, p_values.len(), alpha);
    Ok(p_values.iter().map(|p| *p <= level).collect())
}

/// Which hypotheses "no difference" are rejected so that any of them is rejected wrongly with probability `alpha` at
/// most, in the order given. Valid whatever the dependence between them. Errors: `alpha` is outside (0, 1), or a
/// p-value is outside 0–1. Source: Holm, Scandinavian Journal of Statistics 6 (1979).
pub fn holm(p_values: &[f64], alpha: f64) -> Result<Vec<bool>, StatsError> {
    require_alpha(alpha)?;
    require_p_values(p_values.iter().copied())?;
    let rejected_at = holm_levels(p_values.len(), alpha, |index, level| Ok(p_values[index] <= level))?;
    Ok(rejected_at.into_iter().map(|level| level.is_some()).collect())
}

/// Holm's procedure for hypotheses that have a test at any level and no p-value: the level at which each of `count` is
/// rejected, `None` where it is not. `rejects` tests the hypothesis of that index at a level. It ends after `count`
/// rounds at most, because a round that rejects nothing is the last and no rejection is taken back. If a test that
/// rejects at a level also rejects at every higher one, then more `alpha` takes no rejection away: by induction each
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_questions_are_a_table() {
        let mut p_values = vec![0.01, 0.02];
        p_values.resize(9, 0.5);
        assert!(rejected_together(&p_values, 0.05).unwrap().iter().all(|is_rejected| !is_rejected));
        // Of ten, 0.004 and 0.01 are at most 0.05 × 1/10 and 0.05 × 2/10.
        let mut p_values = vec![0.004, 0.01];
        p_values.resize(10, 0.5);
        let rejected = rejected_together(&p_values, 0.05).unwrap();
        assert_eq!((rejected[..2].to_vec(), rejected[2..].contains(&true)), (vec![true; 2], false));
        assert!(rejected_together(&[0.5; 10], 0.05).unwrap().iter().all(|is_rejected| !is_rejected));
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
    fn benjamini_and_hochberg_agree_with_r() {
        // p.adjust(c(.039, .001, .041, .008, .6), "BH") in R: 0.05125 0.00500 0.05125 0.02000 0.60000.
        let p_values = [0.039, 0.001, 0.041, 0.008, 0.6];
        let rejected = |alpha| benjamini_hochberg(&p_values, alpha).unwrap();
        let found = [0.004_9, 0.005_1, 0.020_1, 0.05, 0.051_3, 0.61].map(rejected);
        assert_eq!(found, [0, 1, 2, 2, 4, 5]);
        assert_eq!(benjamini_hochberg(&[], 0.05).unwrap(), 0);
        assert!(benjamini_hochberg(&[1.5], 0.05).is_err() && benjamini_hochberg(&[f64::NAN], 0.05).is_err());
        assert!(benjamini_hochberg(&[0.5], 0.0).is_err());
    }

    proptest::proptest! {
        #[test]
        fn a_smaller_p_value_takes_no_finding_away(
            p_values in proptest::collection::vec(0.0..=1.0_f64, 1..40),
            at in 0..40_usize,
            factor in 0.0..1.0_f64,
        ) {
            let mut stronger = p_values.clone();
            stronger[at % p_values.len()] *= factor;
            let (before, after) = (benjamini_hochberg(&p_values, 0.1).unwrap(), benjamini_hochberg(&stronger, 0.1).unwrap());
            proptest::prop_assert!(after >= before, "{before} findings became {after}");
            let level = rank_level(after, p_values.len(), 0.1);
            proptest::prop_assert_eq!(stronger.iter().filter(|p| **p <= level).count(), after);
        }
    }
}
