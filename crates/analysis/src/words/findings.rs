//! Findings: what a reader should know before relying on a figure, each with a remedy where there is one.

use tare_plan::plan::{Mode, Stop};
use tare_record::environment::Environment;
use tare_record::{EndStatus, EventKind, EventLevel, EventName, EventRecord, LoadRecord, PauseCause, RunRecord};
use tare_units::{distinct, grouped_by};

use crate::cell::{CellAnalysis, recorded_part};
use crate::compare::Compared;
use crate::format::{Change, Unit, count, enumerate, share, single};
use crate::summary::{
    Cell, Comparison, Finding, FindingKind, Noise, PauseTally, ReportFinding, ValidityState, with_group,
};

/// Above this share of time in which something waited for a CPU, the machine is busy with other work.
const PRESSURE: f64 = 0.05;
/// Governors that change the clock speed with the load.
const SCALING: [&str; 4] = ["powersave", "schedutil", "ondemand", "conservative"];

/// How many scenarios a finding names. The cells give all reasons.
const SCENARIOS: usize = 6;
/// Above this share of the server's CPU time, the cost of the probes is a finding.
const PROBING_SHARE: f64 = 0.01;

/// All findings, the gravest first, in the order of the run among equals.
pub(crate) fn findings(record: &RunRecord, cells: &[CellAnalysis<'_>], compared: &Compared) -> Vec<Finding> {
    let plan = &record.header.plan;
    let held = || recorded_part(record.header.started_unix_ns, &record.slices);
    let mut all: Vec<Finding> = of_end(record.end, held).into_iter().collect();
    all.extend(of_events(&record.events, cells));
    all.extend(of_cells(cells));
    all.extend(of_machine(&record.header.environment, &record.events));
    all.extend(compared.noise.iter().filter_map(|noise| of_noise(noise, &compared.noise, &plan.stop)));
    all.extend(odd_forks_left_out(&compared.comparisons));
    let mut forks = cells.iter().filter(|c| !c.cell.baseline && c.cell.forks > 0).map(|c| c.cell.forks).peekable();
    let has_one = forks.peek().is_some() && (plan.mode == Mode::Sequential || forks.any(|forks| forks < 2));
    all.extend(has_one.then(|| Finding::of_report(ReportFinding::OneFork, "")));
    let skipped = grouped_by(plan.skipped.iter().map(|skipped| (&skipped.because, skipped.what.clone())));
    let left_out = |(because, what): &(&String, Vec<String>)| format!("{}: {because}", enumerate(what));
    all.extend(skipped.iter().map(|one| Finding::of_report(ReportFinding::CellsLeftOut, &left_out(one))));
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all
}

/// What to know before relying on the figures of a load, apart from the reasons of its verdict.
pub fn of_load(record: &LoadRecord) -> Vec<Finding> {
    let held = || recorded_part(record.header.started_unix_ns, &record.intervals);
    let mut all: Vec<Finding> = of_end(record.end, held).into_iter().collect();
    all.extend(of_events(&record.events, &[]));
    all.extend(of_machine(&record.header.environment, &record.events));
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all
}

/// How the run ended, if it did not complete. Why tare failed is told by an event. `held` says which part a record
/// without an end holds.
fn of_end(end: Option<(EndStatus, u64)>, held: impl FnOnce() -> String) -> Option<Finding> {
    let (kind, detail) = match end.map(|(status, _)| status) {
        Some(EndStatus::Complete | EndStatus::Failed) => return None,
        Some(EndStatus::BudgetSpent) => (ReportFinding::BudgetSpent, String::new()),
        Some(EndStatus::Interrupted) => (ReportFinding::Interrupted, String::new()),
        None => (ReportFinding::RecordUnfinished, held()),
    };
    Some(Finding::of_report(kind, &detail))
}

fn has_event(events: &[EventRecord], name: EventName) -> bool {
    events.iter().any(|event| event.kind.name() == name)
}

/// One finding for each error, which has its own log, and one for all other events that differ only in where they happened.
fn of_events(events: &[EventRecord], cells: &[CellAnalysis<'_>]) -> Vec<Finding> {
    let error = |at: usize, event: &EventRecord| (event.level == EventLevel::Error).then_some(at);
    let key = |(at, e): (usize, &EventRecord)| (error(at, e), e.level, e.kind.clone(), e.title.clone(), e.text.clone());
    let alike = grouped_by(events.iter().enumerate().map(|event| (key(event), event.1)));
    alike.iter().map(|(_, alike)| of_alike_events(alike, cells)).collect()
}

fn of_alike_events(alike: &[&EventRecord], cells: &[CellAnalysis<'_>]) -> Finding {
    let event = alike[0];
    let all = |of: &dyn Fn(&EventRecord) -> Option<String>| distinct(alike.iter().filter_map(|event| of(event)));
    let (variants, scenarios) = (all(&|e| server(e, cells)), all(&|e| e.scenario.clone()));
    let forks = all(&|e| e.fork.map(|fork| fork.to_string()));
    let word = if forks.len() > 1 { "starts" } else { "start" };
    let forks = (!forks.is_empty()).then(|| format!("{word} {}", enumerate(&forks)));
    let place: Vec<String> = scenarios.into_iter().chain(forks).collect();
    let whose = if variants.is_empty() { String::new() } else { enumerate(&variants) + ": " };
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    let is_of = |cell: &&CellAnalysis<'_>| {
        let cell = &cell.cell;
        (event.group.as_ref(), event.variant.as_ref()) == (Some(&cell.group), Some(&cell.variant))
            && event.scenario.as_ref().is_none_or(|scenario| *scenario == cell.scenario)
    };
    Finding {
        kind: FindingKind::Event(event.kind.name()),
        severity: event.level,
        title: whose + &event.title,
        text: event.text.clone() + &place,
        remedy: event.remedy.clone(),
        cell: cells.iter().find(is_of).filter(|_| variants.len() == 1).map(|cell| cell.cell.id.clone()),
        log: event.log.clone(),
    }
}

/// The server of an event, with its group where another group has one of the same name.
fn server(event: &EventRecord, cells: &[CellAnalysis<'_>]) -> Option<String> {
    let (variant, group) = (event.variant.as_ref()?, event.group.as_deref().unwrap_or_default());
    let alike = cells.iter().filter(|cell| cell.cell.variant == *variant && !group.is_empty());
    Some(with_group(variant, group, alike.map(|cell| &cell.cell.group)))
}

/// Which facts about the machine disturb, unless an event says so. The preflight sees by core what they sum up.
pub(crate) fn of_machine(environment: &Environment, events: &[EventRecord]) -> Vec<Finding> {
    let told = |name| if name == EventName::CpuPressure { EventName::BusyCore } else { name };
    let facts = environment.sections.iter().flat_map(|section| &section.facts);
    let disturbing = facts.filter_map(|(key, value)| disturbance(key, value));
    let new = disturbing.filter(|kind| !has_event(events, told(kind.name())));
    of_events(&new.map(EventRecord::new).collect::<Vec<_>>(), &[])
}

/// The event that the preflight would make of a fact. Facts of unknown form are ignored.
fn disturbance(key: &str, value: &str) -> Option<EventKind> {
    if key == "governor" && SCALING.contains(&value) {
        return Some(EventKind::CpuGovernor { governor: value.to_owned() });
    }
    let (_, pressure) = value.split_once("CPU pressure ")?;
    let waiting_share = pressure.strip_suffix(" %")?.parse::<f64>().ok()? / 100.0;
    (waiting_share > PRESSURE).then_some(EventKind::CpuPressure { waiting_share })
}

fn of_noise(noise: &Noise, all: &[Noise], stop: &Stop) -> Option<Finding> {
    let alike = all.iter().filter(|one| (&one.scenario, &one.server) == (&noise.scenario, &noise.server));
    let scenario = with_group(&noise.scenario, &noise.group, alike.map(|one| &one.group));
    let about = format!("{} on {scenario}", noise.server);
    let (ratio, least) = noise.currencies.iter().find_map(|one| Some((one, stop.least_change(one.name)?)))?;
    if ratio.verdict.is_difference() {
        return Some(Finding::of_report(ReportFinding::ControlDiffers, &format!("{about}: {}", ratio.short)));
    }
    let floor = noise.floor.filter(|floor| *floor > least)?;
    let asked = if stop.limits.is_empty() { "region ±" } else { "limit " };
    let detail = format!("{about}: ±{}, {asked}{}", share(floor), share(least));
    Some(Finding::of_report(ReportFinding::NoiseAboveRegion, &detail))
}

/// Forks that count in no currency of their comparison: `SimpleGet/http4s.Tapir: 3 of 5 starts differ by about +14.0 %, the
/// other 2 by +77.0 %, +60.0 %`.
fn odd_forks_left_out(comparisons: &[Comparison]) -> Option<Finding> {
    let signed = |ratio: f64| Change { ratio, bounds: None }.short();
    let of = |comparison: &Comparison| {
        let Comparison { variant, odd_forks: odd, currencies, .. } = comparison;
        let first = currencies.first().filter(|_| !odd.is_empty())?;
        let scenario = comparison.scenario_among(comparisons);
        let others: Vec<String> = odd.iter().map(|odd| signed(odd.ratio)).collect();
        let starts = count(u64::from(first.forks) + odd.len() as u64, "start");
        let usual = format!("{} of {starts} differ by about {}", first.forks, signed(first.ratio));
        Some(format!("{scenario}/{variant}: {usual}, the other {} by {}", odd.len(), enumerate(&others)))
    };
    let described: Vec<String> = comparisons.iter().filter_map(of).collect();
    (!described.is_empty()).then(|| Finding::of_report(ReportFinding::OddForksLeftOut, &described.join("; ")))
}

/// What many cells may share, and every other void cell by itself.
fn of_cells(cells: &[CellAnalysis<'_>]) -> Vec<Finding> {
    // An event that makes a cell void is a finding by itself.
    let is_void = |cell: &CellAnalysis<'_>| {
        cell.cell.validity.state == ValidityState::Void && cell.evidence.voiding().next().is_none()
    };
    // Where nothing is left to compare, the others are not measured either.
    let has_void_partner = |CellAnalysis { cell, .. }: &CellAnalysis<'_>| {
        let is_partner = |other: &Cell| (&other.group, &other.scenario) == (&cell.group, &cell.scenario);
        cells.iter().any(|other| is_partner(&other.cell) && other.evidence.voiding().next().is_some())
    };
    let is_measured = |cell: &CellAnalysis<'_>| cell.cell.requests_ok + cell.cell.requests_failed > 0;
    let shared = [
        shared(cells, ReportFinding::ForksSetAside, |cell| {
            let aside = cell.evidence.set_aside.forks.len() as u64;
            (aside > 0).then(|| format!("{aside} of {}", count(aside + u64::from(cell.cell.forks), "start")))
        }),
        shared(cells, ReportFinding::RoundsLeftOut, |cell| {
            let rounds = cell.evidence.set_aside.rounds.len() as u64;
            (rounds > 0 && cell.cell.baseline).then(|| count(rounds, "round"))
        }),
        shared(cells, ReportFinding::OutsidePauses, outside_pauses),
        shared(cells, ReportFinding::ProbeCost, |cell| {
            let taken = cell.cell.probes.probe_cpu_share.filter(|taken| *taken > PROBING_SHARE)?;
            Some(format!("({})", share(taken)))
        }),
        shared(cells, ReportFinding::CellsUnmeasured, |cell| {
            (is_void(cell) && !is_measured(cell) && !has_void_partner(cell)).then(String::new)
        }),
    ];
    let void = cells.iter().filter(|cell| is_void(cell) && is_measured(cell)).map(|cell| {
        let Cell { id, variant, validity, .. } = &cell.cell;
        let detail = format!("{variant} on {}: {}", scenario_of(&cell.cell, cells), validity.joined_reasons());
        Finding { cell: Some(id.clone()), ..Finding::of_report(ReportFinding::CellVoid, &detail) }
    });
    shared.into_iter().flatten().chain(void).collect()
}

fn scenario_of(cell: &Cell, cells: &[CellAnalysis<'_>]) -> String {
    cell.scenario_among(cells.iter().map(|one| &one.cell))
}

/// Pauses that the machine or a signal caused, not the server.
fn outside_pauses(cell: &CellAnalysis<'_>) -> Option<String> {
    let is_outside = |tally: &&PauseTally| matches!(tally.cause, PauseCause::Machine | PauseCause::Process);
    let pauses = || cell.cell.probes.pauses.iter().filter(is_outside);
    let longest_ns = pauses().map(|tally| tally.pause_max_ns).max()?;
    let times = pauses().map(|tally| tally.pauses).sum();
    Some(format!("({}, up to {})", count(times, "pause"), single(Unit::Nanos, longest_ns as f64)))
}

/// One finding for all cells for which there are words; `SimpleGet: http4s.Vanilla 3 of 3 starts, http4s.Tapir 2 of 3
/// starts; PostBytes: …`. One about a single cell links to it.
fn shared<'r>(
    cells: &[CellAnalysis<'r>],
    kind: ReportFinding,
    words: impl Fn(&CellAnalysis<'r>) -> Option<String>,
) -> Option<Finding> {
    let found: Vec<(&Cell, String)> = cells.iter().filter_map(|cell| Some((&cell.cell, words(cell)?))).collect();
    let (first, others) = found.split_first()?;
    let only = others.is_empty().then(|| first.0.id.clone());
    let named = |(cell, words): &(&Cell, String)| format!("{} {words}", cell.variant).trim_end().to_owned();
    let scenarios = grouped_by(found.iter().map(|one| (scenario_of(one.0, cells), named(one))));
    let shown = scenarios.iter().take(SCENARIOS).map(|(name, all)| format!("{name}: {}", enumerate(all)));
    let more = scenarios.len().saturating_sub(SCENARIOS) as u64;
    let more = (more > 0).then(|| format!("and {}", count(more, "more scenario")));
    let detail = shown.chain(more).collect::<Vec<_>>().join("; ");
    Some(Finding { cell: only, ..Finding::of_report(kind, &detail) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_where_they_are_understood() {
        for (key, value, expected) in [
            ("governor", "powersave", Some(EventKind::CpuGovernor { governor: "powersave".into() })),
            ("governor", "performance", None),
            ("governor", "not available", None),
            ("load", "load 1.20, CPU pressure 25.0 %", Some(EventKind::CpuPressure { waiting_share: 0.25 })),
            ("load", "load 1.20, CPU pressure 2.5 %", None),
            ("load", "load 1.20, CPU pressure unknown", None),
            ("CPU", "Xeon at 99 %", None),
        ] {
            assert_eq!(disturbance(key, value), expected, "{key}: {value}");
        }
    }
}
