//! Intervals of a mean: Student's t for a sample size fixed beforehand, with the noise floor of a control, and the t
//! confidence sequence with its e-value for looks after every fork. `compare` decides what the mean is of, and
//! `verdict` what follows from it.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::error::{StatsError, require, require_alpha};
use crate::quantile::{mean, sd};

/// An estimate with the bounds of its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub estimate: f64,
    pub lo: f64,
    pub hi: f64,
}

impl Interval {
    /// The interval that reaches `half_width` to both sides of `estimate`.
    pub fn around(estimate: f64, half_width: f64) -> Self {
        Self { estimate, lo: estimate - half_width, hi: estimate + half_width }
    }

    /// Student's 1 − `alpha` interval of the mean of `values`, each from a fork of its own, whose number was fixed
    /// beforehand. Errors: there are fewer than two values, one is not finite, or `alpha` is outside (0, 1).
    pub fn of_mean(values: &[f64], alpha: f64) -> Result<Self, StatsError> {
        let half_width = student_t_half_width(values.len(), sd(values)?, alpha)?;
        Ok(Self::around(mean(values)?, half_width))
    }

    pub fn half_width(&self) -> f64 {
        (self.hi - self.lo) / 2.0
    }

    /// Both bounds; `None` where one is not finite.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        (self.lo.is_finite() && self.hi.is_finite()).then_some((self.lo, self.hi))
    }

    /// Whether `value` lies between the bounds, both included.
    pub fn contains(&self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// The interval of the ratio whose natural logarithm this is the interval of.
    pub fn exp(&self) -> Self {
        Self { estimate: self.estimate.exp(), lo: self.lo.exp(), hi: self.hi.exp() }
    }
}

/// A mean over forks with its interval, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    pub lo: Option<f64>,
    pub hi: Option<f64>,
}

impl Estimate {
    pub fn new(value: f64, bounds: Option<(f64, f64)>) -> Self {
        Self { value, lo: bounds.map(|(lo, _)| lo), hi: bounds.map(|(_, hi)| hi) }
    }

    /// The mean of any values with the interval of [`Interval::of_mean`]; without one where that is an error, as of a
    /// single value.
    pub fn of_any_mean(values: &[f64], alpha: f64) -> Self {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        Interval::of_mean(values, alpha).map_or(Self::new(mean, None), Self::from)
    }
}

/// Without bounds that are not finite.
impl From<Interval> for Estimate {
    fn from(interval: Interval) -> Self {
        Self::new(interval.estimate, interval.bounds())
    }
}

/// The quantile `p` of Student's t distribution with `df` degrees of freedom. Errors: `p` is outside (0, 1) or `df` is
/// not positive.
pub fn student_t_quantile(p: f64, df: f64) -> Result<f64, StatsError> {
    require_alpha(p)?;
    let distribution = StudentsT::new(0.0, 1.0, df).map_err(|_| StatsError::BadParameter {
        name: "degrees of freedom",
        value: df,
        expected: "above 0",
    })?;
    Ok(distribution.inverse_cdf(p))
}

/// The probability that Student's t with `df` degrees of freedom lies at least as far from 0 as `t` (two-sided). It is 1 where
/// `t` is no number or `df` is not positive.
pub fn student_t_p_value(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    let distribution = StudentsT::new(0.0, 1.0, df).ok().filter(|_| !t.is_nan());
    distribution.map_or(1.0, |distribution| 2.0 * distribution.sf(t.abs()))
}

/// Half-width of Student's two-sided 1 − `alpha` interval of the mean of `k` values with standard deviation `sd`. Valid
/// for a `k` fixed beforehand. To look after each value and stop at any time, use [`sequence_half_width`]. Errors: `k`
/// is below 2 or `alpha` is outside (0, 1).
pub fn student_t_half_width(k: usize, sd: f64, alpha: f64) -> Result<f64, StatsError> {
    require_alpha(alpha)?;
    require_two(k)?;
    Ok(student_t_quantile(1.0 - alpha / 2.0, (k - 1) as f64)? * sd / (k as f64).sqrt())
}

/// Half-width of the t confidence sequence at `k` values with standard deviation `sd`: the intervals of *all* k hold
/// together with probability 1 − `alpha`. So a run may look after every value and stop at any time. Infinite while `k`
/// is too small for any evidence to reach 1 / `alpha`. Errors: `k` is below 2 or `alpha` is outside (0, 1). Source:
/// Wang & Ramdas, arXiv 2310.03722, with a prior variance of 10 on the standardised effect (c = 1 + 10 k).
pub fn sequence_half_width(k: usize, sd: f64, alpha: f64) -> Result<f64, StatsError> {
    require_alpha(alpha)?;
    require_two(k)?;
    let n = k as f64;
    let c = growth(k);
    let q = (c.sqrt() / alpha).powf(2.0 / n);
    if q >= c {
        return Ok(f64::INFINITY);
    }
    Ok(sd * ((n - 1.0) * (q - 1.0) / (1.0 - q / c) / n).sqrt())
}

/// The evidence against "the mean is `null`" in `k` values of the given mean and standard deviation; 1 for one value.
/// It exceeds 1 / α at any number of values with probability at most α, whatever stops them (Ville's inequality), and
/// does so exactly when [`sequence_half_width`] excludes `null`. Its expectation is at most 1 at a stopping time that
/// sees ratios of the values alone. Source: Wang & Ramdas, arXiv 2310.03722; it is the Bayes factor of Gönen et al.
/// 2005 with prior variance 10.
pub fn e_value(k: usize, mean: f64, sd: f64, null: f64) -> f64 {
    if k < 2 {
        return 1.0;
    }
    let n = k as f64;
    let c = growth(k);
    let distance = (mean - null).abs();
    if distance == 0.0 {
        return 1.0 / c.sqrt();
    }
    let x = n * (distance / sd).powi(2) / (n - 1.0);
    // As x grows without limit the bracket tends to c; computing that limit avoids ∞ / ∞ when sd is 0.
    let bracket = if x.is_finite() { (1.0 + x) / (1.0 + x / c) } else { c };
    (bracket.ln() * n / 2.0 - c.ln() / 2.0).exp().min(f64::MAX)
}

/// The noise floor, which is the difference that a server shows against itself (A/A): as many forks do not tell smaller
/// ones from noise. It is the half-width that the interval of a comparison of `compared` forks would have with the
/// spread of an A/A control, as a share: 0.011 is ±1.1 %. `log_ratios` are those of the control's forks, of which there
/// may be fewer. Errors: there are fewer than three forks, one is not finite, or `alpha` is outside (0, 1).
pub fn noise_floor(log_ratios: &[f64], compared: u32, alpha: f64) -> Result<f64, StatsError> {
    require("a noise floor", 3, log_ratios)?;
    let half_width = Interval::of_mean(log_ratios, alpha)?.half_width();
    Ok(half_width * (log_ratios.len() as f64 / f64::from(compared.max(1))).sqrt())
}

/// The factor by which the mixture's prior widens the mean's variance after `k` values.
fn growth(k: usize) -> f64 {
    1.0 + 10.0 * k as f64
}

pub(crate) fn require_two(k: usize) -> Result<(), StatsError> {
    if k >= 2 { Ok(()) } else { Err(StatsError::TooFew { what: "an interval", needed: 2, got: k }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_agree_with_printed_tables() {
        for (p, df, table) in [
            (0.975, 1.0, 12.706),
            (0.975, 4.0, 2.776),
            (0.995, 4.0, 4.604),
            (0.975, 9.0, 2.262),
            (0.95, 9.0, 1.833),
            (0.995, 9.0, 3.250),
            (0.975, 30.0, 2.042),
            (0.995, 120.0, 2.617),
            (0.025, 9.0, -2.262),
        ] {
            let t = student_t_quantile(p, df).unwrap();
            assert!((t - table).abs() < 5.1e-4, "t({p}, {df}) = {t}, table {table}");
        }
    }

    #[test]
    fn student_interval_of_a_known_sample() {
        // Student's own sleep data (1908), drug 2 − drug 1; R's t.test gives 0.7001142 to 2.4598858.
        let hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let interval = Interval::of_mean(&hours, 0.05).unwrap();
        assert!((interval.lo - 0.700_114_2).abs() < 1e-6 && (interval.hi - 2.459_885_8).abs() < 1e-6, "{interval:?}");
        assert!((interval.estimate - 1.58).abs() < 1e-12);
        assert!(Interval::of_mean(&hours[..1], 0.05).is_err());
    }

    #[test]
    fn confidence_sequence_agrees_with_arithmetic_by_hand() {
        // K = 5, α = 0.01: c = 51, q = (√51 / 0.01)^0.4 = e^(0.4 · 6.571083) = 13.850, (4 · 12.850 / (1 − 0.271568) /
        // 5) = 14.1129.
        let half_width = sequence_half_width(5, 1.0, 0.01).unwrap();
        assert!((half_width - 14.113f64.sqrt()).abs() < 2e-3, "{half_width}");
    }

    #[test]
    fn two_forks_can_never_decide() {
        // K = 2: q = √21 / 0.01 = 458 exceeds c = 21.
        assert_eq!(sequence_half_width(2, 1.0, 0.01).unwrap(), f64::INFINITY);
        assert!(sequence_half_width(1, 1.0, 0.01).is_err());
    }

    #[test]
    fn evidence_agrees_with_arithmetic_by_hand() {
        // K = 2, mean 1, sd √2: x = 2 · (1/2) / 1 = 1, c = 21: (1/√21) · 2 / (22/21) = 42 / (22 √21).
        let expected = 42.0 / (22.0 * 21.0f64.sqrt());
        assert!((e_value(2, 1.0, 2.0f64.sqrt(), 0.0) - expected).abs() < 1e-12);
    }

    #[test]
    fn evidence_has_finite_limits() {
        assert_eq!(e_value(1, 5.0, 0.0, 0.0), 1.0);
        assert!((e_value(4, 0.0, 0.0, 0.0) - 1.0 / 41.0f64.sqrt()).abs() < 1e-12);
        // With no scatter at all the bracket is c, and the evidence c^((K − 1) / 2) = 41^1.5.
        assert!((e_value(4, 1.0, 0.0, 0.0) - 41.0f64.powf(1.5)).abs() < 1e-6);
        assert_eq!(e_value(2_000, 1.0, 1e-300, 0.0), f64::MAX);
    }

    #[test]
    fn the_floor_of_known_forks_agrees_with_arithmetic_by_hand() {
        // −0.01, 0, 0.01: sd 0.01, t(0.975, 2) = 4.3027, ± 0.024841.
        let floor = |compared| noise_floor(&[-0.01, 0.0, 0.01], compared, 0.05).unwrap();
        assert!((floor(3) - 0.024_841).abs() < 1e-5);
        // The same spread over the square root of 6, and not of 3.
        assert!((floor(6) - 0.017_565).abs() < 1e-5);
    }

    #[test]
    fn two_forks_have_no_noise_floor() {
        let of_two = noise_floor(&[0.01, 0.02], 2, 0.05);
        assert!(matches!(of_two, Err(StatsError::TooFew { needed: 3, .. })));
    }
}
