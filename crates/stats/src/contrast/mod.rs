//! The difference of two means: of two independent samples (Welch), or of pairs. The caller knows what was sampled.

mod random_effects;

pub use random_effects::{RandomEffects, equality_p_value};

use crate::error::{StatsError, require, require_finite};
use crate::interval::{Interval, student_t_half_width, student_t_p_value, student_t_quantile};
use crate::moderated::VariancePrior;
use crate::quantile::{mean, sd};

/// An estimated mean, such as of the differences of pairs, or the difference of two means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleMean {
    pub mean: f64,
    /// Variance of the mean: the square of its standard error.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub df: f64,
}

impl SampleMean {
    /// The mean of `values`, whose standard deviation is taken to be at least `sd_floor`. Errors: there are fewer than
    /// two values, or one is not finite.
    pub fn of_values(values: &[f64], sd_floor: f64) -> Result<Self, StatsError> {
        require("the error of a mean", 2, values)?;
        let n = values.len() as f64;
        let sd = sd(values)?.max(sd_floor);
        Ok(Self { mean: mean(values)?, variance: sd * sd / n, df: n - 1.0 })
    }

    /// The mean of `forks` forks that scatter by `sd`, or by what the prior makes of it.
    pub fn of_forks(mean: f64, sd: f64, forks: u32, prior: Option<VariancePrior>) -> Self {
        let (sd, more_df) = prior.map_or((sd, 0.0), |prior| (prior.moderate(sd, forks), prior.df));
        Self { mean, variance: sd * sd / f64::from(forks), df: f64::from(forks) - 1.0 + more_df }
    }

    /// The mean whose Student's 1 − `alpha` interval over `count` values is known. Errors: `count` is below 2, `alpha`
    /// is outside (0, 1), or the interval is not finite.
    pub fn of_interval(interval: &Interval, count: usize, alpha: f64) -> Result<Self, StatsError> {
        require_finite(&[interval.lo, interval.estimate, interval.hi])?;
        let unit = student_t_half_width(count, 1.0, alpha)?;
        let sd = interval.half_width() / unit;
        Ok(Self { mean: interval.estimate, variance: sd * sd / count as f64, df: count as f64 - 1.0 })
    }

    /// This mean minus that of an independent sample. Source: Welch, Biometrika 34 (1947); degrees of freedom after
    /// Satterthwaite, Biometrics Bulletin 2 (1946).
    pub fn minus(&self, before: &Self) -> Self {
        let variance = before.variance + self.variance;
        let spread = before.variance.powi(2) / before.df + self.variance.powi(2) / self.df;
        let df = if spread > 0.0 { variance.powi(2) / spread } else { before.df + self.df };
        Self { mean: self.mean - before.mean, variance, df }
    }

    /// Its Student's 1 − `alpha` interval. Errors: `alpha` is outside (0, 1).
    pub fn interval(&self, alpha: f64) -> Result<Interval, StatsError> {
        let quantile = student_t_quantile(1.0 - alpha / 2.0, self.df)?;
        Ok(Interval::around(self.mean, quantile * self.variance.sqrt()))
    }

    /// The probability of an estimate at least this far from 0 if there is no difference (two-sided).
    pub fn p_value(&self) -> f64 {
        student_t_p_value(self.mean / self.variance.sqrt(), self.df)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's sleep data (1908), as in R's `sleep`.
    const DRUG_1: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const DRUG_2: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    fn independent(before: &[f64], after: &[f64], sd_floor: f64) -> SampleMean {
        let [before, after] = [before, after].map(|values| SampleMean::of_values(values, sd_floor).unwrap());
        after.minus(&before)
    }

    #[test]
    fn welchs_interval_agrees_with_r() {
        // t.test(extra ~ group, data = sleep): df = 17.776, p = 0.07939, interval −3.3654832 to 0.2054832 for drug 1 − drug 2.
        let contrast = independent(&DRUG_1, &DRUG_2, 0.0);
        let interval = contrast.interval(0.05).unwrap();
        assert!((interval.lo + 0.205_483_2).abs() < 1e-6 && (interval.hi - 3.365_483_2).abs() < 1e-6, "{interval:?}");
        assert!((contrast.df - 17.776).abs() < 5e-4 && (contrast.p_value() - 0.079_39).abs() < 5e-6, "{contrast:?}");
    }

    #[test]
    fn pairs_agree_with_r() {
        // t.test(extra ~ group, data = sleep, paired = TRUE): p = 0.002833, interval −2.4598858 to −0.7001142.
        let differences: Vec<f64> = DRUG_1.iter().zip(DRUG_2).map(|(one, two)| two - one).collect();
        let contrast = SampleMean::of_values(&differences, 0.0).unwrap();
        let interval = contrast.interval(0.05).unwrap();
        assert!((interval.lo - 0.700_114_2).abs() < 1e-6 && (interval.hi - 2.459_885_8).abs() < 1e-6, "{interval:?}");
        assert!((contrast.p_value() - 0.002_833).abs() < 5e-7);
    }

    #[test]
    fn samples_that_agree_by_chance_get_the_floor_as_deviation() {
        let contrast = independent(&[1.0, 1.0, 1.0], &[1.01, 1.01, 1.01], 0.01);
        // Both variances are 0.01² / 3, and df = 4.
        assert!((contrast.variance.sqrt() - (2.0f64 / 3.0).sqrt() * 0.01).abs() < 1e-12);
        assert!((contrast.df - 4.0).abs() < 1e-9);
        let exact = independent(&[1.0, 1.0], &[2.0, 2.0], 0.0);
        assert_eq!((exact.p_value(), exact.interval(0.05).unwrap().half_width()), (0.0, 0.0));
    }

    #[test]
    fn too_few_values_are_refused() {
        assert!(SampleMean::of_values(&[1.0], 0.0).is_err());
        assert!(SampleMean::of_values(&[1.0, f64::NAN], 0.0).is_err());
    }

    #[test]
    fn a_mean_is_the_same_from_its_interval() {
        let interval = Interval::of_mean(&DRUG_1, 0.05).unwrap();
        let (told, known) = (SampleMean::of_interval(&interval, 10, 0.05), SampleMean::of_values(&DRUG_1, 0.0));
        assert!((told.unwrap().variance - known.unwrap().variance).abs() < 1e-12);
        assert!(SampleMean::of_interval(&Interval::around(1.0, f64::INFINITY), 10, 0.05).is_err());
    }
}
