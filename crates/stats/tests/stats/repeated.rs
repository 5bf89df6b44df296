//! The promise of repeated intervals, by simulation: over all looks together they miss the true mean no more often than
//! α, for several distributions of forks.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tare_stats::verdict::reason_to_stop;
use tare_stats::{
    Comparison, DecisionRule, ForkRatio, Interval, LookSchedule, Method, MethodKind, Region, SD_FLOOR, SampleMean,
    VariancePrior,
};

use crate::normal;

const RUNS: usize = 20_000;

/// Student's t with 3 degrees of freedom.
fn heavy_tailed(rng: &mut Pcg64) -> f64 {
    let z = normal(rng);
    let chi: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
    z / (chi / 3.0).sqrt()
}

/// Two starts of one server compared, each of which is 9 standard deviations away from the others in 15 of 100 cases.
fn two_modes(rng: &mut Pcg64) -> f64 {
    let mut start = || normal(rng) + if rng.random::<f64>() < 0.15 { 9.0 } else { 0.0 };
    start() - start()
}

/// The share of runs in which any look misses 0, where `spread` gives the standard deviation of a run's forks.
fn share_missed(
    schedule: (u32, u32),
    alpha: f64,
    draw: fn(&mut Pcg64) -> f64,
    prior: Option<VariancePrior>,
    spread: fn(&mut Pcg64) -> f64,
) -> f64 {
    let mut rng = Pcg64::seed_from_u64(41);
    let (min_forks, max_forks) = schedule;
    let method = Method { alpha, kind: MethodKind::Repeated { min_forks, max_forks, may_continue: false }, prior };
    let mut missed = 0;
    for _ in 0..RUNS {
        let scale = spread(&mut rng);
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        let mut miss = false;
        for forks in 1..=max_forks {
            let x = scale * draw(&mut rng);
            (n, sum, squares) = (n + 1.0, sum + x, squares + x * x);
            if forks >= min_forks && !miss {
                let sd = ((squares - sum * sum / n) / (n - 1.0)).sqrt();
                miss = (sum / n).abs() > method.half_width(forks, sd).expect("a valid schedule");
            }
        }
        missed += usize::from(miss);
    }
    missed as f64 / RUNS as f64
}

/// Three standard errors of a share of `RUNS`.
fn three_standard_errors(alpha: f64) -> f64 {
    3.0 * (alpha * (1.0 - alpha) / RUNS as f64).sqrt()
}

#[test]
fn all_looks_together_miss_the_truth_as_often_as_alpha() {
    for (schedule, alpha) in [((3, 4), 0.05), ((3, 6), 0.05), ((3, 12), 0.05), ((3, 6), 0.01), ((5, 20), 0.1)] {
        let missed = share_missed(schedule, alpha, normal, None, |_| 1.0);
        println!("normal {schedule:?} α {alpha}: {missed}");
        assert!((missed - alpha).abs() < three_standard_errors(alpha), "{schedule:?}, α {alpha}: {missed}");
    }
}

#[test]
fn heavy_tails_and_two_modes_miss_the_truth_less_often() {
    for (name, draw) in [("t3", heavy_tailed as fn(&mut Pcg64) -> f64), ("two modes", two_modes)] {
        for (schedule, alpha) in [((3, 6), 0.05), ((3, 12), 0.05), ((3, 6), 0.01)] {
            let missed = share_missed(schedule, alpha, draw, None, |_| 1.0);
            println!("{name} {schedule:?} α {alpha}: {missed}");
            assert!(missed < alpha + three_standard_errors(alpha), "{name}, {schedule:?}, α {alpha}: {missed}");
        }
    }
}

/// The standard deviation of one run, drawn from a prior with 6 degrees of freedom.
fn sd_from_prior(rng: &mut Pcg64) -> f64 {
    let chi: f64 = (0..6).map(|_| normal(rng).powi(2)).sum();
    (6.0 / chi).sqrt()
}

#[test]
fn a_moderated_interval_keeps_alpha_where_its_prior_is_true_and_loses_little_where_it_is_wrong() {
    let prior = Some(VariancePrior { sd: 1.0, df: 6.0 });
    let of_prior = share_missed((3, 6), 0.05, normal, prior, sd_from_prior);
    let fixed = share_missed((3, 6), 0.05, normal, prior, |_| 1.0);
    let wrong = share_missed((3, 6), 0.05, normal, prior, |_| 1.5);
    let heavy_tailed = share_missed((3, 6), 0.05, heavy_tailed, prior, |_| 0.6);
    println!("moderated: as the prior {of_prior}, sd as the prior's {fixed}, 1.5 of it {wrong}, t3 {heavy_tailed}");
    assert!(of_prior < 0.05 + three_standard_errors(0.05), "{of_prior}");
    assert!(fixed < 0.05 + three_standard_errors(0.05), "{fixed}");
    assert!(wrong < 0.15, "{wrong}");
}

#[test]
fn half_widths_agree_with_those_of_a_simulation_of_another_program() {
    // Half-widths of the last look for a standard deviation of 1, from an independent simulation that spends α (n / N)².
    for (alpha, forks, simulated) in
        [(0.05, 4, 1.79), (0.05, 6, 1.23), (0.05, 8, 0.98), (0.05, 12, 0.75), (0.01, 6, 1.93), (0.01, 12, 1.02)]
    {
        let width = LookSchedule::new(3, forks, 0.0).unwrap().half_width(forks, 1.0, alpha).unwrap();
        println!("α {alpha}, {forks} forks: {width:.3}");
        assert!((width / simulated - 1.0).abs() < 0.04, "α {alpha}, {forks} forks: {width}");
    }
}

fn compare(logs: &[f64], method: Method) -> Comparison {
    let forks: Vec<ForkRatio> =
        logs.iter().map(|log| ForkRatio::from_pairs(&[(log.exp(), 1.0)]).expect("positive")).collect();
    Comparison::over_forks(&forks, method, 0.0).expect("finite forks")
}

#[test]
fn going_on_past_the_declared_forks_keeps_alpha() {
    let method = Method {
        alpha: 0.05,
        kind: MethodKind::Repeated { min_forks: 3, max_forks: 5, may_continue: true },
        prior: None,
    };
    let mut rng = Pcg64::seed_from_u64(9);
    let runs = 2_000;
    let missed = (0..runs)
        .filter(|_| {
            let logs: Vec<f64> = (0..20).map(|_| 0.02 * normal(&mut rng)).collect();
            (3..=20).any(|n| !compare(&logs[..n], method).log.unwrap().contains(0.0))
        })
        .count();
    // 5 % of 2,000 is 100; three standard errors are 29.
    println!("past the declared forks: {missed} of {runs}");
    assert!(missed <= 129, "{missed} of {runs}");
}

/// Forks about `truth` of a run that ends as a real one does: when its comparison may stop, or with twelve forks.
fn stopped_run(truth: f64, rng: &mut Pcg64) -> Vec<f64> {
    let method = Method {
        alpha: 0.05,
        kind: MethodKind::Repeated { min_forks: 3, max_forks: 12, may_continue: false },
        prior: None,
    };
    let region = Region { margin: 0.05 };
    let rule = DecisionRule { region, half_width: Some(0.04), ..DecisionRule::default() };
    let mut logs = Vec::new();
    while logs.len() < 12 && (logs.is_empty() || reason_to_stop(&compare(&logs, method), &rule).is_none()) {
        logs.push(truth + 0.03 * normal(rng));
    }
    logs
}

#[test]
fn welchs_interval_of_runs_that_stopped_at_their_verdict_misses_somewhat_more_often() {
    let runs = 2_000;
    let missed = [0.0, 0.03, 0.1].map(|truth| {
        let mut rng = Pcg64::seed_from_u64(12);
        let misses = |_: &usize| {
            let [before, after] = [(); 2]
                .map(|()| SampleMean::of_values(&stopped_run(truth, &mut rng), SD_FLOOR).expect("three forks or more"));
            !after.minus(&before).interval(0.05).expect("some spread").contains(0.0)
        };
        let share = (0..runs).filter(misses).count() as f64 / runs as f64;
        println!("Welch's interval of two runs about {truth} that stopped at their verdict: missed in {share}");
        share
    });
    // 5 % may. A run stops where its forks agree by chance, so they scatter less than forks do.
    assert!(missed.iter().all(|share| *share < 0.12), "{missed:?}");
    assert!(missed[1] > 0.06, "METHOD says so: {missed:?}");
}

#[test]
fn beyond_the_declared_forks_the_interval_never_grows_wider_than_it_was() {
    let method = Method {
        alpha: 0.05,
        kind: MethodKind::Repeated { min_forks: 3, max_forks: 6, may_continue: true },
        prior: None,
    };
    let logs: Vec<f64> = (0..40).map(|i| 0.05 + 0.02 * f64::from((i * 7) % 5 - 2)).collect();
    let at = |forks: usize| compare(&logs[..forks], method).log.unwrap();
    let inside = |inner: Interval, outer: Interval| outer.lo <= inner.lo && inner.hi <= outer.hi;
    assert!(at(6).bounds().is_some() && inside(at(7), at(6)) && inside(at(40), at(6)));
    assert!(at(40).half_width() < at(7).half_width(), "the sequence has taken over");
    assert!((7..=40).all(|forks| at(forks).contains(at(forks).estimate)));
}

#[test]
fn no_material_difference_is_judged_at_twice_alpha() {
    let method = Method {
        alpha: 0.05,
        kind: MethodKind::Repeated { min_forks: 3, max_forks: 6, may_continue: false },
        prior: None,
    };
    let logs = [0.01, -0.01, 0.02, -0.02, 0.005, -0.005];
    let (narrow, wide) = (compare(&logs, method).equivalence.unwrap(), compare(&logs, method).ratio.unwrap());
    assert!(wide.lo < narrow.lo && narrow.hi < wide.hi);
    assert_eq!(Some(narrow), compare(&logs, method.at_level(0.1)).ratio);
}

#[test]
fn a_prior_narrows_the_interval_and_both_are_there() {
    let prior = Some(VariancePrior { sd: 0.02, df: 6.0 });
    let method =
        Method { alpha: 0.05, kind: MethodKind::Repeated { min_forks: 3, max_forks: 6, may_continue: false }, prior };
    let logs = [0.10, 0.12, 0.08, 0.14];
    let with = compare(&logs, method);
    assert_eq!(with.without_prior, compare(&logs, method.with_prior(None)).ratio);
    assert!(with.ratio.unwrap().half_width() < with.without_prior.unwrap().half_width());
    // Forks that scatter five times as much as the prior says are judged without it.
    let wild = compare(&[0.1, 0.3, -0.1, 0.2], method);
    assert_eq!(wild.ratio, wild.without_prior);
}

#[test]
fn an_interval_of_a_tiny_error_probability_agrees_with_its_p_value() {
    for (min_forks, max_forks) in [(3, 8), (3, 40)] {
        let schedule = LookSchedule::new(min_forks, max_forks, 0.0).unwrap();
        for alpha in [1e-8, 1e-10, 1e-12] {
            let half_width = schedule.half_width(max_forks, 1.0, alpha).unwrap();
            let p_value = schedule.p_value(max_forks, half_width * f64::from(max_forks).sqrt()).unwrap();
            assert!((p_value / alpha - 1.0).abs() < 0.02, "{alpha} up to {max_forks}: {p_value}");
        }
    }
}
