//! Runs of several machines: what they say together, and of a machine that nobody measured.

use tare_analysis::differences::{self, MachineFigure, MachineTable, RecordedRun};
use tare_analysis::summary::{Estimate, VerdictKind};
use tare_analysis::{Summary, summarize};
use tare_plan::Currency;
use tare_plan::plan::SliceKind;
use tare_report::differences::{render, render_markdown};
use tare_report::json;

use crate::compare::{STYLE, TAPIR, record};
use crate::synthetic::{self, baseline, variant};

/// Runs of a layer that leaves this share of the baseline's throughput, each on a machine.
fn over_machines(runs: &[(&str, f64)]) -> MachineTable {
    let summaries: Vec<Summary> =
        runs.iter().enumerate().map(|(at, (_, speed))| summarize(&record(1.0, *speed, &format!("run-{at}")))).collect();
    over(&summaries, &runs.iter().map(|(machine, _)| *machine).collect::<Vec<&str>>())
}

fn over(summaries: &[Summary], machines: &[&str]) -> MachineTable {
    let both = summaries.iter().zip(machines);
    let runs: Vec<RecordedRun<'_>> = both.map(|(summary, machine)| RecordedRun { summary, machine }).collect();
    differences::compare_machines(&runs).unwrap()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn throughput(table: &MachineTable) -> &MachineFigure {
    table.figures.iter().find(|figure| figure.of.name == Currency::Throughput).unwrap()
}

#[test]
fn three_machines_give_a_mean_and_an_interval_for_a_fourth() {
    let table = over_machines(&[("epyc", 0.70), ("xeon", 0.72), ("arm", 0.74)]);
    let figure = throughput(&table);
    assert_eq!(figure.verdict, VerdictKind::Worse, "{figure:#?}");
    let (mean, another) = (figure.mean, figure.another_machine.unwrap());
    assert!((mean.value - 0.72).abs() < 0.005 && another.value == mean.value, "{figure:#?}");
    // t with 2 and with 1 degree of freedom: 4.30 and 12.7.
    let width = |estimate: Estimate| (estimate.hi.unwrap() / estimate.lo.unwrap()).ln();
    assert!(width(another) > 2.9 * width(mean), "{figure:#?}");
    assert!(figure.machines_differ && figure.second_to_first.is_none(), "{figure:#?}");
    let text = render(&table, &STYLE);
    for said in
        ["3 machines (3 runs)", "Machine 2: xeon (run run-1)", "another machine", "these 3", "worse: ", "differ"]
    {
        assert!(text.contains(said), "no {said} in {text}");
    }
    let markdown = render_markdown(&table);
    assert!(markdown.contains("| http4s.Tapir against http4s.Vanilla | SimpleGet | throughput |"), "{markdown}");
    let again: MachineTable = serde_json::from_str(&json::render(&table).unwrap()).unwrap();
    assert_eq!(again.figures.len(), table.figures.len());
}

#[test]
fn two_machines_show_both_ratios_and_claim_nothing_of_a_third() {
    let table = over_machines(&[("epyc", 0.70), ("xeon", 0.80)]);
    for figure in &table.figures {
        assert_eq!((figure.verdict, figure.mean.lo, figure.another_machine), (VerdictKind::NoInterval, None, None));
    }
    let figure = throughput(&table);
    let ratio = figure.second_to_first.unwrap();
    assert!(figure.machines_differ && ratio.lo.unwrap() < 8.0 / 7.0 && 8.0 / 7.0 < ratio.hi.unwrap(), "{figure:#?}");
    let text = on_one_line(&render(&table, &STYLE));
    assert!(text.contains("nothing is said of a third") && text.contains("2 / 1"), "{text}");
    let alike = over_machines(&[("epyc", 0.70), ("xeon", 0.70)]);
    assert!(!throughput(&alike).machines_differ, "{:#?}", throughput(&alike));
}

#[test]
fn runs_of_one_machine_are_combined_before_machines_are() {
    let table = over_machines(&[("epyc", 0.70), ("xeon", 0.80), ("epyc", 0.72)]);
    assert_eq!(table.machines.iter().map(|one| one.runs.len()).collect::<Vec<_>>(), [2, 1]);
    let epyc = throughput(&table).machines[0].unwrap();
    assert_eq!((epyc.runs, epyc.starts), (2, 16));
    assert!((epyc.ratio.value - (0.70f64 * 0.72).sqrt()).abs() < 0.005, "{epyc:?}");
    // Its two runs disagree beyond the scatter of their starts, so its interval is that of two runs and not of 16 starts.
    assert!(epyc.ratio.hi.unwrap() / epyc.ratio.lo.unwrap() > 1.3, "{epyc:?}");
}

#[test]
fn what_differs_in_a_later_run_of_a_machine_is_told() {
    let mut summaries = [0.70, 0.80, 0.72].map(|speed| summarize(&record(1.0, speed, "run")));
    summaries[2].plan[0].rows[0].value = "64".to_owned();
    let table = over(&summaries, &["epyc", "xeon", "epyc"]);
    assert_eq!(table.machines.iter().map(|one| one.environment.len()).collect::<Vec<_>>(), [1, 0]);
    assert!(render(&table, &STYLE).contains("What else differs on machine 1"));
}

#[test]
fn two_groups_that_compare_the_same_servers_are_no_two_runs_of_a_machine() {
    let summaries = [0.70, 0.80].map(|speed| summarize(&synthetic::in_two_groups(record(1.0, speed, "run"))));
    let table = over(&summaries, &["epyc", "xeon"]);
    let figures: Vec<_> = table.figures.iter().filter(|figure| figure.of.name == Currency::Throughput).collect();
    let scenarios: Vec<&str> = figures.iter().map(|figure| figure.of.scenario.as_str()).collect();
    assert_eq!(scenarios, ["SimpleGet (group http4s)", "SimpleGet (group again)"]);
    for figure in figures {
        let epyc = figure.machines[0].unwrap();
        assert_eq!((epyc.runs, epyc.starts), (1, 8));
    }
}

#[test]
fn runs_of_unknown_machines_are_no_machine_together() {
    let unknown = "unknown, 0-3, 8 GiB";
    let table = over_machines(&[("epyc", 0.70), (unknown, 0.50), ("xeon", 0.80), (unknown, 0.90)]);
    let names: Vec<&str> = table.machines.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names, table.headline.contains("on 2 machines (2 runs)")), (vec!["epyc", "xeon"], true));
    for run in ["run-1", "run-3"] {
        let note = format!("Run {run} is left out: its machine is not known ({unknown}).");
        assert!(table.notes.contains(&note), "{:?}", table.notes);
    }
    let summaries = ["one", "two"].map(|id| summarize(&record(1.0, 0.8, id)));
    let runs = [0, 1].map(|at| RecordedRun { summary: &summaries[at], machine: unknown });
    assert!(differences::compare_machines(&runs).is_err());
}

#[test]
fn a_figure_that_one_machine_lacks_is_a_figure_of_the_others() {
    let mut summaries = [0.70, 0.72, 0.74].map(|speed| summarize(&record(1.0, speed, "run")));
    summaries[2].comparisons[0].currencies.retain(|ratio| ratio.name != Currency::Throughput);
    let table = over(&summaries, &["epyc", "xeon", "arm"]);
    let figure = throughput(&table);
    assert_eq!((figure.verdict, figure.machines[2]), (VerdictKind::NoInterval, None));
    assert!(render(&table, &STYLE).contains("two machines, no interval"));
}

#[test]
fn machines_without_two_starts_of_a_server_are_refused() {
    let one = synthetic::run(&[baseline(), variant(TAPIR, 0.9)], 1, &[SliceKind::Saturating]);
    let one = summarize(&one);
    let runs = ["epyc", "xeon"].map(|machine| RecordedRun { summary: &one, machine });
    let error = differences::compare_machines(&runs).unwrap_err().to_string();
    assert!(error.contains("in two starts") && error.contains(TAPIR), "{error}");
}
