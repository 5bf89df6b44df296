//! Findings about cells: one for all cells that share it. It names them by scenario.

use tare_record::PauseCause;
use tare_units::grouped_by;

use crate::cell::CellAnalysis;
use crate::format::{Unit, count, enumerate, share, single};
use crate::summary::{Cell, Finding, PauseTally, ReportFinding, ValidityState};

/// How many scenarios a finding names. The cells give all reasons.
const SCENARIOS: usize = 6;
/// Above this share of the server's CPU time, the cost of the probes is a finding.
const PROBING_SHARE: f64 = 0.01;

/// What many cells may share, and every other void cell by itself.
pub(crate) fn of_cells(cells: &[CellAnalysis<'_>]) -> Vec<Finding> {
    // An event that makes a cell void is a finding by itself.
    let is_void = |cell: &CellAnalysis<'_>| {
        cell.cell.validity.state == ValidityState::Void && cell.evidence.voiding().next().is_none()
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
        shared(cells, ReportFinding::CellsUnmeasured, |cell| (is_void(cell) && !is_measured(cell)).then(String::new)),
    ];
    let void = cells.iter().filter(|cell| is_void(cell) && is_measured(cell)).map(|cell| {
        let Cell { id, variant, validity, .. } = &cell.cell;
        let detail = format!("{variant} on {}: {}", scenario(&cell.cell, cells), validity.joined_reasons());
        Finding { cell: Some(id.clone()), ..Finding::of_report(ReportFinding::CellVoid, &detail) }
    });
    shared.into_iter().flatten().chain(void).collect()
}

fn scenario(cell: &Cell, cells: &[CellAnalysis<'_>]) -> String {
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

/// One finding for all cells for which there are words; `SimpleGet: http4s.Vanilla 3 of 3 starts, http4s.Tapir 2 of 3 starts;
/// PostBytes: …`. One about a single cell links to it.
fn shared<'r>(
    cells: &[CellAnalysis<'r>],
    kind: ReportFinding,
    words: impl Fn(&CellAnalysis<'r>) -> Option<String>,
) -> Option<Finding> {
    let found: Vec<(&Cell, String)> = cells.iter().filter_map(|cell| Some((&cell.cell, words(cell)?))).collect();
    let (first, others) = found.split_first()?;
    let only = others.is_empty().then(|| first.0.id.clone());
    let named = |(cell, words): &(&Cell, String)| format!("{} {words}", cell.variant).trim_end().to_owned();
    let scenarios = grouped_by(found.iter().map(|one| (scenario(one.0, cells), named(one))));
    let shown = scenarios.iter().take(SCENARIOS).map(|(name, all)| format!("{name}: {}", enumerate(all)));
    let more = scenarios.len().saturating_sub(SCENARIOS) as u64;
    let more = (more > 0).then(|| format!("and {}", count(more, "more scenario")));
    let detail = shown.chain(more).collect::<Vec<_>>().join("; ");
    Some(Finding { cell: only, ..Finding::of_report(kind, &detail) })
}
