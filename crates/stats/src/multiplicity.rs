//! Many comparisons at once: which findings survive when a table offers many chances to be wrong.

use crate::error::{StatsError, require_alpha};

/// Which hypotheses "no difference" are rejected at false-discovery rate `alpha`, in the order given.
///
/// With the K e-values sorted downwards, the k largest are rejected for the largest k whose k-th value is at least
/// K / (alpha · k). Valid whatever the dependence between the comparisons, which share a baseline and a machine.
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
    // Equal e-values share a fate: if one of them is rejected, all are, since the next rank's threshold is lower still.
    let bar = rejected.map_or(f64::INFINITY, |k| threshold(e_values.len(), k, alpha));
    Ok(e_values.iter().map(|e| *e >= bar).collect())
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
    fn what_is_no_evidence_value_is_refused() {
        assert!(e_bh(&[1.0, f64::NAN], 0.05).is_err());
        assert!(e_bh(&[-1.0], 0.05).is_err());
        assert!(e_bh(&[1.0], 0.0).is_err());
    }
}
