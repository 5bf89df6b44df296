//! Tests whether gaps are exponential, like those of a Poisson process. The test of Anderson and Darling weights the
//! tails: it finds gaps that are never short (ticks, timer slack), and missing long ones. No run has gaps to judge: the
//! truth bench uses it, and so do the tests of schedules in `tare-load`.

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
    mean: ExpectedMean,
}

impl ExponentialFit {
    /// Compares at least 20 gaps with the exponential distribution of that mean.
    ///
    /// # Source
    /// Anderson & Darling, JASA 49 (1954) 765–769; for the estimated mean, Stephens, JASA 69 (1974) 730–737.
    pub fn from_gaps(gaps: &[f64], mean: ExpectedMean) -> Self {
        assert!(gaps.len() >= FEWEST && gaps.iter().all(|gap| *gap >= 0.0), "{} gaps cannot be judged", gaps.len());
        let by = match mean {
            ExpectedMean::Known(mean) => mean,
            ExpectedMean::Estimated => gaps.iter().sum::<f64>() / gaps.len() as f64,
        };
        let mut scaled: Vec<f64> = gaps.iter().map(|gap| gap / by).collect();
        scaled.sort_by(f64::total_cmp);
        let n = scaled.len();
        // Of a gap x means, the share 1 − e⁻ˣ of all is shorter and e⁻ˣ is longer; the logarithm of the latter is −x.
        let shorter_ln = |x: f64| (-(-x).exp_m1()).max(f64::MIN_POSITIVE).ln();
        let term = |index: usize| (2 * index + 1) as f64 * (shorter_ln(scaled[index]) - scaled[n - 1 - index]);
        let plain = -(n as f64) - (0..n).map(term).sum::<f64>() / n as f64;
        let factor = if mean == ExpectedMean::Estimated { 1.0 + 0.6 / n as f64 } else { 1.0 };
        Self { a_squared: plain * factor, mean }
    }

    /// What [`ExponentialFit::a_squared`] exceeds in one of a hundred cases if the gaps are exponential.
    ///
    /// # Source
    /// Stephens, "EDF statistics for goodness of fit and some comparisons", JASA 69 (1974), table 1: everything known,
    /// and the exponential distribution with estimated scale. The tests below find them again by simulation.
    pub const fn critical(&self) -> f64 {
        match self.mean {
            ExpectedMean::Known(_) => 3.857,
            ExpectedMean::Estimated => 1.957,
        }
    }

    /// Whether the gaps are too far from exponential.
    pub fn is_rejected(&self) -> bool {
        self.a_squared > self.critical()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    fn exponential(rng: &mut Pcg64Mcg, mean: f64) -> f64 {
        -mean * (1.0 - rng.random::<f64>()).ln()
    }

    #[test]
    fn true_gaps_are_rejected_in_one_of_a_hundred_cases() {
        const REPETITIONS: usize = 4_000;
        for mean in [ExpectedMean::Known(3.0), ExpectedMean::Estimated] {
            let mut rng = Pcg64Mcg::seed_from_u64(1974);
            let mut fit = || {
                let gaps: Vec<f64> = (0..200).map(|_| exponential(&mut rng, 3.0)).collect();
                ExponentialFit::from_gaps(&gaps, mean)
            };
            let rejected = (0..REPETITIONS).filter(|_| fit().is_rejected()).count() as f64;
            let expected = 0.01 * REPETITIONS as f64;
            // Four standard errors of such a count.
            let tolerance = 4.0 * (expected * 0.99).sqrt();
            assert!((rejected - expected).abs() < tolerance, "{mean:?}: {rejected} for {expected}");
        }
    }

    /// The gaps between starts, which are sorted first.
    fn gaps_of(mut starts: Vec<f64>) -> Vec<f64> {
        starts.sort_by(f64::total_cmp);
        starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn schedules_that_only_look_random_are_rejected() {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let poisson: Vec<f64> = (0..2000)
            .scan(0.0, |at, _| {
                *at += exponential(&mut rng, 1.0);
                Some(*at)
            })
            .collect();
        let quantised = |tick: f64| gaps_of(poisson.iter().map(|start| (start / tick).ceil() * tick).collect());
        let jittered = gaps_of((0..2000).map(|nth| f64::from(nth) + rng.random::<f64>()).collect());
        let with_a_dead_time =
            gaps_of(poisson.iter().enumerate().map(|(nth, start)| start + 0.1 * nth as f64).collect());
        for (what, gaps) in [
            ("a regular schedule with uniform jitter", jittered),
            ("sends on the ticks of a clock", quantised(0.5)),
            ("a sender that needs a while for each", with_a_dead_time),
            ("equal distances", vec![1.0; 2000]),
        ] {
            let shape = ExponentialFit::from_gaps(&gaps, ExpectedMean::Estimated);
            assert!(shape.is_rejected(), "{what}: A² = {:.2}", shape.a_squared);
        }
        // The right shape at the wrong rate: nine standard errors of the mean away, so that no draw of the seed hides it.
        let slow: Vec<f64> = (0..2000).map(|_| exponential(&mut rng, 1.2)).collect();
        assert!(!ExponentialFit::from_gaps(&slow, ExpectedMean::Estimated).is_rejected());
        assert!(ExponentialFit::from_gaps(&slow, ExpectedMean::Known(1.0)).is_rejected());
    }
}
