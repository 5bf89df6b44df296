//! Findings about cells: one for all cells that share it. It names them by scenario.

use std::collections::BTreeMap;

use tare_record::PauseCause;
use tare_stats::rounds::BestRounds;

use super::odd_starts::odd_starts;
use super::report_finding;
use crate::format::{Unit, count, enumerate, share, single};
use crate::summarize::CellAnalysis;
use crate::summary::{Bottleneck, Finding, PauseTally, ReportFinding, ValidityState};

/// Steadiness, bottleneck and missing measurements over all cells, and every other void cell by itself.
pub(super) fn of_cells(cells: &[CellAnalysis<'_>]) -> Vec<Finding> {
    let together = [
        disturbed(cells),
        rounds_left_out(cells),
        unsteady(cells),
        odd_starts(cells),
        generator_bound(cells),
        paused(cells),
        probing(cells),
        unmeasured(cells),
    ];
    together.into_iter().flatten().chain(cells.iter().filter_map(void)).collect()
}

/// Comparisons in which the trimmed and the plain mean disagree: cell id and currency of each.
pub(super) fn few_slices_decide(cells: &[CellAnalysis<'_>], disagreeing: &[(String, String)]) -> Option<Finding> {
    let of = |cell: &CellAnalysis<'_>| {
        let named = disagreeing.iter().filter(|(id, _)| *id == cell.cell.id);
        let currencies: Vec<String> = named.map(|(_, currency)| currency.clone()).collect();
        (!currencies.is_empty()).then(|| format!("({})", currencies.join(", ")))
    };
    let found = Found::among(cells, of)?;
    Some(found.finding(ReportFinding::FewSlicesDecide))
}

/// Comparisons that another number of rounds in each start would narrow in the same time.
pub(super) fn more_or_fewer_rounds(
    cells: &[CellAnalysis<'_>],
    better: &BTreeMap<String, BestRounds>,
    rounds: u32,
) -> Option<Finding> {
    let of = |cell: &CellAnalysis<'_>| {
        let best = better.get(&cell.cell.id)?;
        Some(format!("({} instead of {rounds}: {} narrower)", best.rounds, share(1.0 - best.width)))
    };
    let found = Found::among(cells, of)?;
    Some(found.finding(ReportFinding::RoundsPerStart))
}

/// Forks that count for nothing.
fn disturbed(cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let of = |analysis: &CellAnalysis<'_>| {
        let aside = analysis.evidence.set_aside.forks.len() as u64;
        let all = aside + u64::from(analysis.cell.forks);
        (aside > 0).then(|| format!("{aside} of {}", count(all, "start")))
    };
    let found = Found::among(cells, of)?;
    Some(found.finding(ReportFinding::ForksSetAside))
}

/// Rounds that count for nothing, in forks that count.
fn rounds_left_out(cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let of = |analysis: &CellAnalysis<'_>| {
        let rounds = analysis.evidence.set_aside.rounds.len() as u64;
        (rounds > 0 && analysis.evidence.is_baseline()).then(|| count(rounds, "round"))
    };
    let found = Found::among(cells, of)?;
    Some(found.finding(ReportFinding::RoundsLeftOut))
}

fn unsteady(cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let of = |analysis: &CellAnalysis<'_>| {
        let (forks, steady) = (analysis.cell.forks, analysis.cell.steady_forks);
        (steady < forks).then(|| format!("{} of {}", forks - steady, count(forks.into(), "start")))
    };
    let found = Found::among(cells, of)?;
    let mut reasons = found.cells.iter().map(|(analysis, _)| first_unsteady(analysis));
    let first = reasons.next().unwrap_or_default();
    let word = if reasons.all(|reason| reason == first) { "Reason" } else { "First reason" };
    let detail = format!("{}. {word}: {first}", found.by_scenario());
    Some(found.with_detail(ReportFinding::NotSteady, &detail))
}

fn first_unsteady<'a>(analysis: &CellAnalysis<'a>) -> &'a str {
    let mut warmups = analysis.evidence.warmups.iter();
    warmups.find(|w| !w.steady && !w.reason.is_empty()).map_or("none recorded", |w| w.reason.as_str())
}

fn generator_bound(cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let found = Found::among(cells, |s| (s.cell.bottleneck == Bottleneck::Generator).then(String::new))?;
    Some(found.finding(ReportFinding::GeneratorBound))
}

/// Pauses that the machine or a signal caused, not the server.
fn paused(cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let of = |analysis: &CellAnalysis<'_>| {
        let from_outside = |tally: &&PauseTally| matches!(tally.cause, PauseCause::Machine | PauseCause::Process);
        let longest = analysis.cell.probes.pauses.iter().filter(from_outside).max_by_key(|tally| tally.pause_max_ns)?;
        let times = analysis.cell.probes.pauses.iter().filter(from_outside).map(|tally| tally.pauses).sum();
        Some(format!("({}, up to {})", count(times, "pause"), single(Unit::Nanos, longest.pause_max_ns as f64)))
    };
    let found = Found::among(cells, of)?;
    Some(found.finding(ReportFinding::OutsidePauses))
}

/// Above this share of the server's CPU time, the cost of the probes is a finding.
const PROBING_SHARE: f64 = 0.01;

fn probing(cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let of = |analysis: &CellAnalysis<'_>| {
        let taken = analysis.cell.probes.probe_cpu_share.filter(|taken| *taken > PROBING_SHARE)?;
        Some(format!("({})", share(taken)))
    };
    let found = Found::among(cells, of)?;
    let has_meters =
        found.cells.iter().any(|(analysis, _)| analysis.evidence.measured().any(|s| s.server.hiccups.is_some()));
    let finding = found.finding(ReportFinding::ProbeCost);
    Some(if has_meters { Finding { remedy: Some(WITHOUT_METERS.to_owned()), ..finding } } else { finding })
}

/// The remedy for costly probes where the meters of hiccups are on.
const WITHOUT_METERS: &str = "The hiccup meters cost most of it: leave out --hiccups.";

/// Cells that the run did not reach, or where no request completed.
fn unmeasured(cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let of = |analysis: &CellAnalysis<'_>| (is_silently_void(analysis) && !is_measured(analysis)).then(String::new);
    let found = Found::among(cells, of)?;
    Some(found.finding(ReportFinding::CellsUnmeasured))
}

fn void(analysis: &CellAnalysis<'_>) -> Option<Finding> {
    let cell = &analysis.cell;
    if !is_silently_void(analysis) || !is_measured(analysis) {
        return None;
    }
    let detail = format!("{} on {}: {}", cell.variant, cell.scenario, cell.validity.joined_reasons());
    Some(Finding { cell: Some(cell.id.clone()), ..report_finding(ReportFinding::CellVoid, &detail) })
}

/// Whether a cell is void and no event says why: an event is a finding by itself.
fn is_silently_void(analysis: &CellAnalysis<'_>) -> bool {
    analysis.cell.validity.state == ValidityState::Void && analysis.evidence.voiding().next().is_none()
}

const fn is_measured(analysis: &CellAnalysis<'_>) -> bool {
    analysis.cell.requests_ok + analysis.cell.requests_failed > 0
}

/// The cells that share a finding, each with the words that follow its name; never empty.
pub(super) struct Found<'c, 'r> {
    cells: Vec<(&'c CellAnalysis<'r>, String)>,
}

impl<'c, 'r> Found<'c, 'r> {
    pub fn among(cells: &'c [CellAnalysis<'r>], words: impl Fn(&CellAnalysis<'r>) -> Option<String>) -> Option<Self> {
        let cells: Vec<_> = cells.iter().filter_map(|cell| Some((cell, words(cell)?))).collect();
        (!cells.is_empty()).then_some(Self { cells })
    }

    /// `SimpleGet: http4s.Vanilla 3 of 3 forks, http4s.Tapir 3 of 3 forks; PostBytes: …`.
    pub fn by_scenario(&self) -> String {
        let mut scenarios: Vec<(&str, Vec<String>)> = Vec::new();
        for (analysis, words) in &self.cells {
            let cell = &analysis.cell;
            let one = format!("{} {words}", cell.variant).trim_end().to_owned();
            match scenarios.iter_mut().find(|(name, _)| *name == cell.scenario) {
                Some((_, all)) => all.push(one),
                None => scenarios.push((&cell.scenario, vec![one])),
            }
        }
        let shown = scenarios.iter().take(SCENARIOS).map(|(name, all)| format!("{name}: {}", enumerate(all)));
        let more = scenarios.len().saturating_sub(SCENARIOS) as u64;
        let more = (more > 0).then(|| format!("and {}", count(more, "more scenario")));
        shown.chain(more).collect::<Vec<_>>().join("; ")
    }

    /// The finding, with the names of its cells.
    pub fn finding(&self, kind: ReportFinding) -> Finding {
        self.with_detail(kind, &self.by_scenario())
    }

    /// The finding with `detail` after its fixed words. One about a single cell links to it.
    fn with_detail(&self, kind: ReportFinding, detail: &str) -> Finding {
        let only = if let [(analysis, _)] = self.cells.as_slice() { Some(analysis.cell.id.clone()) } else { None };
        Finding { cell: only, ..report_finding(kind, detail) }
    }
}

/// How many scenarios a finding names. The cells give all reasons.
const SCENARIOS: usize = 6;
