//! Events of a run as findings. Equal events of several variants or forks make one finding.

use tare_record::{EventLevel, EventRecord};

use crate::format::enumerate;
use crate::summarize::CellAnalysis;
use crate::summary::{Finding, FindingKind, Severity};

/// One finding for each error, and one for all other events that are equal.
pub(super) fn of_events(events: &[EventRecord], cells: &[CellAnalysis<'_>]) -> Vec<Finding> {
    let mut alike: Vec<Vec<&EventRecord>> = Vec::new();
    for event in events {
        match alike.iter_mut().find(|together| are_equal(together[0], event)) {
            Some(together) => together.push(event),
            None => alike.push(vec![event]),
        }
    }
    alike.iter().map(|together| finding(together, cells)).collect()
}

/// Whether two events differ only in where they happened. Errors are never merged: each has its own log.
fn are_equal(one: &EventRecord, other: &EventRecord) -> bool {
    let content = |e: &EventRecord| (e.level, e.kind.clone(), e.title.clone(), e.text.clone());
    one.level != EventLevel::Error && content(one) == content(other)
}

fn finding(together: &[&EventRecord], cells: &[CellAnalysis<'_>]) -> Finding {
    let event = together[0];
    let variants = distinct(together.iter().filter_map(|e| e.variant.clone()));
    let scenarios = distinct(together.iter().filter_map(|e| e.scenario.clone()));
    let forks = distinct(together.iter().filter_map(|e| e.fork.map(|fork| fork.to_string())));
    let word = if forks.len() > 1 { "starts" } else { "start" };
    let forks = (!forks.is_empty()).then(|| format!("{word} {}", enumerate(&forks)));
    let place: Vec<String> = scenarios.into_iter().chain(forks).collect();
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    let title = event.title.clone();
    Finding {
        kind: FindingKind::Event(event.kind.name()),
        severity: match event.level {
            EventLevel::Info => Severity::Info,
            EventLevel::Warning => Severity::Warning,
            EventLevel::Error => Severity::Error,
        },
        title: if variants.is_empty() { title } else { format!("{}: {title}", enumerate(&variants)) },
        text: format!("{}{place}", event.text),
        remedy: event.remedy.clone(),
        cell: cell_of(event, cells).filter(|_| variants.len() == 1),
        log: event.log.clone(),
    }
}

fn cell_of(event: &EventRecord, cells: &[CellAnalysis<'_>]) -> Option<String> {
    let names = |named: &Option<String>, mine: &str| named.as_deref() == Some(mine);
    let cell = cells.iter().find(|c| {
        names(&event.group, &c.cell.group)
            && names(&event.variant, &c.cell.variant)
            && (event.scenario.is_none() || names(&event.scenario, &c.cell.scenario))
    });
    cell.map(|c| c.cell.id.clone())
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    names.for_each(|name| {
        if !all.contains(&name) {
            all.push(name);
        }
    });
    all
}
