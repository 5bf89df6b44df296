//! Whether the figures of a run may be used, with at most two reasons.

use crate::format::count;
use crate::summary::{
    Cell, Finding, FindingKind, Headline, ReportFinding, Severity, Trust, ValidityState, VerdictKind,
};

/// The largest number of reasons.
const REASONS: usize = 2;
/// Longer texts are cut at the end of a sentence.
const LONG: usize = 110;

/// Judges a run by its cells and findings.
pub(crate) fn trust(headline: &Headline, cells: &[Cell], findings: &[Finding]) -> Trust {
    let cells: Vec<&Cell> = cells.iter().filter(|cell| !cell.control).collect();
    let in_state = |state| cells.iter().filter(|cell| cell.validity.state == state).count();
    let (void, suspect) = (in_state(ValidityState::Void), in_state(ValidityState::Suspect));
    let warnings = findings.iter().filter(|finding| finding.severity >= Severity::Warning).count();
    let state = match () {
        () if headline.verdict == VerdictKind::Void || !cells.is_empty() && void == cells.len() => ValidityState::Void,
        () if void + suspect + warnings > 0 => ValidityState::Suspect,
        () => ValidityState::Valid,
    };
    let mut reasons: Vec<String> = Vec::new();
    reasons.extend(of_cells(&cells, ValidityState::Void, "void"));
    reasons.extend(of_cells(&cells, ValidityState::Suspect, "suspect"));
    // Findings that only repeat the reasons of cells are left out.
    let is_new = |finding: &&Finding| {
        let of_cell = [
            ReportFinding::CellVoid,
            ReportFinding::NotSteady,
            ReportFinding::CellsUnmeasured,
            ReportFinding::LoadVoid,
            ReportFinding::LoadSuspect,
        ];
        finding.severity >= Severity::Warning && !of_cell.iter().any(|kind| finding.kind == FindingKind::Report(*kind))
    };
    reasons.extend(findings.iter().filter(is_new).map(in_short));
    if state != ValidityState::Valid {
        let aside = |finding: &&Finding| finding.kind == FindingKind::Report(ReportFinding::ForksSetAside);
        reasons.extend(findings.iter().filter(aside).map(in_short));
    }
    reasons.truncate(REASONS);
    Trust { state, reasons, warnings: warnings as u32 }
}

/// `2 of 4 cells are suspect: not steady in 1 of 3 forks`, with the reason that most of them give.
fn of_cells(cells: &[&Cell], state: ValidityState, word: &str) -> Option<String> {
    let affected: Vec<&&Cell> = cells.iter().filter(|cell| cell.validity.state == state).collect();
    let texts: Vec<&str> =
        affected.iter().filter_map(|cell| cell.validity.reasons.first()).map(|reason| reason.text.as_str()).collect();
    let most = texts.iter().max_by_key(|text| texts.iter().filter(|other| other == text).count())?;
    if cells.len() == 1 {
        return Some(first_sentence(most));
    }
    let verb = if affected.len() == 1 { "is" } else { "are" };
    let text = format!("{} of {} {verb} {word}: {most}", affected.len(), count(cells.len() as u64, "cell"));
    Some(first_sentence(&text))
}

fn in_short(finding: &Finding) -> String {
    first_sentence(&if finding.text.is_empty() {
        finding.title.clone()
    } else {
        format!("{}: {}", finding.title, finding.text)
    })
}

fn first_sentence(text: &str) -> String {
    let first = text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.');
    let cut: String = first.chars().take(LONG).collect();
    if cut.len() < first.len() { format!("{}…", cut.trim_end()) } else { cut }
}
