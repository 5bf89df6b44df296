//! The verdict as a table of intervals, the rule for stopping, and what of them files hold.

use tare_stats::verdict::{forks_needed, reason_to_stop};
use tare_stats::{
    Comparison, DecisionRule, ForkRatio, Interval, Method, MethodKind, Polarity, Region, StopReason, UndecidedReason,
    Verdict,
};

/// A comparison of ten forks whose ratio has the given bounds.
fn with_ratio(lo: f64, hi: f64) -> Comparison {
    let mut comparison = of_logs(&[0.0; 10], Method::SEQUENTIAL);
    let log = Interval { estimate: (lo.ln() + hi.ln()) / 2.0, lo: lo.ln(), hi: hi.ln() };
    comparison.log = Some(log);
    comparison.ratio = Some(log.exp());
    comparison.equivalence = comparison.ratio;
    comparison
}

fn of_logs(logs: &[f64], method: Method) -> Comparison {
    let forks: Vec<ForkRatio> =
        logs.iter().map(|l| ForkRatio::from_pairs(&[(l.exp(), 1.0)]).expect("positive")).collect();
    Comparison::over_forks(&forks, method, 0.005).expect("finite forks")
}

/// Forks about `centre` that scatter with a standard deviation of about `sd`.
fn scattered(centre: f64, sd: f64, forks: usize) -> Comparison {
    let logs: Vec<f64> = (0..forks).map(|i| centre + if i % 2 == 0 { sd } else { -sd }).collect();
    of_logs(&logs, Method::SEQUENTIAL)
}

#[test]
fn the_place_of_the_interval_decides_the_verdict() {
    let rule = DecisionRule::default();
    let worse = |material| Verdict::Worse { material };
    let better = |material| Verdict::Better { material };
    for (lo, hi, throughput, latency) in [
        (0.985, 1.015, Verdict::NoMaterialDifference, Verdict::NoMaterialDifference),
        (1.005, 1.015, Verdict::NoMaterialDifference, Verdict::NoMaterialDifference),
        (1.07, 1.09, better(true), worse(true)),
        (1.01, 1.09, better(false), worse(false)),
        (0.80, 0.95, worse(true), better(true)),
        (0.95, 0.99, worse(false), better(false)),
    ] {
        let comparison = with_ratio(lo, hi);
        assert_eq!(
            Verdict::of_comparison(&comparison, Polarity::HigherIsBetter, &rule),
            throughput,
            "throughput [{lo}, {hi}]"
        );
        assert_eq!(
            Verdict::of_comparison(&comparison, Polarity::LowerIsBetter, &rule),
            latency,
            "latency [{lo}, {hi}]"
        );
    }
}

#[test]
fn an_interval_that_spans_both_is_inconclusive() {
    for (lo, hi) in [(0.95, 1.05), (0.99, 1.03), (0.97, 1.01)] {
        let verdict = Verdict::of_comparison(&with_ratio(lo, hi), Polarity::LowerIsBetter, &DecisionRule::default());
        assert!(
            matches!(verdict, Verdict::Inconclusive { reason: UndecidedReason::IntervalTooWide, .. }),
            "{verdict:?}"
        );
    }
}

#[test]
fn one_fork_has_no_verdict() {
    let one = of_logs(&[0.5], Method::SEQUENTIAL);
    assert_eq!(Verdict::of_comparison(&one, Polarity::LowerIsBetter, &DecisionRule::default()), Verdict::NoInterval);
    assert_eq!(reason_to_stop(&one, &DecisionRule::default()), None);
    assert_eq!(forks_needed(&one, &DecisionRule::default()), None);
}

#[test]
fn four_forks_decide_nothing_however_clear_they_are() {
    let four = scattered(0.5, 0.005, 4);
    let verdict = Verdict::of_comparison(&four, Polarity::LowerIsBetter, &DecisionRule::default());
    assert_eq!(verdict, Verdict::Inconclusive { reason: UndecidedReason::TooFewForks, forks_needed: Some(5) });
    assert_eq!(reason_to_stop(&four, &DecisionRule::default()), None);
    assert_eq!(reason_to_stop(&scattered(0.5, 0.005, 5), &DecisionRule::default()), Some(StopReason::Decided));
}

#[test]
fn the_forks_needed_are_the_first_that_decide() {
    let rule = DecisionRule::default();
    let now = scattered(0.03, 0.03, 6);
    let needed = forks_needed(&now, &rule).unwrap();
    assert!(needed > 6);
    assert!(reason_to_stop(&now.forecast(needed).unwrap(), &rule).is_some());
    assert!(reason_to_stop(&now.forecast(needed - 1).unwrap(), &rule).is_none());
    assert_eq!(forks_needed(&scattered(0.0, 3.0, 6), &rule), None, "beyond a thousand forks there is no forecast");
}

#[test]
fn a_method_that_ends_promises_nothing_of_forks_beyond_its_own() {
    let rule = DecisionRule { table_level: Some(1e-9), ..DecisionRule::default() };
    let logs: Vec<f64> = (0..6).map(|i| if i % 2 == 0 { 0.04 } else { 0.06 }).collect();
    let method = |may_continue| Method {
        alpha: 0.05,
        kind: MethodKind::Repeated { min_forks: 3, max_forks: 8, may_continue },
        prior: None,
    };
    assert!(forks_needed(&of_logs(&logs, method(true)), &rule).unwrap() > 8);
    assert_eq!(forks_needed(&of_logs(&logs, method(false)), &rule), None);
}

#[test]
fn a_fixed_number_of_forks_never_stops_early() {
    let fixed = of_logs(&[0.5, 0.5, 0.5, 0.5, 0.5, 0.5], Method::FIXED_FORKS);
    assert_eq!(reason_to_stop(&fixed, &DecisionRule::default()), None);
    assert_eq!(
        Verdict::of_comparison(&fixed, Polarity::LowerIsBetter, &DecisionRule::default()),
        Verdict::Worse { material: true }
    );
}

#[test]
fn enough_precision_stops_without_a_verdict() {
    let undecided = scattered(0.01, 0.03, 20);
    let wide = DecisionRule::default();
    assert_eq!(reason_to_stop(&undecided, &wide), None);
    let half_width = undecided.log.unwrap().half_width();
    let rule = DecisionRule { precision: Some(half_width + 1e-9), ..wide };
    assert_eq!(reason_to_stop(&undecided, &rule), Some(StopReason::Precise));
    assert_eq!(reason_to_stop(&undecided, &DecisionRule { precision: Some(half_width - 1e-9), ..wide }), None);
}

#[test]
fn a_difference_stops_once_its_size_is_known() {
    // Eight forks about +10 % and about +40 %, both with a half-width of several percent.
    let (small, large) = (scattered(0.10, 0.04, 8), scattered(0.40, 0.04, 8));
    let half_width = small.log.unwrap().half_width();
    assert!((half_width - large.log.unwrap().half_width()).abs() < 1e-9 && half_width < 0.10, "{half_width}");
    let within = |limit| DecisionRule { half_width: Some(limit), ..DecisionRule::default() };
    for rule in [DecisionRule::default(), within(half_width + 1e-9)] {
        assert_eq!(reason_to_stop(&small, &rule), Some(StopReason::Decided), "{rule:?}");
    }
    let narrow = within(half_width - 1e-3);
    assert_eq!(reason_to_stop(&small, &narrow), None, "its direction is certain, its size is not");
    assert!(forks_needed(&small, &narrow).unwrap() > 8);
    assert!(
        Verdict::of_comparison(&small, Polarity::LowerIsBetter, &narrow).is_difference(),
        "the verdict needs the direction only"
    );
    assert_eq!(reason_to_stop(&large, &narrow), Some(StopReason::Decided), "a quarter of 40 % is enough");
    let equal = of_logs(&[0.001, -0.001, 0.002, -0.002, 0.0, 0.0], Method::SEQUENTIAL);
    assert_eq!(reason_to_stop(&equal, &within(1e-6)), Some(StopReason::Decided), "no difference needs no size");
}

#[test]
fn in_a_table_a_difference_needs_more_evidence() {
    let clear = (1..).map(|i| scattered(f64::from(i) * 1e-3, 0.005, 6)).find(|c| c.p_value() < 4e-3).unwrap();
    let alone = DecisionRule { region: Region { margin: 0.001 }, ..DecisionRule::default() };
    let at = |level| reason_to_stop(&clear, &DecisionRule { table_level: Some(level), ..alone });
    assert_eq!(reason_to_stop(&clear, &alone), Some(StopReason::Decided));
    assert_eq!((at(1e-3), at(5e-3)), (None, Some(StopReason::Decided)), "its p-value is {}", clear.p_value());
}

#[test]
fn no_material_difference_needs_the_narrow_interval_alone() {
    let mut comparison = with_ratio(0.97, 1.03);
    comparison.equivalence = Some(Interval { estimate: 1.0, lo: 0.985, hi: 1.015 });
    let verdict = Verdict::of_comparison(&comparison, Polarity::LowerIsBetter, &DecisionRule::default());
    assert_eq!(verdict, Verdict::NoMaterialDifference);
}

#[test]
fn files_hold_polarity_and_reason_in_snake_case() {
    assert_eq!(serde_json::to_string(&Polarity::HigherIsBetter).unwrap(), r#""higher_is_better""#);
    assert_eq!(serde_json::to_string(&StopReason::Decided).unwrap(), r#""decided""#);
}
