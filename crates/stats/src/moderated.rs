//! The moderated variance: other comparisons say how much forks scatter, those of the same run or of earlier ones, unless the
//! forks of this comparison contradict them.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use statrs::function::beta::ln_beta;
use statrs::function::gamma::digamma;

use crate::error::{StatsError, require_finite};
use crate::quantile::{mean, quantile, sd as spread};
use crate::repeated::{integral, last_where};

/// The fewest comparisons that a prior is fitted to.
pub const MIN_PRIOR_GROUPS: usize = 10;

/// The prior of earlier runs counts for no more degrees of freedom than this, even if all of them were alike: starts of another
/// day may scatter otherwise. Without it, 10 to 12 % of the intervals miss where forks scatter 1.5 times as much, instead of 5.
pub const MAX_EARLIER_DF: f64 = 6.0;

/// A standard deviation that is as improbable as this under the prior drops the prior.
const GUARD_LEVEL: f64 = 0.95;

/// The shares of the smallest and of the largest variances that a fit does not look at closely.
const TAILS: (f64, f64) = (0.05, 0.1);

/// The standard deviation of log-ratios by other comparisons. It counts as much as `df + 1` forks that scatter by `sd`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VariancePrior {
    pub sd: f64,
    pub df: f64,
}

impl VariancePrior {
    /// The prior of comparisons, each with the standard deviation of its forks and its degrees of freedom; `None` for
    /// fewer than [`MIN_PRIOR_GROUPS`], and if they differ so much that they predict nothing. `sd` lies one standard
    /// error above its estimate: without this, intervals miss the truth in up to 6.6 % of the cases where 5 % are
    /// allowed, because the fit does not know the true spread, and the true ones need not scatter as its model says.
    /// Errors: a standard deviation or a number of degrees of freedom is not positive and finite.
    ///
    /// Sources: Smyth, Stat. Appl. Genet. Mol. Biol. 3 (2004), section 6.2; robust: Phipson, Lee, Majewski, Alexander &
    /// Smyth, Annals of Applied Statistics 10 (2016). Simulations: docs/notebook/2026-11-28-every-cell.md.
    pub fn fit(groups: &[(f64, f64)]) -> Result<Option<Self>, StatsError> {
        let (sds, dfs): (Vec<f64>, Vec<f64>) = groups.iter().copied().unzip();
        for values in [&sds, &dfs] {
            require_finite(values)?;
            if let Some(value) = values.iter().find(|value| **value <= 0.0) {
                return Err(StatsError::BadParameter {
                    name: "a comparison's spread",
                    value: *value,
                    expected: "above 0",
                });
            }
        }
        if groups.len() < MIN_PRIOR_GROUPS {
            return Ok(None);
        }
        let fit = FittedF::robust(groups)?;
        let by_chance = mean(&dfs.iter().map(|df| trigamma(df / 2.0)).collect::<Vec<f64>>())?;
        let standard_error = ((by_chance + trigamma(fit.df / 2.0)) / groups.len() as f64).sqrt();
        let prior = Self { sd: ((fit.log_scale + standard_error) / 2.0).exp(), df: fit.df };
        Ok(Some(prior).filter(|prior| prior.df >= 1.0))
    }

    pub fn of_earlier_runs(self) -> Self {
        Self { df: self.df.min(MAX_EARLIER_DF), ..self }
    }

    /// The standard deviation of `forks` forks that scatter by `sd`, moderated by the prior.
    pub fn moderate(&self, sd: f64, forks: u32) -> f64 {
        let own = f64::from(forks.max(1)) - 1.0;
        ((self.df * self.sd.powi(2) + own * sd.powi(2)) / (self.df + own)).sqrt()
    }

    /// Whether forks that scatter by `sd` may be of the prior's kind: the ratio of the variances lies below the 95 %
    /// quantile of the F distribution. Where not, the prior is not used.
    pub fn agrees_with(&self, sd: f64, forks: u32) -> bool {
        let ratio = (sd / self.sd).powi(2);
        FisherSnedecor::new(f64::from(forks.max(2)) - 1.0, self.df).is_ok_and(|f| f.cdf(ratio) <= GUARD_LEVEL)
    }
}

/// Variances of several comparisons, as a multiple of an F distribution: how Smyth's model says that they scatter.
#[derive(Debug, Clone, Copy)]
struct FittedF {
    /// Logarithm of the variance that the comparisons have in common.
    log_scale: f64,
    /// Degrees of freedom of that variance. They are no more than all other comparisons have together.
    df: f64,
}

impl FittedF {
    /// By mean and variance of the log-variances.
    fn of_moments(groups: &[(f64, f64)]) -> Result<Self, StatsError> {
        let centred = |(sd, df): &(f64, f64)| 2.0 * sd.ln() - digamma(df / 2.0) + (df / 2.0).ln();
        let logs: Vec<f64> = groups.iter().map(centred).collect();
        let by_chance: Vec<f64> = groups.iter().map(|(_, df)| trigamma(df / 2.0)).collect();
        let between = spread(&logs)?.powi(2) - mean(&by_chance)?;
        let most = most_df(groups);
        let df = if between <= 0.0 { most } else { (2.0 * inverse_trigamma(between)).min(most) };
        Ok(Self { log_scale: mean(&logs)? + digamma(df / 2.0) - (df / 2.0).ln(), df })
    }

    /// By the same moments of winsorized log-variances, so that a few wild comparisons do not hide that the others are alike.
    fn robust(groups: &[(f64, f64)]) -> Result<Self, StatsError> {
        let all = Self::of_moments(groups)?;
        let own = groups.iter().map(|(_, df)| *df).fold(0.0, f64::max);
        let logs: Vec<f64> = groups.iter().map(|group| all.as_if_of(group, own)).collect();
        let (low, high) = (quantile(&logs, TAILS.0)?, quantile(&logs, 1.0 - TAILS.1)?);
        let winsorized: Vec<f64> = logs.iter().map(|log| log.clamp(low, high)).collect();
        let variance = spread(&winsorized)?.powi(2);
        let excess = |df: f64| winsorized_log_f(own, df).1 - variance;
        let (least, most) = (all.df, most_df(groups));
        // The expected variance falls as the comparisons become alike.
        let df = if excess(least) <= 0.0 {
            least
        } else if excess(most) >= 0.0 {
            most
        } else {
            last_where((least.ln(), most.ln()), |log| excess(log.exp()) > 0.0).exp()
        };
        Ok(Self { log_scale: mean(&winsorized)? - winsorized_log_f(own, df).0, df })
    }

    /// The log-variance of a comparison as if it had `own` degrees of freedom: that of the same probability.
    fn as_if_of(&self, (sd, df): &(f64, f64), own: f64) -> f64 {
        let log = 2.0 * sd.ln();
        let pair =
            (FisherSnedecor::new(*df, self.df), FisherSnedecor::new(own, self.df), FisherSnedecor::new(self.df, own));
        let (true, (Ok(f), Ok(of_own), Ok(mirrored))) = (*df < own, pair) else { return log };
        let ratio = (log - self.log_scale).exp();
        // By the nearer tail, which is exact where the other one is 1 to all digits.
        let same = if f.sf(ratio) < f.cdf(ratio) {
            mirrored.inverse_cdf(f.sf(ratio)).recip()
        } else {
            of_own.inverse_cdf(f.cdf(ratio))
        };
        if same > 0.0 && same.is_finite() { self.log_scale + same.ln() } else { log }
    }
}

/// The degrees of freedom that a prior has at most: those of all comparisons but one.
fn most_df(groups: &[(f64, f64)]) -> f64 {
    let all: f64 = groups.iter().map(|(_, df)| df).sum();
    all * (1.0 - 1.0 / groups.len() as f64)
}

/// Mean and variance of the logarithm of an F distribution whose tails are drawn in to the quantiles of [`TAILS`].
fn winsorized_log_f(df: f64, prior_df: f64) -> (f64, f64) {
    let Ok(f) = FisherSnedecor::new(df, prior_df) else { return (0.0, 0.0) };
    let (low, high) = (f.inverse_cdf(TAILS.0).ln(), f.inverse_cdf(1.0 - TAILS.1).ln());
    let (half, whole) = (df / 2.0, (df + prior_df) / 2.0);
    let scale = half * (df / prior_df).ln() - ln_beta(half, prior_df / 2.0);
    let density = |z: f64| (scale + half * z - whole * (df / prior_df * z.exp()).ln_1p()).exp();
    let middle = f64::midpoint(low, high);
    let over = |function: &dyn Fn(f64) -> f64| {
        let inside = integral((low, middle), |z| density(z) * function(z))
            + integral((middle, high), |z| density(z) * function(z));
        inside + TAILS.0 * function(low) + TAILS.1 * function(high)
    };
    let mean = over(&|z| z);
    (mean, over(&|z| (z - mean).powi(2)))
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
    last_where((1e-6_f64.ln(), 1e6_f64.ln()), |log| trigamma(log.exp()) > value).exp()
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
        // F(.95; 3, 6) = 4.757.
        let prior = VariancePrior { sd: 1.0, df: 6.0 };
        assert!(prior.agrees_with(4.75_f64.sqrt(), 4) && !prior.agrees_with(4.77_f64.sqrt(), 4));
    }

    /// Twelve variances, the last of them wild.
    const VARIANCES: [f64; 12] =
        [0.00021, 0.00105, 0.00047, 0.0031, 0.00016, 0.00088, 0.0024, 0.00039, 0.00007, 0.0013, 0.00062, 0.09];

    #[test]
    fn fits_agree_with_limma() {
        // limma 3.54.1 on R 4.2.2: fitFDist and fitFDistRobustly of these variances: df2 and scale of each.
        let unequal = [2.0, 2.0, 2.0, 2.0, 1.0, 2.0, 2.0, 4.0, 2.0, 2.0, 2.0, 2.0];
        let close = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs() < 1e-5;
        for (dfs, plain, robust) in [
            ([2.0; 12], (1.959_700_37, 0.000_868_156_896_5), (19.200_943_28, 0.001_145_961_57)),
            ([4.0; 12], (1.445_278_182, 0.000_501_399_640_5), (2.450_539_527, 0.000_602_177_868_1)),
            (unequal, (2.252_905_691, 0.000_976_050_703_3), (6.185_361_574, 0.001_068_809_03)),
        ] {
            let groups: Vec<(f64, f64)> = VARIANCES.iter().map(|v| v.sqrt()).zip(dfs).collect();
            let fits = [FittedF::of_moments(&groups).unwrap(), FittedF::robust(&groups).unwrap()];
            // limma takes the 10 % trimmed mean off before it winsorizes, and so moves nothing.
            for (fit, (df, scale)) in fits.iter().zip([plain, robust]) {
                assert!(close(fit.df, df) && close(fit.log_scale.exp(), scale), "{fit:?}, limma {df} {scale}");
            }
        }
    }

    #[test]
    fn the_prior_lies_one_standard_error_above_its_fit() {
        let groups: Vec<(f64, f64)> = VARIANCES.iter().map(|v| (v.sqrt(), 2.0)).collect();
        let prior = VariancePrior::fit(&groups).unwrap().unwrap();
        let error = ((trigamma(1.0) + trigamma(prior.df / 2.0)) / 12.0).sqrt();
        assert!((prior.sd.powi(2) / 0.001_145_961_57 / error.exp() - 1.0).abs() < 1e-5, "{prior:?}");
    }

    #[test]
    fn comparisons_that_are_alike_count_no_more_than_they_are_and_few_or_unlike_ones_give_no_prior() {
        let alike: Vec<(f64, f64)> = (0..10).map(|i| (0.02 + f64::from(i) * 1e-4, 5.0)).collect();
        let prior = VariancePrior::fit(&alike).unwrap().unwrap();
        assert!((prior.df - 45.0).abs() < 1e-9, "{prior:?}");
        assert_eq!(VariancePrior::fit(&alike[1..]).unwrap(), None);
        let unlike: Vec<(f64, f64)> = (0..20).map(|i| (10f64.powi(i - 10), 5.0)).collect();
        assert_eq!(VariancePrior::fit(&unlike).unwrap(), None);
        assert!(VariancePrior::fit(&[(0.0, 3.0)]).is_err() && VariancePrior::fit(&[(f64::NAN, 3.0)]).is_err());
    }
}
