//! Other tools' figures together with tare's.

use tare_analysis::summary::ToolFigure;
use tare_analysis::{Summary, summarize};
use tare_plan::Engine;
use tare_record::cross_check::{CrossCheckOutcome, CrossCheckRecord, ToolFigures};
use tare_report::text::Style;
use tare_report::{gatling, markdown, text};

use crate::synthetic::{baseline, sequential, standard_summary};

fn with(outcome: CrossCheckOutcome) -> Summary {
    let mut record = sequential(&[baseline()]);
    record.cross_checks.push(CrossCheckRecord {
        engine: Engine::Gatling,
        version: "3.15.1".to_owned(),
        fork: 1,
        group: "http4s".to_owned(),
        scenario: "SimpleGet".to_owned(),
        variant: "http4s.Vanilla".to_owned(),
        command: vec!["java".to_owned(), "a b".to_owned()],
        users: 8,
        outcome,
        output: String::new(),
    });
    summarize(&record)
}

pub fn measured() -> Summary {
    with(CrossCheckOutcome::Measured(ToolFigures {
        window_ns: 2_000_000_000,
        ok: 10_000,
        failed: 3,
        mean_ns: 20e6,
        max_ns: 90_000_000,
        percentiles: vec![(50.0, 3_000_000), (99.0, 40_000_000)],
        resolution_ns: 1_000_000,
    }))
}

pub fn not_possible() -> Summary {
    with(CrossCheckOutcome::NotPossible { because: "it speaks no WebSocket".to_owned() })
}

#[test]
fn a_ratio_stands_where_the_tools_steps_are_fine_enough_for_one() {
    let summary = measured();
    let check = &summary.cross_checks[0];
    let named = |name: &str| check.figures.iter().find(|figure| figure.name == name).unwrap();
    let cell = &summary.cells[0];
    assert_eq!((check.cell.as_str(), check.command.as_str()), (cell.id.as_str(), "java 'a b'"));
    let throughput = named("throughput");
    assert_eq!((throughput.theirs, throughput.ours), (5_000.0, cell.throughput_per_s.map(|e| e.value)));
    let p99: &ToolFigure = named("p99");
    assert!((p99.ratio.unwrap() - 40e6 / p99.ours.unwrap()).abs() < 1e-9);
    let coarse = named("p50");
    assert!(coarse.ours.is_some() && coarse.ratio.is_none(), "a millisecond is a third of three");
}

#[test]
fn other_tools_have_a_table_of_their_own_in_terminal_and_markdown() {
    let shown = text::render(&measured(), &Style { colored: false, width: 140 });
    assert!(
        shown.contains("Cross-checks") && shown.contains("gatling 3.15.1") && shown.contains("5.00 k/s (× "),
        "{shown}"
    );
    let document = markdown::render(&measured());
    assert!(document.contains("## Cross-checks") && document.contains("| gatling 3.15.1 | 5.00 k/s"), "{document}");
}

#[test]
fn what_a_tool_cannot_be_asked_is_said_instead_of_figures() {
    let summary = not_possible();
    assert_eq!(summary.cross_checks[0].note.as_deref(), Some("cannot be asked this: it speaks no WebSocket"));
    let shown = text::render(&summary, &Style { colored: false, width: 140 });
    assert!(shown.contains("gatling on SimpleGet of http4s.Vanilla: cannot be asked this"), "{shown}");
    assert!(
        text::render(&summarize(&sequential(&[baseline()])), &Style { colored: false, width: 140 })
            .find("Cross-check")
            .is_none()
    );
}

#[test]
fn gatling_counts_failures_in_the_rate_of_all() {
    let mut summary = standard_summary();
    summary.cells.truncate(1);
    let load = &mut summary.cells[0].latency[0];
    (load.pace.answers_per_s, load.pace.requests_failed) = (600.0, load.response.count / 2);
    let text = gatling::render(&summary);
    assert!(text.contains(" 900.00 (OK=600.00 KO=300.00)"), "{text}");
}
