//! Findings: what a reader should know before relying on a figure, each with a remedy where there is one.

mod cells;
mod events;
mod odd_starts;
mod words;

use tare_plan::plan::Mode;
use tare_record::LoadRecord;
use tare_record::environment::Environment;
use tare_record::{EndStatus, EventKind, EventLevel, EventName, EventRecord, ForkRecord, RunRecord};
use tare_stats::power::rare_mode_share;

use super::CellAnalysis;
use super::compare::Compared;
use super::machine::disturbances;
use super::recorded_part::recorded_part;
use super::wording;
use crate::format::{count, enumerate, share};
use crate::summary::{Comparison, Finding, Noise, ReportFinding, VerdictKind};

pub(crate) use words::report_finding;

/// All findings, the gravest first, in the order of the run among equals.
pub(super) fn findings(record: &RunRecord, cells: &[CellAnalysis<'_>], compared: &Compared) -> Vec<Finding> {
    let held = || recorded_part(record.header.started_unix_ns, &record.slices);
    let mut all: Vec<Finding> = of_end(record.end, &record.events, held).into_iter().collect();
    all.extend(events::of_events(&record.events, cells));
    all.extend(deaths(record));
    all.extend(cells::of_cells(cells));
    all.extend(of_machine(&record.header.environment, &record.events));
    all.extend(compared.noise.iter().filter_map(|n| of_noise(n, record.header.plan.stop.region)));
    all.extend(cells::few_slices_decide(cells, &compared.disagreeing));
    all.extend(odd_forks_left_out(&compared.comparisons));
    all.extend(cells::more_or_fewer_rounds(cells, &compared.better_rounds, record.header.plan.slices.saturating));
    all.extend(of_forks(record, cells));
    all.extend(skipped(record));
    all.sort_by_key(|f| std::cmp::Reverse(f.severity));
    all
}

/// What to know before relying on the figures of a load, apart from the reasons of its verdict.
pub(crate) fn of_load(record: &LoadRecord) -> Vec<Finding> {
    let held = || recorded_part(record.header.started_unix_ns, &record.intervals);
    let mut all: Vec<Finding> = of_end(record.end, &record.events, held).into_iter().collect();
    all.extend(events::of_events(&record.events, &[]));
    all.extend(of_machine(&record.header.environment, &record.events));
    all.sort_by_key(|f| std::cmp::Reverse(f.severity));
    all
}

/// How the run ended, if it did not complete. An event that says why tare failed replaces this finding. `held` says which
/// part a record without an end holds.
fn of_end(end: Option<(EndStatus, u64)>, events: &[EventRecord], held: impl FnOnce() -> String) -> Option<Finding> {
    let kind = match end.map(|(status, _)| status) {
        Some(EndStatus::Complete) => return None,
        Some(EndStatus::Failed) if has_event(events, EventName::TareFailed) => return None,
        Some(EndStatus::BudgetSpent) => ReportFinding::BudgetSpent,
        Some(EndStatus::Interrupted) => ReportFinding::Interrupted,
        Some(EndStatus::Failed) => ReportFinding::RunFailed,
        None => return Some(report_finding(ReportFinding::RecordUnfinished, &held())),
    };
    Some(report_finding(kind, ""))
}

fn has_event(events: &[EventRecord], name: EventName) -> bool {
    events.iter().any(|event| event.kind.name() == name)
}

/// Servers that died, hung or broke the contract, where no event says so.
fn deaths(record: &RunRecord) -> Vec<Finding> {
    let has_error = |fork: &ForkRecord| {
        let is_about = |e: &&EventRecord| {
            e.variant.as_ref() == Some(&fork.variant) && e.fork.is_none_or(|number| number == fork.fork)
        };
        record.events.iter().filter(is_about).any(|e| e.level == EventLevel::Error)
    };
    let dead = record.forks.iter().filter(|fork| !fork.healthy && !has_error(fork));
    let one = |f: &ForkRecord| format!("{}, start {}: {}", f.variant, f.fork, f.end);
    dead.map(|fork| report_finding(ReportFinding::ServerDied, &one(fork))).collect()
}

/// What about the machine disturbs, unless an event of the run says so.
pub(crate) fn of_machine(environment: &Environment, events: &[EventRecord]) -> Vec<Finding> {
    let is_known = |kind: &EventKind| {
        let same = match kind.name() {
            // The preflight sees by core what the facts say of the machine.
            EventName::CpuPressure => EventName::BusyCore,
            name => name,
        };
        has_event(events, same)
    };
    let found: Vec<EventRecord> =
        disturbances(environment).into_iter().filter(|kind| !is_known(kind)).map(EventRecord::new).collect();
    events::of_events(&found, &[])
}

fn of_noise(noise: &Noise, region: f64) -> Option<Finding> {
    let about = format!("{} on {}", noise.server, noise.scenario);
    let first = noise.currencies.first()?;
    if matches!(first.verdict, VerdictKind::Worse | VerdictKind::Better) {
        return Some(report_finding(ReportFinding::ControlDiffers, &format!("{about}: {}", first.short)));
    }
    let floor = noise.floor.filter(|floor| *floor > region)?;
    let detail = format!("{about}: ±{}, region ±{}", share(floor), share(region));
    Some(report_finding(ReportFinding::NoiseAboveRegion, &detail))
}

/// Forks that count in no currency of their comparison.
fn odd_forks_left_out(comparisons: &[Comparison]) -> Option<Finding> {
    let described: Vec<String> = comparisons.iter().filter_map(wording::odd_forks).collect();
    (!described.is_empty()).then(|| report_finding(ReportFinding::OddForksLeftOut, &described.join("; ")))
}

fn of_forks(record: &RunRecord, cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let compared = cells.iter().filter(|c| !c.cell.baseline && c.cell.forks > 0);
    let forks = compared.map(|c| c.cell.forks).min()?;
    if forks < 2 || record.header.plan.mode == Mode::Sequential {
        return Some(report_finding(ReportFinding::OneFork, ""));
    }
    let rare = share(rare_mode_share(forks));
    let detail = format!("{} can miss a mode that occurs in less than {rare} of starts", count(forks.into(), "start"));
    Some(report_finding(ReportFinding::RareModes, &detail))
}

/// What the plan left out, once for each reason.
fn skipped(record: &RunRecord) -> Vec<Finding> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for skipped in &record.header.plan.skipped {
        match reasons.iter_mut().find(|(because, _)| *because == skipped.because) {
            Some((_, all)) => all.push(skipped.what.clone()),
            None => reasons.push((&skipped.because, vec![skipped.what.clone()])),
        }
    }
    let one = |(because, all): &(&str, Vec<String>)| {
        report_finding(ReportFinding::CellsLeftOut, &format!("{}: {because}", enumerate(all)))
    };
    reasons.iter().map(one).collect()
}
