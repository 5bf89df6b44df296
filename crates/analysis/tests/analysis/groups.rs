//! Groups that share the names of their servers and scenarios.

use tare_analysis::summarize;
use tare_analysis::summary::{Finding, FindingKind, ReportFinding, Summary};
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

#[test]
fn an_event_of_one_group_does_not_hide_a_death_in_another() {
    let mut record = in_two_groups(standard());
    let fork = record.forks.iter_mut().find(|fork| fork.group == "again").unwrap();
    (fork.healthy, fork.end) = (false, "killed by signal 9".to_owned());
    let (fork, variant) = (Some(fork.fork), Some(fork.variant.clone()));
    for (group, is_found) in [(Some("http4s"), true), (Some("again"), false), (None, false)] {
        let died = EventRecord::new(EventKind::NoAnswers { failure: String::new() });
        let group = group.map(str::to_owned);
        record.events = vec![EventRecord { group, fork, variant: variant.clone(), ..died }];
        let is_death = |finding: &Finding| finding.kind == FindingKind::Report(ReportFinding::ServerDied);
        assert_eq!(summarize(&record).findings.iter().any(is_death), is_found, "{:?}", record.events[0].group);
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
    let fork = record.forks.iter_mut().find(|fork| is_meant(&fork.group, &fork.variant)).unwrap();
    (fork.healthy, fork.end) = (false, "killed by signal 9".to_owned());
    let slice = record.slices.iter_mut().find(|slice| is_meant(&slice.key.group, &slice.key.variant)).unwrap();
    let timeouts = ErrorTally { count: 9_000, example: "no answer".to_owned() };
    (slice.load.failed, slice.load.errors) = (9_000, [(ErrorClass::Timeout, timeouts)].into_iter().collect());
    let summary = summarize(&record);
    for (kind, says) in [
        (ReportFinding::ServerDied, "http4s.Tapir (group again), start 1: killed by signal 9"),
        (ReportFinding::CellVoid, "http4s.Tapir on SimpleGet (group again): "),
    ] {
        let text = told(&summary, FindingKind::Report(kind));
        assert!(text.contains(says), "{says}: {text}");
    }
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
