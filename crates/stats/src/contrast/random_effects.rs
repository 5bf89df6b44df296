//! Several machines, each with an estimate and its error: their mean, what one that was not measured may show, and whether they
//! differ at all. Several runs of one machine are combined in the same way.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::SampleMean;
use crate::error::{StatsError, require};
use crate::repeated::last_where;

/// What estimates have in common whose true values scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomEffects {
    /// The mean of all that the estimated ones are a choice of. One alone gives it no degree of freedom.
    pub mean: SampleMean,
    /// Another one, which was not estimated; `None` with fewer than three.
    pub another: Option<SampleMean>,
    /// Variance of the true values.
    pub between: f64,
    /// The mean as one estimate, whose error has as many degrees of freedom as its two parts give it (Satterthwaite 1946).
    pub pooled: SampleMean,
}

impl RandomEffects {
    /// # Source
    /// The variance between is that of Paule & Mandel, J. Res. NBS 87 (1982). Beside it the standard error of Hartung & Knapp
    /// (2001) and Sidik & Jonkman (2002) is the usual one: its factor √(Q / (k − 1)) is 1 by the definition of that variance, or
    /// less where the variance is 0, and is then taken as 1 (Röver, Knapp & Friede 2015). Another one: Higgins, Thompson &
    /// Spiegelhalter, JRSS A 172 (2009).
    pub fn of(estimates: &[SampleMean]) -> Result<Self, StatsError> {
        let values: Vec<f64> = estimates.iter().flat_map(|one| [one.mean, one.variance]).collect();
        require("a mean over machines", 1, &values)?;
        if let Some(SampleMean { variance: value, .. }) = estimates.iter().find(|one| one.variance <= 0.0) {
            return Err(StatsError::BadParameter { name: "a variance", value: *value, expected: "above 0" });
        }
        let k = estimates.len() as f64;
        let between = paule_mandel(estimates);
        let Weighted { mean, variance, .. } = Weighted::at(estimates, between);
        let estimate = |variance: f64, df: f64| SampleMean { mean, variance, df };
        let within = Weighted::at(estimates, 0.0).variance;
        let df_within: f64 = estimates.iter().map(|one| one.df).sum();
        let spread = (variance - within).powi(2) / (k - 1.0).max(1.0) + within.powi(2) / df_within;
        Ok(Self {
            mean: estimate(variance, k - 1.0),
            another: (k > 2.0).then(|| estimate(between + variance, k - 2.0)),
            between,
            pooled: estimate(variance, variance.powi(2) / spread),
        })
    }
}

/// The probability of estimates that differ at least as much as these if their true values are equal. Of two it is that
/// of Welch's t test. Source: Welch, Biometrika 38 (1951): the analysis of variance for groups of unequal variances.
pub fn equality_p_value(estimates: &[SampleMean]) -> Result<f64, StatsError> {
    require("a test for a difference", 2, &estimates.iter().map(|one| one.mean).collect::<Vec<f64>>())?;
    let k = estimates.len() as f64;
    let Weighted { variance, q, .. } = Weighted::at(estimates, 0.0);
    let doubt: f64 = estimates.iter().map(|one| (1.0 - variance / one.variance).powi(2) / one.df).sum();
    let f = q / (k - 1.0) / (1.0 + 2.0 * (k - 2.0) / (k * k - 1.0) * doubt);
    let df = (k * k - 1.0) / (3.0 * doubt);
    Ok(FisherSnedecor::new(k - 1.0, df).map_or(1.0, |distribution| distribution.sf(f)))
}

/// The weighted mean for a variance between the true values.
struct Weighted {
    mean: f64,
    variance: f64,
    /// The weighted squared deviations from the mean.
    q: f64,
}

impl Weighted {
    fn at(estimates: &[SampleMean], between: f64) -> Self {
        let weight = |one: &SampleMean| 1.0 / (one.variance + between);
        let total: f64 = estimates.iter().map(weight).sum();
        let mean = estimates.iter().map(|one| weight(one) * one.mean).sum::<f64>() / total;
        let q = estimates.iter().map(|one| weight(one) * (one.mean - mean).powi(2)).sum();
        Self { mean, variance: 1.0 / total, q }
    }
}

/// The variance with which the weighted squared deviations are what they are on average; 0 where they are smaller without any.
fn paule_mandel(estimates: &[SampleMean]) -> f64 {
    let expected = estimates.len() as f64 - 1.0;
    let is_below = |between: f64| Weighted::at(estimates, between).q > expected;
    if !is_below(0.0) {
        return 0.0;
    }
    // Deviations from a weighted mean are no larger than from the plain one, and no weight exceeds 1 / between.
    let plain = estimates.iter().map(|one| one.mean).sum::<f64>() / estimates.len() as f64;
    let most = estimates.iter().map(|one| (one.mean - plain).powi(2)).sum::<f64>() / expected;
    last_where((0.0, most), is_below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;

    fn estimate(mean: f64, variance: f64, df: f64) -> SampleMean {
        SampleMean { mean, variance, df }
    }

    /// Trials of the BCG vaccine (`dat.bcg` of R's metadat): cases and others of the vaccinated, cases and others of the controls.
    const BCG: [[f64; 4]; 13] = [
        [4.0, 119.0, 11.0, 128.0],
        [6.0, 300.0, 29.0, 274.0],
        [3.0, 228.0, 11.0, 209.0],
        [62.0, 13536.0, 248.0, 12619.0],
        [33.0, 5036.0, 47.0, 5761.0],
        [180.0, 1361.0, 372.0, 1079.0],
        [8.0, 2537.0, 10.0, 619.0],
        [505.0, 87886.0, 499.0, 87892.0],
        [29.0, 7470.0, 45.0, 7232.0],
        [17.0, 1699.0, 65.0, 1600.0],
        [186.0, 50448.0, 141.0, 27197.0],
        [5.0, 2493.0, 3.0, 2338.0],
        [27.0, 16886.0, 29.0, 17825.0],
    ];

    /// Logarithms of the relative risks, as `escalc(measure = "RR")` of metafor makes them.
    fn bcg() -> Vec<SampleMean> {
        let log_risk = |[cases, others, cases_c, others_c]: &[f64; 4]| {
            let (n, n_c) = (cases + others, cases_c + others_c);
            estimate((cases / n / (cases_c / n_c)).ln(), 1.0 / cases - 1.0 / n + 1.0 / cases_c - 1.0 / n_c, 1e6)
        };
        BCG.iter().map(log_risk).collect()
    }

    fn assert_near(got: f64, published: f64) {
        assert!((got - published).abs() < 5.1e-5, "{got}, published {published}");
    }

    #[test]
    fn the_bcg_trials_agree_with_metafor() {
        // metafor 3.8-1, rma(yi, vi, method = "PM", test = "knha"), and predict(…, pi.type = "Riley") by hand from it.
        let over = RandomEffects::of(&bcg()).unwrap();
        assert_near(over.between, 0.318_068);
        let SampleMean { mean, variance, .. } = over.mean;
        assert_near(mean, -0.714_968);
        assert_near(variance.sqrt(), 0.180_892);
        let Interval { lo, hi, .. } = over.mean.interval(0.05).unwrap();
        assert_near(lo, -1.109_098);
        assert_near(hi, -0.320_838);
        assert!((over.mean.p_value() / 0.001_919_272 - 1.0).abs() < 1e-4, "{}", over.mean.p_value());
        let Interval { lo, hi, .. } = over.another.unwrap().interval(0.05).unwrap();
        assert_near(lo, -2.018_559);
        assert_near(hi, 0.588_622);
    }

    #[test]
    fn the_mean_at_the_published_variance_of_reml_is_the_published_one() {
        // metafor's documentation: tau² 0.3132, estimate −0.7145, se 0.1798, Q 152.2330.
        let Weighted { mean, variance, .. } = Weighted::at(&bcg(), 0.3132);
        assert_near(mean, -0.7145);
        assert_near(variance.sqrt(), 0.1798);
        assert_near(Weighted::at(&bcg(), 0.0).q, 152.2330);
    }

    #[test]
    fn the_weighted_deviations_are_as_expected_at_the_variance_found() {
        let over = RandomEffects::of(&bcg()).unwrap();
        assert!((Weighted::at(&bcg(), over.between).q - 12.0).abs() < 1e-9);
    }

    #[test]
    fn machines_that_agree_have_no_variance_between_them() {
        let alike = [estimate(0.10, 0.0004, 4.0), estimate(0.11, 0.0004, 4.0), estimate(0.10, 0.0016, 4.0)];
        let over = RandomEffects::of(&alike).unwrap();
        assert_eq!(over.between, 0.0);
        // Weights 4 : 4 : 1, and a variance of 1 / (2500 + 2500 + 625).
        let error = (1.0f64 / 5625.0).sqrt();
        assert!((over.mean.mean - 0.94 / 9.0).abs() < 1e-12, "{over:?}");
        assert!((over.mean.variance.sqrt() - error).abs() < 1e-12, "{over:?}");
        let another = over.another.unwrap().interval(0.05).unwrap();
        assert!((another.half_width() - 12.7062 * error).abs() < 1e-5, "t with 1 degree: {another:?}");
    }

    #[test]
    fn two_machines_give_a_mean_and_nothing_for_a_third() {
        let two = RandomEffects::of(&[estimate(0.1, 0.0001, 4.0), estimate(0.3, 0.0001, 4.0)]).unwrap();
        // Their variance is 0.02, of which 0.0001 is error.
        assert!((two.between - 0.0199).abs() < 1e-12 && (two.mean.mean - 0.2).abs() < 1e-12, "{two:?}");
        assert!((two.mean.interval(0.05).unwrap().half_width() - 12.7062 * 0.1).abs() < 1e-5);
        assert_eq!(two.another, None);
        let one = RandomEffects::of(&[estimate(0.1, 0.0001, 4.0)]).unwrap();
        assert!(one.mean.interval(0.05).is_err() && one.mean.p_value() == 1.0);
        assert_eq!(one.pooled, estimate(0.1, 0.0001, 4.0));
        assert!(RandomEffects::of(&[]).is_err() && RandomEffects::of(&[estimate(0.1, 0.0, 4.0)]).is_err());
        assert!(RandomEffects::of(&[estimate(f64::NAN, 0.1, 4.0)]).is_err());
    }

    #[test]
    fn runs_that_disagree_leave_a_machine_few_degrees_of_freedom() {
        let agree = [estimate(0.1, 0.0001, 2.0), estimate(0.1, 0.0001, 2.0)];
        let pooled = RandomEffects::of(&agree).unwrap().pooled;
        assert!((pooled.variance - 0.000_05).abs() < 1e-12 && (pooled.df - 4.0).abs() < 1e-9, "{pooled:?}");
        let disagree = [estimate(0.1, 0.0001, 2.0), estimate(0.3, 0.0001, 2.0)];
        let pooled = RandomEffects::of(&disagree).unwrap().pooled;
        assert!((pooled.variance - 0.01).abs() < 1e-9 && (1.0..1.02).contains(&pooled.df), "{pooled:?}");
    }

    #[test]
    fn a_test_of_equality_agrees_with_r() {
        // oneway.test(weight ~ group, data = PlantGrowth): F = 5.181, denominator df = 17.128, p-value = 0.01739.
        let groups = [
            [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
            [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
            [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
        ];
        let means = groups.map(|group| SampleMean::of_values(&group, 0.0).unwrap());
        assert!((equality_p_value(&means).unwrap() - 0.017_39).abs() < 5e-6);
        // Of two groups it is Welch's t test.
        let welch = means[2].minus(&means[0]).p_value();
        assert!((equality_p_value(&[means[0], means[2]]).unwrap() - welch).abs() < 1e-9);
        assert!(equality_p_value(&means[..1]).is_err());
    }
}
