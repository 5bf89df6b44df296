//! Limits on a ratio: what the place of an interval says, and how often a limit is judged wrongly.

use rand::SeedableRng;
use rand_pcg::Pcg64;
use tare_stats::measures::Measured;
use tare_stats::measures::limit::{LimitVerdict, forks_to_judge, judge_limit};
use tare_stats::{ForkRatio, Method, MethodKind, Polarity, UndecidedReason};

use crate::normal;

const ALPHA: f64 = 0.05;
const REPEATED: Method =
    Method { alpha: ALPHA, kind: MethodKind::Repeated { min_forks: 3, max_forks: 8, may_continue: true }, prior: None };

fn forks(ratios: &[f64]) -> Vec<ForkRatio> {
    ratios.iter().map(|ratio| ForkRatio::from_pairs(&[(*ratio, 1.0)]).expect("a positive ratio")).collect()
}

fn judge(ratios: &[f64], polarity: Polarity, limit: f64, limits: usize) -> Result<LimitVerdict, UndecidedReason> {
    let forks = forks(ratios);
    let measured = Measured { forks: &forks, polarity, method: REPEATED, sd_floor: 0.005 };
    judge_limit(&measured, limit, limits)
}

#[test]
fn the_place_of_the_interval_decides() {
    use LimitVerdict::{Held, Improved, Regressed};
    use Polarity::{HigherIsBetter, LowerIsBetter};
    for (ratios, polarity, limit, verdict) in [
        ([1.10, 1.11, 1.09, 1.10, 1.10, 1.10], LowerIsBetter, 1.03, Regressed),
        ([1.00, 1.01, 0.99, 1.00, 1.00, 1.00], LowerIsBetter, 1.03, Held),
        ([0.90, 0.91, 0.89, 0.90, 0.90, 0.90], LowerIsBetter, 1.03, Improved),
        ([0.90, 0.91, 0.89, 0.90, 0.90, 0.90], HigherIsBetter, 0.97, Regressed),
        ([1.10, 1.11, 1.09, 1.10, 1.10, 1.10], HigherIsBetter, 0.97, Improved),
        // A difference for certain, and within what is allowed.
        ([1.02, 1.02, 1.02, 1.02, 1.02, 1.02], LowerIsBetter, 1.05, Held),
        // An improvement is asked for, and there is none.
        ([1.00, 1.01, 0.99, 1.00, 1.00, 1.00], LowerIsBetter, 0.95, Regressed),
    ] {
        assert_eq!(judge(&ratios, polarity, limit, 1), Ok(verdict), "{ratios:?} against {limit}");
    }
}

#[test]
fn an_undecided_limit_has_a_reason_and_the_number_of_missing_forks() {
    let (polarity, limit) = (Polarity::LowerIsBetter, 1.03);
    let needed = |ratios: &[f64], limits| {
        let forks = forks(ratios);
        forks_to_judge(&Measured { forks: &forks, polarity, method: REPEATED, sd_floor: 0.005 }, limit, limits)
    };
    let few = Err(UndecidedReason::TooFewForks);
    assert_eq!((judge(&[1.10], polarity, limit, 1), needed(&[1.10], 1)), (few, None));
    assert_eq!((judge(&[1.10, 1.11], polarity, limit, 1), needed(&[1.10, 1.11], 1)), (few, Some(3)));
    assert_eq!(judge(&[1.02, 1.06, 0.99], polarity, limit, 1), Err(UndecidedReason::IntervalTooWide));
    // Two limits share the error that a single one has.
    let ratios = [1.05, 1.06, 1.04, 1.07, 1.05];
    assert_eq!(judge(&ratios, polarity, limit, 1), Ok(LimitVerdict::Regressed));
    assert_eq!(judge(&ratios, polarity, limit, 2), Err(UndecidedReason::TooManyComparisons));
    // Beyond the limit by itself, but not as one of a hundred limits.
    let ratios = [1.06, 1.05, 1.07, 1.06, 1.06];
    assert_eq!(judge(&ratios, polarity, limit, 1), Ok(LimitVerdict::Regressed));
    assert_eq!(judge(&ratios, polarity, limit, 100), Err(UndecidedReason::TooManyComparisons));
    assert!(needed(&ratios, 100).is_some_and(|forks| forks > 5));
}

#[test]
fn a_check_at_its_limits_fails_or_passes_wrongly_with_probability_alpha_at_most() {
    const RUNS: u32 = 1_000;
    let most = ALPHA * f64::from(RUNS);
    let mut random = Pcg64::seed_from_u64(17);
    for limits in 1..=3 {
        let (mut failed, mut passed) = (0, 0);
        for _ in 0..RUNS {
            match check_at_the_limits(limits, &mut random) {
                Some(true) => passed += 1,
                Some(false) => failed += 1,
                None => {}
            }
        }
        assert!(f64::from(failed) <= most, "{failed} of {RUNS} fail with {limits} limits");
        assert!(f64::from(passed) <= most, "{passed} of {RUNS} pass with {limits} limits");
    }
}

/// Whether a check passes whose builds all lie exactly at their limits; `None` if it ends undecided. It looks after each fork, and
/// ends when it fails, or when all of its limits are judged.
fn check_at_the_limits(limits: usize, random: &mut Pcg64) -> Option<bool> {
    let mut ratios: Vec<Vec<f64>> = vec![Vec::new(); limits];
    for _ in 0..8 {
        ratios.iter_mut().for_each(|of_limit| of_limit.push(1.03 * (0.02 * normal(random)).exp()));
        let judged: Vec<Result<LimitVerdict, UndecidedReason>> =
            ratios.iter().map(|ratios| judge(ratios, Polarity::LowerIsBetter, 1.03, limits)).collect();
        if judged.contains(&Ok(LimitVerdict::Regressed)) {
            return Some(false);
        }
        if judged.iter().all(Result::is_ok) {
            return Some(true);
        }
    }
    None
}
