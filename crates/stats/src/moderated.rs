//! The moderated variance: earlier forks of this machine say how much forks scatter, unless the run's forks contradict
//! it.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use statrs::function::gamma::digamma;

use crate::error::{StatsError, require_finite};
use crate::quantile::{mean, quantile, sd as spread};

/// The fewest groups of earlier forks that a prior is fitted to.
pub const MIN_PRIOR_GROUPS: usize = 20;

/// A prior counts for no more than this many degrees of freedom, even if all groups were alike.
pub const MAX_PRIOR_DF: f64 = 6.0;

/// A standard deviation that is as improbable as this under the prior drops the prior.
const GUARD_LEVEL: f64 = 0.99;

/// The standard deviation of log-ratios by earlier forks. It counts as much as `df + 1` forks that scatter by `sd`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VariancePrior {
    /// Standard deviation of log-ratios.
    pub sd: f64,
    /// Its degrees of freedom.
    pub df: f64,
}

impl VariancePrior {
    /// The prior of earlier groups of forks, each with its standard deviation and degrees of freedom; `None` for fewer
    /// than [`MIN_PRIOR_GROUPS`], and if the groups differ so much that they predict nothing.
    ///
    /// `sd` is the upper quartile of the groups' and `df` at most [`MAX_PRIOR_DF`]: a prior that is too sure of too
    /// small a spread makes intervals too narrow.
    ///
    /// # Errors
    /// A standard deviation or a number of degrees of freedom is not positive and finite.
    ///
    /// # Source
    /// Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004): `df` by the variance of log-variances, his section 6.2.
    pub fn fit(groups: &[(f64, f64)]) -> Result<Option<Self>, StatsError> {
        let (sds, dfs): (Vec<f64>, Vec<f64>) = groups.iter().copied().unzip();
        for values in [&sds, &dfs] {
            require_finite(values)?;
            if let Some(value) = values.iter().find(|value| **value <= 0.0) {
                return Err(StatsError::BadParameter { name: "an earlier group", value: *value, expected: "above 0" });
            }
        }
        if groups.len() < MIN_PRIOR_GROUPS {
            return Ok(None);
        }
        let centred = |(sd, df): &(f64, f64)| 2.0 * sd.ln() - digamma(df / 2.0) + (df / 2.0).ln();
        let logs: Vec<f64> = groups.iter().map(centred).collect();
        let by_chance: Vec<f64> = dfs.iter().map(|df| trigamma(df / 2.0)).collect();
        let between = spread(&logs)?.powi(2) - mean(&by_chance)?;
        let df = if between <= 0.0 { MAX_PRIOR_DF } else { (2.0 * inverse_trigamma(between)).min(MAX_PRIOR_DF) };
        let prior = Self { sd: quantile(&sds, 0.75)?, df };
        Ok(Some(prior).filter(|prior| prior.df >= 1.0))
    }

    /// The standard deviation of `forks` forks that scatter by `sd`, moderated by the prior.
    pub fn moderate(&self, sd: f64, forks: u32) -> f64 {
        let own = f64::from(forks.max(1)) - 1.0;
        ((self.df * self.sd.powi(2) + own * sd.powi(2)) / (self.df + own)).sqrt()
    }

    /// Whether forks that scatter by `sd` may be of the prior's kind: the ratio of the variances lies below the 99 %
    /// quantile of the F distribution. Where not, the prior is not used.
    pub fn agrees_with(&self, sd: f64, forks: u32) -> bool {
        let ratio = (sd / self.sd).powi(2);
        FisherSnedecor::new(f64::from(forks.max(2)) - 1.0, self.df).is_ok_and(|f| f.cdf(ratio) <= GUARD_LEVEL)
    }
}

/// The derivative of the digamma function, for positive `x`: by recurrence to x ≥ 8, then its asymptotic series.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 8.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    sum + 1.0 / x + y / 2.0 + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y / 30.0)))
}

/// Where the trigamma function, which falls, has this positive value.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-6_f64, 1e6_f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigamma_agrees_with_known_values() {
        let pi2 = std::f64::consts::PI.powi(2);
        for (x, value) in [(1.0, pi2 / 6.0), (0.5, pi2 / 2.0), (2.0, pi2 / 6.0 - 1.0), (1.5, pi2 / 2.0 - 4.0)] {
            assert!((trigamma(x) - value).abs() < 1e-10, "{x}");
            assert!((inverse_trigamma(value) - x).abs() < 1e-8, "{x}");
        }
    }

    #[test]
    fn a_moderated_spread_agrees_with_arithmetic_by_hand() {
        // (6 · 0.03² + 3 · 0.01²) / 9 = 0.0057 / 9.
        let prior = VariancePrior { sd: 0.03, df: 6.0 };
        assert!((prior.moderate(0.01, 4) - (0.0057_f64 / 9.0).sqrt()).abs() < 1e-12);
        assert!((prior.moderate(0.5, 1) - 0.03).abs() < 1e-12);
    }

    #[test]
    fn the_guard_is_the_printed_quantile_of_f() {
        // F(.99; 3, 6) = 9.780.
        let prior = VariancePrior { sd: 1.0, df: 6.0 };
        assert!(prior.agrees_with(9.77_f64.sqrt(), 4) && !prior.agrees_with(9.79_f64.sqrt(), 4));
    }

    #[test]
    fn groups_that_are_alike_give_a_capped_prior_and_few_groups_none() {
        let alike: Vec<(f64, f64)> = (0..20).map(|i| (0.02 + f64::from(i) * 1e-4, 5.0)).collect();
        let prior = VariancePrior::fit(&alike).unwrap().unwrap();
        assert_eq!(prior.df, MAX_PRIOR_DF);
        assert!((prior.sd - 0.021_425).abs() < 1e-9, "the upper quartile: {}", prior.sd);
        assert_eq!(VariancePrior::fit(&alike[1..]).unwrap(), None);
        let unlike: Vec<(f64, f64)> = (0..20).map(|i| (10f64.powi(i - 10), 5.0)).collect();
        assert_eq!(VariancePrior::fit(&unlike).unwrap(), None);
        assert!(VariancePrior::fit(&[(0.0, 3.0)]).is_err() && VariancePrior::fit(&[(f64::NAN, 3.0)]).is_err());
    }
}
