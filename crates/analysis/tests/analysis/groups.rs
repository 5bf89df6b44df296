//! Groups that share the names of their servers and scenarios.

use tare_analysis::summarize;
use tare_analysis::summary::{FindingKind, ReportFinding, Summary};
use tare_plan::plan::SliceKind;
use tare_record::{ErrorClass, ErrorTally, EventKind, EventName, EventRecord};

use crate::synthetic::{self, Truth, baseline, control, in_two_groups, standard, variant};

#[test]
fn a_cell_has_the_starts_and_warm_ups_of_its_own_group() {
    let mut record = in_two_groups(standard());
    record.warmups.iter_mut().filter(|warmup| warmup.group == "again").for_each(|warmup| warmup.steady = false);
    for fork in record.forks.iter_mut().filter(|fork| fork.group == "again") {
        fork.command = vec!["again".to_owned()];
    }
    let cells = summarize(&record).cells;
    assert_eq!(cells.len(), 6);
    for (cell, one) in cells[3..].iter().zip(&cells[..3]) {
        assert_eq!((cell.variant.as_str(), cell.steady_forks, one.steady_forks), (one.variant.as_str(), 0, 8));
        assert!(cell.command == "again" && one.command.starts_with("java "), "{} {}", cell.command, one.command);
    }
}

/// Title and text of all findings of a kind.
fn told(summary: &Summary, kind: FindingKind) -> String {
    let of_kind = summary.findings.iter().filter(|finding| finding.kind == kind);
    of_kind.map(|finding| format!("{}: {}\n", finding.title, finding.text)).collect()
}

#[test]
fn what_is_found_in_one_of_two_groups_is_told_with_the_group() {
    let is_meant = |group: &str, variant: &str| (group, variant) == ("again", "http4s.Tapir");
    let mut record = in_two_groups(standard());
    let slice = record.slices.iter_mut().find(|slice| is_meant(&slice.key.group, &slice.key.variant)).unwrap();
    let timeouts = ErrorTally { count: 9_000, example: "no answer".to_owned() };
    (slice.load.failed, slice.load.errors) = (9_000, [(ErrorClass::Timeout, timeouts)].into_iter().collect());
    let summary = summarize(&record);
    let text = told(&summary, FindingKind::Report(ReportFinding::CellVoid));
    assert!(text.contains("http4s.Tapir on SimpleGet (group again): "), "{text}");
    let reason = &summary.trust.reasons[0];
    assert!(reason.starts_with("http4s.Tapir on SimpleGet (group again) is void: "), "{reason}");

    record.slices.retain(|slice| !is_meant(&slice.key.group, &slice.key.variant));
    let text = told(&summarize(&record), FindingKind::Report(ReportFinding::CellsUnmeasured));
    assert!(text.contains("SimpleGet (group again): http4s.Tapir"), "{text}");

    let event = EventRecord::new(EventKind::NoAnswers { failure: String::new() });
    let (group, variant) = (Some("again".to_owned()), Some("http4s.Tapir".to_owned()));
    record.events = vec![EventRecord { group, variant, ..event }];
    let text = told(&summarize(&record), FindingKind::Event(EventName::NoAnswers));
    assert!(text.starts_with("http4s.Tapir (group again): "), "{text}");
}

#[test]
fn a_control_that_differs_is_told_with_its_group() {
    let unlike = Truth { speed: 0.8, ..control() };
    let of_one = synthetic::run(&[baseline(), variant("http4s.Tapir", 0.95), unlike], 8, &[SliceKind::Saturating]);
    let text = told(&summarize(&in_two_groups(of_one)), FindingKind::Report(ReportFinding::ControlDiffers));
    for says in ["http4s.Vanilla on SimpleGet (group http4s): ", "http4s.Vanilla on SimpleGet (group again): "] {
        assert!(text.contains(says), "{text}");
    }
}
