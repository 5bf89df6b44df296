//! Whether the figures of a run may be used, with at most two reasons.

use crate::format::{capital, count};
use crate::summary::{
    Cell, Finding, FindingKind, Headline, ReportFinding, Severity, Trust, ValidityState, VerdictKind,
};

/// The largest number of reasons.
const REASONS: usize = 2;
/// Letters of a reason; longer ones are cut.
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

/// `2 of 4 cells are suspect: not steady in 1 of 3 starts`, with the reason that most of them give; a single one by its name.
fn of_cells(cells: &[&Cell], state: ValidityState, word: &str) -> Option<String> {
    let affected: Vec<&&Cell> = cells.iter().filter(|cell| cell.validity.state == state).collect();
    let texts: Vec<&str> =
        affected.iter().filter_map(|cell| cell.validity.reasons.first()).map(|reason| reason.text.as_str()).collect();
    let most = texts.iter().max_by_key(|text| texts.iter().filter(|other| other == text).count())?;
    if cells.len() == 1 {
        return Some(first_sentence(most));
    }
    let text = match affected.as_slice() {
        [only] => format!("{} on {} is {word}: {most}", only.variant, only.scenario),
        _ => format!("{} of {} are {word}: {most}", affected.len(), count(cells.len() as u64, "cell")),
    };
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
    capital(&cut_to(first, LONG))
}

/// The text, at most so many letters of it: to the end of a clause in the second half, which needs no more, else of a word.
fn cut_to(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let room = &text[..end];
    let clause = [", ", "; "].iter().filter_map(|mark| room.rfind(mark)).max().filter(|at| at * 2 > end);
    match clause {
        Some(at) => room[..at].to_owned(),
        None => format!("{} …", room.rsplit_once(' ').map_or(room, |(words, _)| words)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_sentence_with_a_capital() {
        assert_eq!(first_sentence("the generator was busy. Give it a core."), "The generator was busy");
        assert_eq!(first_sentence("p99 is high"), "p99 is high");
    }

    #[test]
    fn a_long_reason_ends_with_a_clause_or_a_word() {
        assert_eq!(cut_to("one two three, four five", 20), "one two three");
        assert_eq!(cut_to("one, two three four five", 20), "one, two three four …");
        assert_eq!(cut_to("µµ µµ", 4), "µµ …");
        assert_eq!(cut_to("short", 5), "short");
    }
}
