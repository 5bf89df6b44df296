//! Groups that share the names of their servers and scenarios.

use tare_analysis::summarize;
use tare_analysis::summary::{Finding, FindingKind, ReportFinding};
use tare_record::{EventKind, EventRecord};

use crate::synthetic::{in_two_groups, standard};

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
