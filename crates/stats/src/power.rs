//! Planning: the difference that a number of forks detects, and the behaviour that it can miss. Forecasts, never
//! verdicts.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;

use crate::error::{StatsError, require_alpha};
use crate::method::Method;
use crate::repeated::{integral, last_where};

/// The power that plans assume: the probability to detect an effect.
pub const DEFAULT_POWER: f64 = 0.8;

/// The smallest log-ratio that is detected with probability `power`: the interval after `forks` forks, which scatter by
/// `sd`, then excludes 0. Looks before the last detect it slightly more often. Errors: `sd` is negative or not finite,
/// `power` is outside (0, 1), there are fewer than two forks, or the method gives them no interval.
pub fn detectable_difference(sd: f64, method: Method, forks: u32, power: f64) -> Result<f64, StatsError> {
    require_alpha(power)?;
    if !(sd.is_finite() && sd >= 0.0) {
        return Err(StatsError::BadParameter { name: "sd", value: sd, expected: "0 or more" });
    }
    if !method.half_width(forks, sd)?.is_finite() {
        return Err(StatsError::TooFew {
            what: "a detectable difference",
            needed: forks as usize + 1,
            got: forks as usize,
        });
    }
    if sd == 0.0 {
        return Ok(0.0);
    }
    // In standard deviations, as if they were 1. The half-width is not proportional to the spread where there is a
    // prior.
    let half_width = |s: f64| method.half_width(forks, s * sd).map_or(f64::INFINITY, |half_width| half_width / sd);
    let sees = |effect: f64| chance_to_exclude_zero(effect, half_width, forks) >= power;
    let unreachable =
        StatsError::BadParameter { name: "power", value: power, expected: "one that some difference reaches" };
    let seen = (0..64).map(|doublings| 2f64.powi(doublings)).find(|high| sees(*high)).ok_or(unreachable)?;
    Ok(last_where((0.0, seen), |effect| !sees(effect)) * sd)
}

/// The chance that the mean of `forks` normal values about `effect` (in standard deviations) lies further from 0 than
/// the half-width that their spread gives: the noncentral t distribution, by integrating over that spread.
fn chance_to_exclude_zero(effect: f64, half_width: impl Fn(f64) -> f64, forks: u32) -> f64 {
    let (n, df) = (f64::from(forks), f64::from(forks) - 1.0);
    let normal = Normal::standard();
    // The density of s where df s² has the χ² distribution.
    let scale = (df / 2.0).ln() * (df / 2.0) - ln_gamma(df / 2.0) + 2f64.ln();
    let density = |s: f64| (scale + (df - 1.0) * s.ln() - df * s * s / 2.0).exp();
    let reach = (1.0 - 7.0 / df.sqrt()).max(0.0)..(1.0 + 7.0 / df.sqrt());
    let outside = |s: f64| {
        let limit = half_width(s);
        normal.sf((limit - effect) * n.sqrt()) + normal.cdf((-limit - effect) * n.sqrt())
    };
    let middle = f64::midpoint(reach.start, reach.end);
    let part = |from, to| integral((from, to), |s: f64| density(s) * outside(s));
    part(reach.start, middle) + part(middle, reach.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::MethodKind;

    #[test]
    fn detectable_differences_agree_with_published_sample_sizes() {
        // Two-sided one-sample t test, α 0.05, power 0.8 (G*Power 3): d 1 → 10, 0.8 → 15, 0.5 → 34, 0.2 → 199: the
        // first n that sees d, so that n − 1 does not.
        for (d, n) in [(1.0, 10), (0.8, 15), (0.5, 34), (0.2, 199)] {
            let sees = |forks| detectable_difference(1.0, Method::FIXED_FORKS, forks, 0.8).unwrap();
            assert!(sees(n) <= d && d < sees(n - 1), "d {d}: {} with {n}, {} with one less", sees(n), sees(n - 1));
        }
    }

    #[test]
    fn without_an_effect_the_chance_is_alpha() {
        let factor = Method::FIXED_FORKS.half_width(4, 1.0).unwrap();
        assert!((chance_to_exclude_zero(0.0, |s| factor * s, 4) - 0.05).abs() < 1e-6);
    }

    #[test]
    fn a_prior_makes_smaller_differences_detectable() {
        let plain = Method {
            alpha: 0.05,
            kind: MethodKind::Repeated { min_forks: 3, max_forks: 4, may_continue: false },
            prior: None,
        };
        let with = |sd| plain.with_prior(Some(crate::VariancePrior { sd, df: 6.0 }));
        let sees = |method| detectable_difference(0.03, method, 4, 0.8).unwrap();
        assert!(sees(with(0.03)) < 0.8 * sees(plain), "{} {}", sees(with(0.03)), sees(plain));
        // A prior of far smaller forks is dropped in nearly every run.
        assert!((sees(with(0.0003)) / sees(plain) - 1.0).abs() < 0.02);
        assert_eq!(detectable_difference(0.0, plain, 4, 0.8).unwrap(), 0.0);
    }

    #[test]
    fn what_cannot_be_planned_is_refused() {
        assert!(detectable_difference(0.02, Method::SEQUENTIAL, 2, 0.8).is_err());
        assert!(detectable_difference(f64::NAN, Method::FIXED_FORKS, 5, 0.8).is_err());
        assert!(detectable_difference(0.02, Method::FIXED_FORKS, 5, 1.0).is_err());
    }
}
