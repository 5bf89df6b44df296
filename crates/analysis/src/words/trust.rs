//! Whether the figures of a run may be used, with at most two reasons.

use crate::format::{capital, count};
use crate::summary::{
    Cell, Comparison, Concern, Finding, FindingKind, Headline, Reason, ReportFinding, Severity, Trust, ValidityState,
    VerdictKind,
};
use crate::words::headline::told_differences;

const MOST_REASONS: usize = 2;

/// Findings that only repeat the reasons of cells.
const OF_CELLS: [ReportFinding; 4] =
    [ReportFinding::CellVoid, ReportFinding::CellsUnmeasured, ReportFinding::LoadVoid, ReportFinding::LoadSuspect];

/// Judges a run by its findings and by the doubts about figures of its headline. A doubt about another measure is a reason too,
/// but does not change the state.
pub fn trust(headline: &Headline, comparisons: &[Comparison], cells: &[Cell], findings: &[Finding]) -> Trust {
    let cells: Vec<&Cell> = cells.iter().filter(|cell| !cell.control).collect();
    let is_void = |cell: &Cell| cell.validity.state == ValidityState::Void;
    let uses = |cell: &Cell, concern| is_in_answer(comparisons, cell, concern);
    let void = doubtful(&cells, |cell, _| is_void(cell));
    let suspect = doubtful(&cells, |cell, reason| !is_void(cell) && uses(cell, reason.concerns));
    let warnings = findings.iter().filter(|finding| finding.severity >= Severity::Warning).count();
    let is_all_void = headline.verdict == VerdictKind::Void || !cells.is_empty() && void.len() == cells.len();
    let state = match void.len() + suspect.len() + warnings {
        _ if is_all_void => ValidityState::Void,
        0 => ValidityState::Valid,
        _ => ValidityState::Suspect,
    };
    let is_reason = |finding: &&Finding| match finding.kind {
        FindingKind::Report(ReportFinding::ForksSetAside) => state != ValidityState::Valid,
        FindingKind::Report(kind) if OF_CELLS.contains(&kind) => false,
        _ => finding.severity != Severity::Info,
    };
    let void = describe(&void, &cells, "void");
    let mut reasons: Vec<String> = void.into_iter().chain(describe(&suspect, &cells, "suspect")).collect();
    reasons.extend(findings.iter().filter(is_reason).map(|finding| match finding.text.as_str() {
        "" => finding.title.clone(),
        text => format!("{}: {}", finding.title, first_sentence(text)),
    }));
    for concern in [Concern::Throughput, Concern::CpuPerRequest, Concern::Latency] {
        let other = doubtful(&cells, |cell, reason| {
            cell.validity.state == ValidityState::Valid && reason.concerns == concern && !uses(cell, concern)
        });
        reasons.extend(describe(&other, &cells, &format!("suspect in {}", concern.noun())));
    }
    reasons.truncate(MOST_REASONS);
    Trust { state, reasons, warnings: warnings as u32 }
}

/// Whether an answer uses figures of this cell that such a reason makes doubtful. Always true of a cell that is not compared.
fn is_in_answer(comparisons: &[Comparison], cell: &Cell, concern: Concern) -> bool {
    let mut of_cell = comparisons.iter().filter(|c| c.cell == cell.id || c.baseline_cell == cell.id).peekable();
    if concern == Concern::Everything || of_cell.peek().is_none() {
        return true;
    }
    of_cell.any(|comparison| {
        let deciding = comparison.currencies.first().map(|deciding| deciding.name);
        told_differences(comparison).chain(deciding).any(|currency| concern.includes(currency))
    })
}

fn doubtful<'a>(cells: &[&'a Cell], is_meant: impl Fn(&Cell, &Reason) -> bool) -> Vec<(&'a Cell, &'a str)> {
    let first = |cell: &&'a Cell| cell.validity.reasons.iter().find(|reason| is_meant(cell, reason));
    cells.iter().filter_map(|cell| Some((*cell, first(cell)?.text.as_str()))).collect()
}

/// `2 of 4 rows are suspect: …`, with the reason that most of them give; a single one by its name.
fn describe(found: &[(&Cell, &str)], all: &[&Cell], word: &str) -> Option<String> {
    let same = |text: &str| found.iter().filter(|(_, other)| *other == text).count();
    let (_, most) = found.iter().max_by_key(|(_, text)| same(text))?;
    let most = first_sentence(most);
    Some(match found {
        _ if all.len() == 1 => capital(&most),
        [(only, _)] => {
            format!("{} on {} is {word}: {most}", only.variant, only.scenario_among(all.iter().copied()))
        }
        found => format!("{} of {} are {word}: {most}", found.len(), count(all.len() as u64, "row")),
    })
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_reason_is_one_sentence() {
        assert_eq!(first_sentence("the generator was busy. Give it a core."), "the generator was busy");
        assert_eq!(first_sentence("p99 is high"), "p99 is high");
    }
}
