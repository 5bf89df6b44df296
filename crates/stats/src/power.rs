//! Planning: what a number of forks can see, and how many forks an effect needs. Forecasts, never verdicts.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::compare::Method;
use crate::error::{StatsError, require_alpha};

/// The chance to see an effect that plans assume unless told otherwise.
pub const DEFAULT_POWER: f64 = 0.8;

/// No plan goes beyond this many forks.
pub const MAX_PLANNED_FORKS: u32 = 10_000;

/// The share of starts below which a mode may exist that `forks` forks have missed, with 95 % confidence.
///
/// Ten forks can have missed a behaviour that shows in up to 26 % of the starts. With no fork it is 1: anything may exist.
///
/// # Source
/// (1 − p)^K = 0.05, solved for p.
pub fn rare_mode_share(forks: u32) -> f64 {
    if forks == 0 { 1.0 } else { 1.0 - 0.05f64.powf(1.0 / f64::from(forks)) }
}

/// The fewest forks with which the interval excludes "no difference" with probability `power`, for a true log-ratio of
/// `effect_log` and forks of standard deviation `sd`; `None` beyond [`MAX_PLANNED_FORKS`].
///
/// For [`Method::Sequential`] this is the plan's upper end: a run that may stop early often needs fewer.
///
/// # Errors
/// `effect_log` is zero or not finite, `sd` is negative or not finite, or `power` is outside (0, 1).
pub fn forks_for_effect(effect_log: f64, sd: f64, method: Method, power: f64) -> Result<Option<u32>, StatsError> {
    require_alpha(method.alpha())?;
    check("effect_log", effect_log, effect_log.is_finite() && effect_log != 0.0, "a finite number other than 0")?;
    check("sd", sd, sd.is_finite() && sd >= 0.0, "0 or more")?;
    check("power", power, power > 0.0 && power < 1.0, "between 0 and 1, both excluded")?;
    let z = Normal::standard().inverse_cdf(power);
    // The estimate stays within z · sd / √K of the truth, on the harmful side, with probability `power`.
    let sees = |k: &u32| {
        let slack = z * sd / f64::from(*k).sqrt();
        method.half_width(*k, sd).is_ok_and(|half_width| half_width + slack <= effect_log.abs())
    };
    Ok(first(method.min_forks(), MAX_PLANNED_FORKS, sees))
}

/// The first number of `from..=to` for which `holds`, given that it holds ever after: by bisection, as t quantiles are slow.
fn first(from: u32, to: u32, holds: impl Fn(&u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(&middle) { high = middle } else { low = middle + 1 }
    }
    holds(&low).then_some(low)
}

fn check(name: &'static str, value: f64, fits: bool, expected: &'static str) -> Result<(), StatsError> {
    if fits { Ok(()) } else { Err(StatsError::BadParameter { name, value, expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_modes_follow_the_rule() {
        // By hand: K = 1 → 95 %, 5 → 45.1 %, 10 → 25.9 %, 59 → 4.95 %.
        for (forks, share) in [(0, 1.0), (1, 0.95), (5, 0.4507), (10, 0.2589), (59, 0.0495)] {
            assert!((rare_mode_share(forks) - share).abs() < 1e-4, "{forks}");
        }
    }

    #[test]
    fn fixed_plans_agree_with_published_sample_sizes() {
        // Two-sided one-sample t test, α 0.05, power 0.8 (G*Power 3): d 1 → 10, 0.8 → 15, 0.5 → 34, 0.2 → 199.
        for (d, n) in [(1.0, 10), (0.8, 15), (0.5, 34), (0.2, 199)] {
            let got = forks_for_effect(d * 0.01, 0.01, Method::FIXED_FORKS, 0.8).unwrap();
            // Those use the noncentral t; the normal slack of a plan may differ from it by one fork.
            assert!(got.unwrap().abs_diff(n) <= 1, "d {d}: {got:?} for {n}");
        }
    }

    #[test]
    fn stopping_at_will_costs_more_than_a_fixed_plan_of_the_same_alpha() {
        let fixed = forks_for_effect(0.02, 0.02, Method::FixedForks { alpha: 0.01 }, 0.8).unwrap();
        let sequential = forks_for_effect(-0.02, 0.02, Method::SEQUENTIAL, 0.8).unwrap();
        assert!(fixed < sequential && sequential < Some(60), "{fixed:?} {sequential:?}");
    }

    #[test]
    fn an_effect_out_of_reach_is_said_to_be() {
        assert_eq!(forks_for_effect(1e-6, 0.05, Method::SEQUENTIAL, 0.8).unwrap(), None);
        assert!(forks_for_effect(0.0, 0.05, Method::SEQUENTIAL, 0.8).is_err());
        assert!(forks_for_effect(0.1, f64::NAN, Method::SEQUENTIAL, 0.8).is_err());
        assert!(forks_for_effect(0.1, 0.01, Method::SEQUENTIAL, 1.0).is_err());
    }
}
