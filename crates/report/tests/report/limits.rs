//! Limits of `tare check` held against records of planted truth.

use tare_analysis::stop::{Looks, ReasonToStop};
use tare_analysis::summarize;
use tare_analysis::summary::{CheckResult, LimitCheck, LimitVerdictKind, Summary, VerdictKind};
use tare_plan::plan::{Forks, SliceKind, Source};
use tare_record::{EventKind, EventRecord, RunRecord};
use tare_report::text::{Style, render, verdicts_in_words};
use tare_report::{ci, markdown};
use tare_stats::StopReason;

use crate::ci::{TestCase, test_cases};
use crate::synthetic::{self, Truth, baseline, control, variant};

const LAYER: &str = "http4s.Tapir";

/// A run with these limits.
fn limited(mut record: RunRecord, limits: &[&str]) -> RunRecord {
    let limits = limits.iter().map(|limit| limit.parse().unwrap()).collect();
    record.header.plan.set_limits(limits, Source::Flag);
    record
}

fn check(summary: &Summary) -> &LimitCheck {
    summary.check.as_ref().unwrap()
}

fn verdicts(summary: &Summary) -> Vec<LimitVerdictKind> {
    check(summary).limits.iter().map(|limit| limit.verdict).collect()
}

fn stop(record: &RunRecord) -> Option<ReasonToStop> {
    Looks::default().reasons_to_stop(record)[0].reason_to_stop
}

#[test]
fn a_planted_cost_is_held_against_each_limit() {
    use LimitVerdictKind::{NoMaterialChange, Regressed, Undecided};
    // The layer is 5 % slower.
    let limits = ["cpu > +3%", "cpu > +10%", "throughput < -5%", "allocated > +1%"];
    let record = limited(synthetic::standard(), &limits[..3]);
    let summary = summarize(&record);
    assert_eq!(verdicts(&summary), [Regressed, NoMaterialChange, Undecided]);
    assert_eq!(check(&summary).outcome, CheckResult::Regressed);
    assert_eq!(summary.headline.verdict, VerdictKind::Worse);
    assert!(
        summary.headline.text.starts_with("Regressed: http4s.Tapir uses ")
            && summary.headline.text.contains("more CPU per request than http4s.Vanilla on SimpleGet [")
            && summary.headline.text.contains("]. The limit is cpu > +3%. It costs +2.21 µs [+1.")
            && summary.headline.text.contains("] of CPU a request = 0.2 % of a core at 1,000 requests/s."),
        "{}",
        summary.headline.text
    );
    let comment = ci::comment::render(&summary);
    let (shown, _) = comment.split_once("<details>").unwrap();
    assert!(shown.contains("| cpu &gt; +3% | SimpleGet |") && shown.contains("regressed |"), "{shown}");
    let picture = ci::picture::render(&summary);
    assert_eq!((picture.matches("<circle ").count(), picture.matches("stroke-dasharray").count()), (3, 3), "{picture}");
    assert_eq!(stop(&record), None, "a limit is open");
    let record = limited(synthetic::standard(), &limits[..2]);
    assert_eq!(stop(&record), Some(ReasonToStop::Settled(StopReason::Decided)));
    let told = Looks::default().reasons_to_stop(&record).remove(0).text;
    assert!(told.contains("cpu > +3%: +4.9 %"), "{told}");
}

#[test]
fn where_two_groups_compare_the_same_servers_each_is_named() {
    let record = synthetic::in_two_groups(synthetic::standard());
    let (compared, checked) = (summarize(&record), summarize(&limited(record, &["cpu > +3%"])));
    let scenarios = ["SimpleGet (group http4s)", "SimpleGet (group again)"];
    assert!(check(&checked).limits.iter().map(|limit| &*limit.scenario).eq(scenarios), "{:?}", checked.check);
    let (comment, picture) = (ci::comment::render(&checked), ci::picture::render(&checked));
    for scenario in scenarios {
        for headline in [&compared.headline, &checked.headline] {
            assert!(headline.text.contains(&format!(" on {scenario}")), "{}", headline.text);
        }
        assert!(comment.contains(&format!("| cpu &gt; +3% | {scenario} |")), "{comment}");
        assert_eq!(picture.matches(&format!("{scenario} · http4s.")).count(), 1, "{picture}");
    }
}

#[test]
fn a_run_without_limits_has_no_check() {
    assert_eq!(synthetic::standard_summary().check, None);
}

#[test]
fn an_equal_build_holds_and_a_better_one_is_improved() {
    let of = |speed: f64| {
        let truths = [baseline(), Truth { fork_sd: 0.001, ..variant(LAYER, speed) }];
        summarize(&limited(synthetic::run(&truths, 12, &[SliceKind::Saturating]), &["throughput < -5%"]))
    };
    let equal = of(1.0);
    assert_eq!(
        (verdicts(&equal), check(&equal).outcome),
        (vec![LimitVerdictKind::NoMaterialChange], CheckResult::Holds)
    );
    assert!(equal.headline.text.starts_with("No regression: the limit throughput < -5% of"), "{}", equal.headline.text);
    assert_eq!(equal.next, None);
    let better = of(1.1);
    assert_eq!((verdicts(&better), check(&better).outcome), (vec![LimitVerdictKind::Improved], CheckResult::Holds));
    assert!(better.headline.text.contains("Improved: http4s.Tapir answers"), "{}", better.headline.text);
}

/// The interval of α is wider than the one by which a limit holds: some limits that hold lie within it.
#[test]
fn the_brackets_of_a_limit_agree_with_its_verdict() {
    let mut within_wider = 0;
    for fork_sd in (1..40).map(|thousandths| f64::from(thousandths) * 0.001) {
        let truths = [baseline(), Truth { fork_sd, ..variant(LAYER, 1.0 / 1.02) }];
        let summary =
            summarize(&limited(synthetic::run(&truths, 6, &[SliceKind::Saturating]), &["cpu > +5%", "cpu > -1%"]));
        let cpu = summary.comparisons[0]
            .currencies
            .iter()
            .find(|ratio| ratio.name == tare_analysis::Currency::CpuPerRequest)
            .unwrap();
        for limit in &check(&summary).limits {
            let (lo, hi) = limit.lo.zip(limit.hi).unwrap();
            match limit.verdict {
                LimitVerdictKind::NoMaterialChange | LimitVerdictKind::Improved => {
                    assert!(hi < limit.limit_ratio, "{limit:?}");
                    within_wider += usize::from(cpu.hi.unwrap() > limit.limit_ratio);
                }
                LimitVerdictKind::Regressed => assert!(lo > limit.limit_ratio, "{limit:?}"),
                _ => {
                    let says_beyond =
                        limit.reason.as_ref().is_some_and(|reason| reason.starts_with("beyond the limit"));
                    assert!(hi >= limit.limit_ratio && says_beyond == (lo > limit.limit_ratio), "{limit:?}");
                }
            }
        }
        let legend =
            "[from, to]: the 98 % confidence interval; the change is beyond either end with probability 1 % at most";
        assert_eq!(check(&summary).legend.as_deref(), Some(legend));
    }
    assert!(within_wider > 0, "some limits hold although the wider interval crosses them");
}

#[test]
fn what_was_not_measured_is_undecided_with_the_reason_and_stops_no_later() {
    let record =
        limited(synthetic::run(&[baseline(), variant(LAYER, 0.95)], 8, &[SliceKind::Saturating]), &["capacity < -3%"]);
    let summary = summarize(&record);
    assert_eq!(
        (verdicts(&summary), check(&summary).outcome),
        (vec![LimitVerdictKind::Undecided], CheckResult::Undecided)
    );
    assert_eq!(check(&summary).limits[0].reason.as_deref(), Some("no capacity was searched: give --slo"));
    assert_eq!(stop(&record), Some(ReasonToStop::Settled(StopReason::Decided)));
    assert!(summary.next.unwrap().command.ends_with("--findings"));
}

#[test]
fn an_answer_names_few_of_many_limits() {
    let limits: Vec<String> = (1..=10).map(|percent| format!("cpu > +{percent}%")).collect();
    let limits: Vec<&str> = limits.iter().map(String::as_str).collect();
    let record = synthetic::run(&[baseline(), variant(LAYER, 0.99)], 2, &[SliceKind::Saturating]);
    let text = summarize(&limited(record, &limits)).headline.text;
    assert!(text.starts_with("Undecided: 10 of 10 limits: cpu > +1% of http4s.Tapir on SimpleGet, "), "{text}");
    assert!(text.ends_with("cpu > +8% of http4s.Tapir on SimpleGet and 2 more."), "{text}");
}

#[test]
fn a_build_that_does_not_answer_is_void_and_an_error_in_junit() {
    for server in [LAYER, "http4s.Vanilla"] {
        let mut record = limited(synthetic::standard(), &["cpu > +3%"]);
        record.events.push(EventRecord {
            variant: Some(server.to_owned()),
            ..EventRecord::new(EventKind::NoAnswers { failure: String::new() })
        });
        let summary = summarize(&record);
        assert_eq!((verdicts(&summary), check(&summary).outcome), (vec![LimitVerdictKind::Void], CheckResult::Void));
        assert!(check(&summary).limits[0].reason.as_ref().is_some_and(|reason| !reason.is_empty()));
        assert!(summary.headline.text.starts_with("Void: cpu > +3% of http4s.Tapir"), "{}", summary.headline.text);
        assert_eq!(problem_of(&test_cases(&summary)[0]), "error");
        assert!(!ci::bencher::render(&summary).unwrap().contains("failed-conditions"), "no failure was looked for");
    }
}

#[test]
fn a_mode_that_only_the_checked_build_has_keeps_its_limits_from_holding() {
    use LimitVerdictKind::{NoMaterialChange, Undecided};
    let with_slow_starts = |slow: &[(&str, u32)]| {
        let truths = [baseline(), variant(LAYER, 1.0), control()];
        let mut record = limited(synthetic::run(&truths, 10, &[SliceKind::Saturating]), &["throughput < -5%"]);
        for slice in &mut record.slices {
            if slow.contains(&(slice.key.variant.as_str(), slice.key.fork)) {
                slice.load.completed /= 2;
            }
        }
        summarize(&record)
    };
    let (build, base, again) = (LAYER, "http4s.Vanilla", "http4s.Vanilla (again)");
    let summary = with_slow_starts(&[(build, 3), (build, 6), (build, 8)]);
    assert_eq!((verdicts(&summary), check(&summary).outcome), (vec![Undecided], CheckResult::Undecided));
    let reason = check(&summary).limits[0].reason.as_deref().unwrap();
    assert!(reason.starts_with("3 of 10 starts settled beyond the limit, at −5"), "{reason}");
    assert!(reason.ends_with("of the baseline's starts, none did"), "{reason}");
    // A mode that the baseline has as often is no change.
    assert_eq!(verdicts(&with_slow_starts(&[(build, 3), (base, 6)])), [NoMaterialChange]);
    assert_eq!(verdicts(&with_slow_starts(&[(build, 3), (again, 6)])), [NoMaterialChange]);
    assert_eq!(verdicts(&with_slow_starts(&[(base, 6)])), [NoMaterialChange]);
}

/// A layer and a control of these speeds relative to the baseline, held against limits.
fn beside_a_control(layer: f64, control_speed: f64, limits: &[&str]) -> Summary {
    let truths = [baseline(), variant(LAYER, layer), Truth { speed: control_speed, ..control() }];
    summarize(&limited(synthetic::run(&truths, 8, &synthetic::ALL_KINDS), limits))
}

#[test]
fn a_baseline_that_differs_from_itself_by_more_than_a_limit_leaves_that_limit_undecided() {
    use LimitVerdictKind::{Improved, NoMaterialChange, Regressed, Undecided};
    for (layer, known) in [(0.95, Regressed), (1.0, NoMaterialChange), (1.05, Improved)] {
        assert_eq!(verdicts(&beside_a_control(layer, 1.0, &["cpu > +3%"])), [known]);
        // Which of two starts is the control is arbitrary: one that is faster says the same.
        for unlike in [0.92, 1.08] {
            let summary = beside_a_control(layer, unlike, &["cpu > +3%"]);
            assert_eq!(verdicts(&summary), [Undecided], "layer {layer}, control {unlike}");
            assert_eq!(check(&summary).outcome, CheckResult::Undecided);
            let reason = check(&summary).limits[0].reason.as_deref().unwrap();
            assert!(reason.contains("second start of itself"), "{reason}");
        }
    }
}

#[test]
fn a_required_improvement_that_is_missing_is_regressed() {
    let summary = beside_a_control(1.0, 1.0, &["cpu > -5%"]);
    assert_eq!(verdicts(&summary), [LimitVerdictKind::Regressed], "the control has no improvement to show");
}

#[test]
fn a_control_within_a_limit_leaves_the_verdict_as_it_is() {
    use LimitVerdictKind::{NoMaterialChange, Undecided};
    let summary = beside_a_control(1.0, 0.95, &["cpu > +3%", "cpu > +10%"]);
    assert_eq!(verdicts(&summary), [Undecided, NoMaterialChange]);
}

#[test]
fn junit_has_a_test_case_per_limit_and_one_that_is_exceeded_fails() {
    let summary = summarize(&limited(synthetic::standard(), &["cpu > +3%", "cpu > +10%", "capacity < -3%"]));
    let cases = test_cases(&summary);
    let [exceeded, kept, unknown] = &cases[..] else { panic!("{} cases", cases.len()) };
    assert_eq!([exceeded, kept, unknown].map(problem_of), ["failure", "", "skipped"]);
    let message = &exceeded.problem.as_ref().unwrap().1;
    assert!(message.contains("4.9 %"), "{message:?}");
    assert_eq!(exceeded.name.as_str(), "http4s.Tapir vs http4s.Vanilla: cpu > +3%");
}

#[test]
fn where_only_time_is_missing_the_next_step_is_more_time() {
    for (forks, others_share) in [(1, 0.0), (2, 0.0), (1, 0.9)] {
        let mut record =
            limited(synthetic::run(&[baseline(), variant(LAYER, 0.95)], forks, &synthetic::ALL_KINDS), &["cpu > +3%"]);
        record.slices.iter_mut().for_each(|slice| slice.server.others_share = Some(others_share));
        let next = summarize(&record).next.unwrap();
        assert!(next.text.starts_with("A longer check is likely to decide."), "{forks}: {next:?}");
        assert!(next.command.contains("--budget"), "{next:?}");
    }
}

#[test]
fn a_list_of_runs_says_what_a_check_came_to() {
    let of = |limits: &[&str]| verdicts_in_words(&summarize(&limited(synthetic::standard(), limits)));
    assert_eq!(of(&["cpu > +10%"]).as_deref(), Some("check passed"));
    assert_eq!(of(&["cpu > +3%"]).as_deref(), Some("check: regressed"));
    assert_eq!(of(&["throughput < -5%"]).as_deref(), Some("check: undecided"));
    assert_eq!(verdicts_in_words(&synthetic::standard_summary()).as_deref(), Some("1 worse"));
}

#[test]
fn what_a_check_has_judged_is_not_called_undecided_beside_it() {
    let noisy = Truth { fork_sd: 0.05, ..variant(LAYER, 1.0) };
    let record = synthetic::run(&[baseline(), noisy], 6, &synthetic::ALL_KINDS);
    let open = "Not decided yet: ";
    let of_run = summarize(&record);
    assert_eq!(of_run.sentences[0].verdict, VerdictKind::Inconclusive);
    assert!(markdown::render(&of_run).contains(open));
    let of_check = markdown::render(&summarize(&limited(record, &["cpu > +40%"])));
    assert!(of_check.starts_with("**No regression: ") && !of_check.contains(open), "{of_check}");
}

#[test]
fn fixed_forks_are_not_cut_short_by_a_limit() {
    let mut record = limited(synthetic::standard(), &["cpu > +3%"]);
    record.header.plan.stop.forks = Forks::Fixed { count: 40 };
    assert_eq!(stop(&record), None);
}

#[test]
fn the_terminal_has_the_sentence_a_row_per_limit_and_what_to_do() {
    let summary = summarize(&limited(synthetic::standard(), &["cpu > +3%", "throughput < -10%"]));
    let text = render(&summary, &Style { colored: false, width: 100 });
    let row = |limit: &str| text.lines().find(|line| line.trim_start().starts_with(limit)).unwrap();
    assert!(text.contains("  Regressed: http4s.Tapir uses "), "{text}");
    assert!(row("cpu > +3%").ends_with("regressed"), "{text}");
    assert!(row("throughput < -10%").ends_with("no material change"), "{text}");
    assert!(text.contains("Repeats the check with the same random order"), "{text}");
    assert!(text.contains("power: in "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.contains("tare ")), "{text}");
}

/// The element that says why a test case did not pass; empty if it passed.
fn problem_of(case: &TestCase) -> &str {
    case.problem.as_ref().map_or("", |(element, _)| element)
}
