//! Measures that are judged together: what is stated, what waits, and how often a difference is stated where there is none.

use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use tare_stats::measures::{DECIDING_SHARE, Line, Measured, judge_measures, reasons_to_stop};
use tare_stats::{DecisionRule, ForkRatio, Method, MethodKind, Polarity, Region, StopReason, UndecidedReason, Verdict};

use crate::normal;

const REPEATED: Method =
    Method { alpha: 0.05, kind: MethodKind::Repeated { min_forks: 3, max_forks: 8, may_continue: false }, prior: None };

/// Forks with these log-ratios.
fn of_logs(logs: &[f64]) -> Vec<ForkRatio> {
    logs.iter().map(|log| ForkRatio::from_pairs(&[(log.exp(), 1.0)]).expect("positive")).collect()
}

/// Forks about `centre` that scatter with a standard deviation of about `sd`.
fn scattered(centre: f64, sd: f64, forks: usize) -> Vec<ForkRatio> {
    let logs: Vec<f64> = (0..forks).map(|i| centre + if i % 2 == 0 { sd } else { -sd }).collect();
    of_logs(&logs)
}

fn measured(forks: &[ForkRatio], method: Method) -> Measured<'_> {
    Measured { forks, polarity: Polarity::LowerIsBetter, method, sd_floor: 0.0 }
}

fn judge(lines: &[Vec<&[ForkRatio]>], rule: &DecisionRule) -> Vec<Vec<Verdict>> {
    let lines: Vec<Line<'_>> =
        lines.iter().map(|line| line.iter().map(|forks| measured(forks, REPEATED)).collect()).collect();
    judge_measures(&lines, rule).expect("finite forks")
}

#[test]
fn a_known_measure_is_stated_while_the_deciding_one_is_open() {
    let (open, clear) = (scattered(0.02, 0.1, 6), scattered(0.1, 0.005, 6));
    let verdicts = judge(&[vec![&open], vec![&clear], vec![&open]], &DecisionRule::default());
    assert!(matches!(verdicts[0][0], Verdict::Inconclusive { reason: UndecidedReason::IntervalTooWide, .. }));
    assert_eq!(verdicts[1][0], Verdict::Worse { material: true });
}

#[test]
fn what_only_the_whole_alpha_decides_is_not_stated_beside_other_measures() {
    let open = scattered(0.0, 0.1, 6);
    // The first spread that excludes "no difference" by itself, but not at a share of α.
    let rule = DecisionRule::default();
    let alone = |forks: &Vec<ForkRatio>| judge(&[vec![forks]], &rule)[0][0].is_difference();
    let border = (1..).map(|i| scattered(0.05, 0.09 - f64::from(i) * 1e-4, 6)).find(alone).expect("some spread");
    let verdict = judge(&[vec![&open], vec![&border]], &rule)[1][0];
    assert!(matches!(verdict, Verdict::Inconclusive { reason: UndecidedReason::TooManyMeasures, .. }), "{verdict:?}");
    // A deciding measure with a clear difference passes its share on.
    let clear = scattered(0.5, 0.001, 6);
    assert!(judge(&[vec![&clear], vec![&border]], &rule)[1][0].is_difference());
    // An open question of the deciding line keeps the share.
    assert!(!judge(&[vec![&clear, &open], vec![&border]], &rule)[1][0].is_difference());
}

#[test]
fn the_deciding_line_is_a_sequence_of_questions() {
    let (clear, open, same) = (scattered(0.1, 0.005, 6), scattered(0.0, 0.1, 6), scattered(0.0, 0.002, 6));
    let waits = Verdict::Inconclusive { reason: UndecidedReason::WaitsForEarlier, forks_needed: None };
    let rule = DecisionRule { region: Region { margin: 0.02 }, ..DecisionRule::default() };
    assert_eq!(judge(&[vec![&clear, &clear]], &rule)[0], [Verdict::Worse { material: true }; 2]);
    assert_eq!(judge(&[vec![&open, &clear]], &rule)[0][1], waits);
    // A question without a difference is answered, and the next one may be asked.
    assert_eq!(
        judge(&[vec![&same, &clear]], &rule)[0],
        [Verdict::NoMaterialDifference, Verdict::Worse { material: true }]
    );
    // An open question of one measure does not keep another measure from being stated.
    assert!(judge(&[vec![&open, &clear], vec![&clear, &clear]], &rule)[1][1].is_difference());
}

#[test]
fn another_measure_is_judged_by_holm_without_waiting() {
    let (clear, open) = (scattered(0.1, 0.005, 6), scattered(0.0, 0.1, 6));
    let rule = DecisionRule::default();
    let line = &judge(&[vec![&clear, &clear, &clear], vec![&clear, &open, &clear]], &rule)[1];
    let stated: Vec<bool> = line.iter().map(Verdict::is_difference).collect();
    assert_eq!(stated, [true, false, true]);
    // Enough at half of the line's share, and not at a third: stated once another one is.
    let border = (1..)
        .map(|i| scattered(0.05, 0.04 - f64::from(i) * 5e-4, 6))
        .find(|forks| judge(&[vec![&open; 2], vec![forks, &open]], &rule)[1][0].is_difference())
        .expect("some spread");
    let lines = |others: [&[ForkRatio]; 2]| judge(&[vec![&open; 3], vec![&border, others[0], others[1]]], &rule);
    assert!(!lines([&open, &open])[1][0].is_difference());
    assert!(lines([&clear, &open])[1][0].is_difference());
}

#[test]
fn a_table_counts_no_difference_that_is_too_small_to_be_stated() {
    // At 2 %: enough for the last of ten differences (5 %), and too little for the only one (0.5 %).
    let excludes = |forks: &Vec<ForkRatio>| {
        let at_2_percent = measured(forks, REPEATED.at_level(0.02)).at_share(1.0).unwrap();
        at_2_percent.ratio.unwrap().lo > 1.0
    };
    let border = (1..).map(|i| scattered(0.2, 0.4 - f64::from(i) * 1e-3, 6)).find(excludes).expect("some spread");
    let (small, clear) = (scattered(0.01, 0.0005, 6), scattered(0.3, 0.005, 6));
    let rule = DecisionRule { region: Region { margin: 0.05 }, comparisons: 10, ..DecisionRule::default() };
    let beside = |others: &[ForkRatio]| {
        let mut line: Vec<&[ForkRatio]> = vec![others; 9];
        line.push(&border);
        judge(&[line], &rule).remove(0)
    };
    assert!(beside(&clear).iter().all(Verdict::is_difference));
    let verdicts = beside(&small);
    assert_eq!(verdicts[0], Verdict::NoMaterialDifference);
    let last = verdicts[9];
    assert!(matches!(last, Verdict::Inconclusive { reason: UndecidedReason::TooManyComparisons, .. }), "{last:?}");
}

/// Forks of a difference near the edge of a region of ±5 %: a difference at half of α, and at the whole of it none that matters.
fn near_the_edge() -> Vec<ForkRatio> {
    let noise = [-1.3, 0.2, 0.9, -0.7, 1.5, -0.4, 0.6, -0.8];
    let (centre, deviation) = (noise.iter().sum::<f64>() / 8.0, 0.969);
    of_logs(&noise.map(|one| 1.032_f64.ln() + 0.012 * (one - centre) / deviation))
}

#[test]
fn a_small_difference_near_the_edge_of_the_region_keeps_its_verdict() {
    let (edge, open) = (near_the_edge(), scattered(0.0, 0.1, 8));
    let rule = DecisionRule { region: Region { margin: 0.05 }, ..DecisionRule::default() };
    let method = Method::FIXED_FORKS;
    let verdict = |share: f64| {
        let at_share = measured(&edge, method).at_share(share).unwrap();
        Verdict::of_comparison(&at_share, Polarity::LowerIsBetter, &rule)
    };
    // Beside a question that is open it has half of the share of its line, a tenth. Once it is stated, the other has all.
    let flips = (1..2_000)
        .map(|step| f64::from(step) * 1e-3)
        .find(|share| verdict(share / 2.0).is_difference() && verdict(*share) == Verdict::NoMaterialDifference);
    let share = flips.expect("a share at which more α makes it no material difference");
    let level = method.alpha * share / 0.1;
    let of = |forks| measured(forks, method.at_level(level));
    let verdicts = judge_measures(&[vec![of(&open), of(&open)], vec![of(&edge), of(&open)]], &rule).unwrap();
    assert_eq!(verdicts[1][0], Verdict::Worse { material: false });
}

/// The log-ratios of all forks of a table: three measures of up to four comparisons.
fn tables() -> impl Strategy<Value = Vec<Vec<Vec<f64>>>> {
    let forks = (-0.08..0.08_f64, 0.0005..0.04_f64, proptest::collection::vec(-1.7..1.7_f64, 2..10))
        .prop_map(|(centre, sd, noise)| noise.iter().map(|noise| centre + sd * noise).collect::<Vec<f64>>());
    (1..5_usize).prop_flat_map(move |comparisons| {
        proptest::collection::vec(proptest::collection::vec(forks.clone(), comparisons), 3)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The verdicts of any table are found, and a measure that passes its α on takes no difference from another. One that lies
    /// within the region may become "no material difference", which says more of it: an interval at the whole α that was never
    /// judged at a smaller share.
    #[test]
    fn a_table_ends_and_more_alpha_takes_no_difference_away(table in tables(), region in 0.01..0.08_f64, is_fixed: bool) {
        let method = if is_fixed { Method::FIXED_FORKS } else { REPEATED };
        let rule = DecisionRule { region: Region { margin: region }, ..DecisionRule::default() };
        let ratios: Vec<Vec<Vec<ForkRatio>>> =
            table.iter().map(|line| line.iter().map(|logs| of_logs(logs)).collect()).collect();
        let line = |at: usize| -> Line<'_> { ratios[at].iter().map(|forks| measured(forks, method)).collect() };
        let before = judge_measures(&[line(0), line(1), line(2)], &rule).unwrap();
        // Its first question has a clear difference, and there is no other.
        let clear = scattered(0.5, 0.001, 8);
        let after = judge_measures(&[vec![measured(&clear, method)], line(1), line(2)], &rule).unwrap();
        for (before, after) in before[1..].iter().flatten().zip(after[1..].iter().flatten()) {
            let is_small = matches!(before, Verdict::Better { material: false } | Verdict::Worse { material: false });
            let says_more = is_small && *after == Verdict::NoMaterialDifference;
            let is_kept = after.is_difference() || says_more;
            prop_assert!(is_kept || !before.is_difference(), "{:?} became {:?}", before, after);
        }
    }
}

#[test]
fn a_run_stops_by_what_its_report_will_state() {
    let rule = DecisionRule::default();
    let stops = |forks: &[ForkRatio], measures| {
        let lines: Vec<Line<'_>> = (0..measures).map(|_| vec![measured(forks, REPEATED)]).collect();
        reasons_to_stop(&lines, &rule).unwrap()[0]
    };
    let border = (1..)
        .map(|i| scattered(0.05, 0.09 - f64::from(i) * 1e-5, 6))
        .find(|forks| stops(forks, 1).is_some())
        .expect("some spread");
    assert_eq!(stops(&border, 1), Some(StopReason::Decided));
    assert_eq!(stops(&border, 4), None, "its interval at {DECIDING_SHARE} α contains no difference");
    let open = scattered(0.0, 0.1, 6);
    assert!(!judge(&[vec![&border], vec![&open]], &rule)[0][0].is_decision());
}

#[test]
fn a_large_table_needs_more_evidence() {
    let clear = (1..)
        .map(|i| scattered(f64::from(i) * 1e-3, 0.005, 6))
        .find(|forks| measured(forks, REPEATED).at_share(1.0).unwrap().p_value() < 4e-3)
        .unwrap();
    let same = scattered(0.0, 0.005, 6);
    let rule = DecisionRule { region: Region { margin: 0.001 }, ..DecisionRule::default() };
    let row = |one: usize| (0..50).map(|i| if i == one { &clear[..] } else { &same[..] }).collect::<Vec<_>>();
    let verdict = judge(&[row(7)], &rule)[0][7];
    let Verdict::Inconclusive { reason: UndecidedReason::TooManyComparisons, forks_needed } = verdict else {
        panic!("{verdict:?}")
    };
    assert!(forks_needed.unwrap() > 6);
    assert!(judge(&[vec![&clear]], &rule)[0][0].is_difference());
}

#[test]
fn nothing_measured_has_no_verdict() {
    assert!(judge_measures(&[], &DecisionRule::default()).unwrap().is_empty());
    let verdicts = judge_measures(&[Vec::new(), Vec::new()], &DecisionRule::default()).unwrap();
    assert_eq!(verdicts, [Vec::<Verdict>::new(), Vec::new()]);
}

/// Five measures of two comparisons without any difference, looked at after each fork: the share of runs that state one.
#[test]
fn a_difference_is_stated_where_there_is_none_no_more_often_than_alpha() {
    const RUNS: usize = 800;
    let mut rng = Pcg64::seed_from_u64(16);
    let rule = DecisionRule { comparisons: 2, ..DecisionRule::default() };
    let false_leads = (0..RUNS)
        .filter(|_| {
            let logs: Vec<Vec<f64>> = (0..10).map(|_| (0..8).map(|_| 0.1 * normal(&mut rng)).collect()).collect();
            (3..=8).any(|forks| {
                let ratios: Vec<Vec<ForkRatio>> = logs.iter().map(|logs| of_logs(&logs[..forks])).collect();
                let lines: Vec<Line<'_>> =
                    ratios.chunks(2).map(|line| line.iter().map(|f| measured(f, REPEATED)).collect()).collect();
                judge_measures(&lines, &rule).unwrap().iter().flatten().any(Verdict::is_difference)
            })
        })
        .count();
    let share = false_leads as f64 / RUNS as f64;
    println!("false leads: {share}");
    assert!(share < 0.05 + 3.0 * (0.05_f64 * 0.95 / RUNS as f64).sqrt(), "{share}");
    assert!(share > 0.02, "far below α the rule would waste forks: {share}");
}

/// Comparisons without any difference in one measure, each within the region: each answered question asks the next one, so
/// the probability to state a difference is α for each question that is asked, and not α for the run.
#[test]
fn each_question_that_is_asked_adds_alpha_at_most() {
    const RUNS: usize = 4_000;
    const ALPHA: f64 = 0.05;
    let mut rng = Pcg64::seed_from_u64(18);
    for questions in [1, 3, 9] {
        let rule = DecisionRule { region: Region { margin: 0.02 }, ..DecisionRule::default() };
        let (mut asked, mut false_runs) = (0, 0);
        for _ in 0..RUNS {
            let ratios: Vec<Vec<ForkRatio>> = (0..questions)
                .map(|_| of_logs(&std::array::from_fn::<f64, 10, _>(|_| 0.019 * normal(&mut rng))))
                .collect();
            let line: Line<'_> = ratios.iter().map(|forks| measured(forks, Method::FIXED_FORKS)).collect();
            let verdicts = judge_measures(&[line], &rule).unwrap().remove(0);
            let waits = Verdict::Inconclusive { reason: UndecidedReason::WaitsForEarlier, forks_needed: None };
            asked += verdicts.iter().filter(|verdict| **verdict != waits).count();
            false_runs += usize::from(verdicts.iter().any(Verdict::is_difference));
        }
        let (share, bound) = (false_runs as f64 / RUNS as f64, ALPHA * asked as f64 / RUNS as f64);
        println!("{questions} questions: {share} of runs state a false difference, {bound} at most");
        assert!(share < bound + 3.0 * (bound / RUNS as f64).sqrt(), "{questions} questions: {share}, {bound} at most");
    }
}

/// One currency of a table costs another nothing: each is judged by itself.
#[test]
fn a_table_judges_each_measure_by_itself() {
    let (clear, same) = (scattered(0.7, 0.05, 4), scattered(0.0, 0.01, 4));
    let line = |count: usize| -> Line<'_> {
        let forks = |at: usize| if at < count { &clear } else { &same };
        (0..18).map(|at| measured(forks(at), Method::FIXED_FORKS)).collect()
    };
    let rule = DecisionRule::default();
    let lines = [line(16), line(16), line(16), line(0), line(0)];
    let verdicts = judge_measures(&lines, &rule).expect("finite forks");
    let stated: Vec<usize> =
        verdicts.iter().map(|line| line.iter().filter(|verdict| verdict.is_difference()).count()).collect();
    assert_eq!(stated, [16, 16, 16, 0, 0]);
    let alone: Vec<_> =
        lines.into_iter().flat_map(|line| judge_measures(&[line], &rule).expect("finite forks")).collect();
    assert_eq!(alone, verdicts);
}
