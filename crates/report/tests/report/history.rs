//! A history of simulated runs: planted changes are found in their places, with their size and their revisions.

use tare_analysis::Currency;
use tare_analysis::history::{History, history, is_check};
use tare_analysis::rfc3339;
use tare_analysis::summarize;
use tare_analysis::summary::{
    CheckResult, CurrencyRatio, LimitCheck, Row, Section, Summary, ValidityState, VerdictKind,
};
use tare_plan::plan::SliceKind;
use tare_report::history;
use tare_report::import::{ImportedFigure, ImportedResult};
use tare_report::text::Style;
use tare_stats::Polarity;

use crate::synthetic::{self, baseline, standard_summary, variant};

const RECORDS: usize = 200;
const DAY_NS: u64 = 86_400_000_000_000;
const CURRENCY: Currency = Currency::CpuPerRequest;
/// Index of the first run, and factor of the ratio from there on.
const PLANTED: [(usize, f64); 6] = [(25, 1.05), (60, 0.95), (72, 1.06), (110, 1.05), (150, 0.94), (185, 1.05)];

/// Run `at` of the history with this ratio.
fn run(standard: &Summary, at: usize, ratio: f64) -> Summary {
    let mut summary = standard.clone();
    summary.run.id = format!("run-{at}");
    summary.run.started_at = rfc3339(at as u64 * DAY_NS);
    summary.run.git_revision = Some(format!("revision-{at}"));
    summary.cells[1].version = Some(format!("1.{}", at / 50));
    let figure = summary.comparisons[0].currencies.iter_mut().find(|figure| figure.name == CURRENCY).unwrap();
    (figure.ratio, figure.lo, figure.hi) = (ratio, Some(ratio * 0.98), Some(ratio * 1.02));
    summary
}

/// Runs whose ratios scatter by 1 % around their level.
fn simulated_runs() -> Vec<Summary> {
    let mut standard = standard_summary();
    standard.cells.iter_mut().for_each(|cell| cell.timeline.clear());
    let mut state = 8_127_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let level = |at: usize| PLANTED.iter().filter(|(from, _)| at >= *from).map(|(_, factor)| factor).product::<f64>();
    (0..RECORDS).map(|at| run(&standard, at, 1.1 * level(at) * (0.01 * normal()).exp())).collect()
}

fn simulated() -> History {
    let mut runs = simulated_runs();
    // The order in the folder does not matter.
    runs.reverse();
    history(&runs, &[], CURRENCY)
}

/// A run with this number of users.
pub fn with_users(run: &Summary, users: &str) -> Summary {
    let row = Row { key: "users".to_owned(), value: users.to_owned(), source: None };
    Summary { plan: vec![Section { title: "load".to_owned(), rows: vec![row] }], ..run.clone() }
}

#[test]
fn runs_with_other_numbers_of_users_are_on_lines_of_their_own() {
    let runs: Vec<Summary> = (0..4).map(|at| run(&standard_summary(), at, 1.1)).collect();
    let figures = |users: [&str; 4]| -> Vec<String> {
        let runs: Vec<Summary> = runs.iter().zip(users).map(|(run, users)| with_users(run, users)).collect();
        history(&runs, &[], CURRENCY).lines.into_iter().map(|line| line.figure).collect()
    };
    let of_one = figures(["8"; 4]);
    assert!(of_one.len() == 1 && of_one[0].ends_with(", × http4s.Vanilla"), "{of_one:?}");
    let of_two = ["8 users", "64 users"].map(|users| format!("{}, {users}", of_one[0]));
    assert_eq!(figures(["8", "64", "8", "64"]), of_two);
}

#[test]
fn six_planted_changes_are_found_in_their_places_and_no_others() {
    let history = simulated();
    assert_eq!(history.lines.len(), 1);
    let line = &history.lines[0];
    assert_eq!((line.points.len(), line.points[0].run.as_str()), (RECORDS, "run-0"));
    assert_eq!(line.changes.len(), PLANTED.len(), "{:#?}", line.changes);
    for (found, (at, factor)) in line.changes.iter().zip(PLANTED) {
        assert!(found.at.abs_diff(at) <= 1, "{found:#?}");
        assert!(found.lo < factor && factor < found.hi, "{found:#?}");
        assert_eq!(found.verdict, if factor > 1.0 { VerdictKind::Worse } else { VerdictKind::Better });
        assert_eq!(found.after_run, format!("run-{}", found.at - 1));
        assert_eq!(found.first_revision, Some(format!("revision-{}", found.at)));
    }
}

#[test]
fn a_run_has_one_point_in_a_line_though_two_groups_compare_the_same_servers() {
    let twice = summarize(&synthetic::in_two_groups(synthetic::standard()));
    let runs = [run(&twice, 0, 1.1), run(&twice, 1, 1.1)];
    let lines = history(&runs, &[], CURRENCY).lines;
    let told: Vec<(&str, usize)> = lines.iter().map(|line| (line.scenario.as_str(), line.points.len())).collect();
    assert_eq!(told, [("SimpleGet (group http4s)", 2), ("SimpleGet (group again)", 2)]);
}

#[test]
fn the_page_has_every_run_and_change_and_no_script() {
    let page = history::render_page(&simulated());
    assert_eq!(page.matches("<circle").count(), RECORDS);
    assert_eq!(page.matches("class=\"change ").count(), PLANTED.len());
    // 1.0, 1.1, 1.2 and 1.3.
    assert_eq!(page.matches("class=\"version\"").count(), 4);
    let answer = page.split_once("<p class=\"answer\">").unwrap().1;
    assert!(answer.starts_with("6 changes of level in 1 line over 200 runs. The latest: "), "{answer}");
    assert!(page.contains("lower is better · level now "), "{page}");
    assert!(!page.contains("viewBox"), "a narrow screen would shrink the letters");
    assert!(!page.contains("<script") && !page.contains("NaN") && !page.contains("inf"), "{page}");
}

#[test]
fn the_text_has_the_last_runs_and_all_changes() {
    let text = history::render(&simulated(), 5, &Style { colored: false, width: 100 });
    assert!(text.contains("200 runs, 6 changes of level") && text.contains("195 earlier"), "{text}");
    let (headline, lines) = text.split_once("\n\n").unwrap();
    assert!(headline.starts_with("6 changes of level in 1 line over 200 runs. The latest: "), "{headline}");
    assert_eq!(lines.lines().filter(|line| line.contains(" after run-")).count(), PLANTED.len());
    assert!(text.trim_end().lines().last().unwrap().contains("run-199"), "{text}");
    let empty = history::render(&history(&[], &[], CURRENCY), 5, &Style { colored: false, width: 100 });
    assert!(empty.contains("no figures yet"));
}

#[test]
fn void_cells_and_other_currencies_are_left_out() {
    let mut summary = standard_summary();
    assert_eq!(history(std::slice::from_ref(&summary), &[], Currency::Capacity).lines, []);
    summary.cells[0].validity.state = ValidityState::Void;
    assert_eq!(history(&[summary], &[], CURRENCY).lines, [], "its baseline is void");
}

/// The titles of the lines of these runs: server and figure.
fn titles(runs: &[Summary], currency: Currency) -> Vec<String> {
    let lines = history(runs, &[], currency).lines;
    lines.into_iter().map(|line| format!("{}: {}", line.name, line.figure)).collect()
}

#[test]
fn figures_of_different_loads_are_different_lines() {
    let fixed = standard_summary();
    let mut saturating = fixed.clone();
    let figure = |summary: &mut Summary, currency: Currency, change: fn(&mut CurrencyRatio)| {
        change(summary.comparisons[0].currencies.iter_mut().find(|figure| figure.name == currency).unwrap());
    };
    figure(&mut saturating, CURRENCY, |figure| figure.load = SliceKind::Saturating);
    figure(&mut saturating, Currency::LatencyP99, |figure| figure.label = "p99 at full load".to_owned());
    let runs = [fixed, saturating];
    let [of_fixed, of_saturating] = ["CPU/request under load at a constant rate", "CPU/request"]
        .map(|f| format!("http4s.Tapir: {f}, × http4s.Vanilla"));
    assert_eq!(titles(&runs, CURRENCY), [of_fixed, of_saturating]);
    assert_eq!(titles(&runs, Currency::LatencyP99).len(), 2);
    assert_eq!(titles(&runs, Currency::Throughput).len(), 1);
}

#[test]
fn versions_that_one_run_compares_are_different_lines() {
    let truths = [baseline(), variant("a@1", 0.95), variant("a@2", 0.9)];
    let mut summary = summarize(&synthetic::run(&truths, 5, &[SliceKind::Saturating]));
    summary.cells[1..].iter_mut().for_each(|cell| cell.server = "a".to_owned());
    let expected = ["a@1", "a@2"].map(|name| format!("{name}: throughput, × http4s.Vanilla"));
    assert_eq!(titles(&[summary.clone()], Currency::Throughput), expected);
    // One version against the other.
    summary.cells.iter_mut().for_each(|cell| cell.server = "a".to_owned());
    assert_eq!(titles(&[summary], Currency::Throughput), expected);
}

#[test]
fn a_server_that_is_asked_in_another_protocol_is_another_line_and_one_of_another_version_is_not() {
    let (plain, mut over_h2, mut of_version) = (standard_summary(), standard_summary(), standard_summary());
    over_h2.cells.iter_mut().for_each(|cell| cell.variant += " over h2");
    of_version.cells.iter_mut().for_each(|cell| {
        cell.variant += "@2";
        cell.version = Some("2".to_owned());
    });
    let expected = ["", " over h2"].map(|over| format!("http4s.Tapir{over}: throughput, × http4s.Vanilla{over}"));
    assert_eq!(titles(&[plain, over_h2, of_version], Currency::Throughput), expected);
}

#[test]
fn a_summary_file_is_enough() {
    let text = tare_report::json::render(&standard_summary()).unwrap();
    let read: Summary = serde_json::from_str(&text).unwrap();
    assert_eq!(history(&[read], &[], CURRENCY).lines[0].name, "http4s.Tapir");
}

/// What another tool measured on some day, as `file` has it.
fn imported(name: &str, file: &str, day: usize, value: f64) -> ImportedResult {
    let figure = ImportedFigure::new(name, "mean", "ns", Polarity::LowerIsBetter, value);
    ImportedResult {
        schema: tare_analysis::history::IMPORT_SCHEMA.to_owned(),
        tool: "criterion".to_owned(),
        file: file.to_owned(),
        at: rfc3339(day as u64 * DAY_NS),
        revision: None,
        figures: vec![figure],
        left_out: Vec::new(),
    }
}

#[test]
fn a_figure_of_nothing_counts_in_no_level_and_hides_no_change() {
    let values = [1.0, 1.01, 0.99, 1.0, 0.0, 1.01, 0.99, 0.0, 2.0, 2.02, 1.98, 2.0, 2.02, 1.98, 0.0];
    let results: Vec<_> = values.iter().enumerate().map(|(day, value)| imported("a", "k.json", day, *value)).collect();
    let read = history(&[], &results, CURRENCY);
    let [change] = &read.lines[0].changes[..] else { panic!("{read:#?}") };
    assert_eq!(
        (change.at, change.after_at.as_str(), change.first_at.as_str()),
        (8, &*rfc3339(6 * DAY_NS), &*rfc3339(8 * DAY_NS))
    );
    assert!((change.ratio - 2.0).abs() < 0.01, "{change:?}");
    let (page, text) = (history::render_page(&read), history::render(&read, 5, &Style { colored: false, width: 100 }));
    for told in [&page, &text] {
        assert!(told.contains("3 values of 0 or less left out of the levels"), "{told}");
        // The file has one name on all days.
        assert!(told.contains("after k.json (1970-01-07 00:00:00), from k.json (1970-01-09 00:00:00) on"), "{told}");
    }
    assert!(page.contains("level now 2.000"), "{page}");

    let nothing: Vec<_> = (0..8).map(|day| imported("a", "k.json", day, 0.0)).collect();
    let page = history::render_page(&history(&[], &nothing, CURRENCY));
    assert!(!page.contains("level now") && !page.contains("NaN") && !page.contains("inf"), "{page}");
}

#[test]
fn runs_of_a_check_are_in_no_history() {
    let mut summary = standard_summary();
    summary.check = Some(LimitCheck { outcome: CheckResult::Holds, limits: Vec::new(), legend: None, power: None });
    let text = tare_report::json::render(&summary).unwrap();
    for run in [summary, serde_json::from_str::<Summary>(&text).unwrap()] {
        assert!(is_check(&run));
        assert_eq!(history(&[run], &[], CURRENCY).lines, []);
    }
}

#[test]
fn hostile_names_are_text_on_the_page() {
    let result = imported("<img src=x>\u{1b}", "</title>", 0, 1.0);
    let page = history::render_page(&history(&[], &[result], CURRENCY));
    assert!(!page.contains("<img") && !page.contains("</title></title>") && !page.contains('\u{1b}'), "{page}");
}
