//! Tests whether gaps are exponential, like those of a Poisson process. The test of Anderson and Darling weights the
//! tails: it finds gaps that are never short (ticks, timer slack), and missing long ones.

use crate::error::{StatsError, require};
use crate::quantile::mean;

/// The fewest gaps for which the critical values hold.
const FEWEST: usize = 20;

/// The mean of the exponential distribution that is tested for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ExpectedMean {
    /// Known beforehand, as when the offered rate is: distribution and rate are tested together.
    Known(f64),
    /// Taken from the gaps themselves: only the shape is tested.
    Estimated,
}

/// The outcome of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExponentialFit {
    /// Anderson and Darling's A². With an estimated mean it is multiplied by 1 + 0.6/n, so that one table serves every
    /// n.
    pub a_squared: f64,
    /// How many gaps there were.
    pub n: usize,
    mean: ExpectedMean,
}

/// The probability of rejecting gaps that are exponential after all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// One in ten.
    TenPercent,
    /// One in twenty.
    FivePercent,
    /// One in forty.
    TwoAndAHalfPercent,
    /// One in a hundred.
    OnePercent,
}

impl ExponentialFit {
    /// Compares gaps with the exponential distribution of that mean.
    ///
    /// # Errors
    /// There are fewer than 20 gaps, one is negative or not finite, or the mean is not above 0.
    ///
    /// # Source
    /// Anderson & Darling, JASA 49 (1954) 765–769; for the estimated mean, Stephens, JASA 69 (1974) 730–737.
    pub fn from_gaps(gaps: &[f64], mean: ExpectedMean) -> Result<Self, StatsError> {
        require("the test for exponential gaps", FEWEST, gaps)?;
        if let Some(value) = gaps.iter().copied().find(|gap| *gap < 0.0) {
            return Err(StatsError::BadParameter { name: "a gap", value, expected: "0 or above" });
        }
        let by = mean_of(gaps, mean)?;
        let mut scaled: Vec<f64> = gaps.iter().map(|gap| gap / by).collect();
        scaled.sort_by(f64::total_cmp);
        let n = scaled.len();
        // Of a gap x means, the share 1 − e⁻ˣ of all is shorter and e⁻ˣ is longer; the logarithm of the latter is −x.
        let shorter_ln = |x: f64| (-(-x).exp_m1()).max(f64::MIN_POSITIVE).ln();
        let term = |index: usize| (2 * index + 1) as f64 * (shorter_ln(scaled[index]) - scaled[n - 1 - index]);
        let plain = -(n as f64) - (0..n).map(term).sum::<f64>() / n as f64;
        let factor = if mean == ExpectedMean::Estimated { 1.0 + 0.6 / n as f64 } else { 1.0 };
        Ok(Self { a_squared: plain * factor, n, mean })
    }

    /// What [`ExponentialFit::a_squared`] exceeds with that probability if the gaps are exponential.
    ///
    /// # Source
    /// Stephens, "EDF statistics for goodness of fit and some comparisons", JASA 69 (1974), table 1: everything known,
    /// and the exponential distribution with estimated scale. `tests/exponential.rs` finds them again by simulation.
    pub const fn critical(&self, level: Level) -> f64 {
        match (self.mean, level) {
            (ExpectedMean::Known(_), Level::TenPercent) => 1.933,
            (ExpectedMean::Known(_), Level::FivePercent) => 2.492,
            (ExpectedMean::Known(_), Level::TwoAndAHalfPercent) => 3.070,
            (ExpectedMean::Known(_), Level::OnePercent) => 3.857,
            (ExpectedMean::Estimated, Level::TenPercent) => 1.078,
            (ExpectedMean::Estimated, Level::FivePercent) => 1.341,
            (ExpectedMean::Estimated, Level::TwoAndAHalfPercent) => 1.606,
            (ExpectedMean::Estimated, Level::OnePercent) => 1.957,
        }
    }

    /// Whether the gaps are too far from exponential.
    pub fn is_rejected_at(&self, level: Level) -> bool {
        self.a_squared > self.critical(level)
    }
}

fn mean_of(gaps: &[f64], expected: ExpectedMean) -> Result<f64, StatsError> {
    let value = match expected {
        ExpectedMean::Known(value) => value,
        ExpectedMean::Estimated => mean(gaps)?,
    };
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(StatsError::BadParameter { name: "the mean gap", value, expected: "above 0" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statistic_is_the_integral_that_defines_it() {
        let shares: Vec<f64> = (1..=20).map(|nth| f64::from(nth * nth) / 401.0).collect();
        let gaps: Vec<f64> = shares.iter().map(|share| -(1.0 - share).ln()).collect();
        let fit = ExponentialFit::from_gaps(&gaps, ExpectedMean::Known(1.0)).unwrap();
        let expected = by_integration(&shares);
        assert!((fit.a_squared - expected).abs() < 1e-3, "{} for {expected}", fit.a_squared);
    }

    /// n ∫ (Fₙ(u) − u)² / (u (1 − u)) du over (0, 1), the definition of A², by the midpoint rule.
    fn by_integration(shares: &[f64]) -> f64 {
        let (n, steps) = (shares.len() as f64, 2_000_000);
        let at = |step: usize| {
            let u = (step as f64 + 0.5) / steps as f64;
            let below = shares.iter().filter(|share| **share <= u).count() as f64 / n;
            (below - u).powi(2) / (u * (1.0 - u))
        };
        n * (0..steps).map(at).sum::<f64>() / steps as f64
    }

    #[test]
    fn gaps_that_cannot_be_are_refused() {
        let of = |gaps: &[f64], mean| ExponentialFit::from_gaps(gaps, mean);
        assert!(matches!(of(&[1.0; 19], ExpectedMean::Estimated), Err(StatsError::TooFew { .. })));
        assert!(matches!(of(&[f64::NAN; 20], ExpectedMean::Estimated), Err(StatsError::NotFinite { .. })));
        assert!(matches!(of(&[-1.0; 20], ExpectedMean::Known(1.0)), Err(StatsError::BadParameter { .. })));
        assert!(matches!(of(&[1.0; 20], ExpectedMean::Known(0.0)), Err(StatsError::BadParameter { .. })));
        assert!(matches!(of(&[0.0; 20], ExpectedMean::Estimated), Err(StatsError::BadParameter { .. })));
    }

    #[test]
    fn gaps_of_zero_are_too_many_when_there_are_many() {
        let gaps: Vec<f64> = (0..100).map(|nth| if nth % 2 == 0 { 0.0 } else { 2.0 }).collect();
        let fit = ExponentialFit::from_gaps(&gaps, ExpectedMean::Known(1.0)).unwrap();
        assert!(fit.a_squared.is_finite() && fit.is_rejected_at(Level::OnePercent));
    }
}
