//! Whether the figures of a run may be used, with at most two reasons.

use std::collections::{BTreeMap, BTreeSet};

use super::headline::MOST_DIFFERENCES;
use crate::currency::Currency;
use crate::format::{capital, count};
use crate::summary::{
    Cell, Comparison, Concern, Finding, FindingKind, Headline, Reason, ReportFinding, Severity, Trust, ValidityState,
    VerdictKind,
};

/// The largest number of reasons.
const MOST_REASONS: usize = 2;
/// Letters of a reason; longer ones are cut.
const LONGEST_REASON: usize = 160;

/// Judges a run by its findings and by the doubts about figures of its headline. A doubt about another measure is a reason too,
/// but does not change the state.
pub(crate) fn trust(headline: &Headline, comparisons: &[Comparison], cells: &[Cell], findings: &[Finding]) -> Trust {
    let cells: Vec<&Cell> = cells.iter().filter(|cell| !cell.control).collect();
    let void = DoubtfulCells::of(&cells, |cell| match cell.validity.state {
        ValidityState::Void => cell.validity.reasons.first(),
        _ => None,
    });
    let answer = AnswerCurrencies::of(headline, comparisons);
    let suspect = DoubtfulCells::of(&cells, |cell| {
        let is_void = cell.validity.state == ValidityState::Void;
        cell.validity.reasons.iter().find(|reason| !is_void && answer.uses(cell, reason.concerns))
    });
    let warnings = findings.iter().filter(|finding| finding.severity >= Severity::Warning).count();
    let state = match () {
        () if headline.verdict == VerdictKind::Void || !cells.is_empty() && void.are_all_cells() => ValidityState::Void,
        () if !void.is_empty() || !suspect.is_empty() || warnings > 0 => ValidityState::Suspect,
        () => ValidityState::Valid,
    };
    let mut reasons: Vec<String> = Vec::new();
    reasons.extend(void.describe("void", ""));
    reasons.extend(suspect.describe("suspect", ""));
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
    reasons.extend(findings.iter().filter(is_new).map(short_text));
    if state != ValidityState::Valid {
        let aside = |finding: &&Finding| finding.kind == FindingKind::Report(ReportFinding::ForksSetAside);
        reasons.extend(findings.iter().filter(aside).map(short_text));
    }
    for concern in [Concern::Throughput, Concern::CpuPerRequest, Concern::Latency] {
        let other = DoubtfulCells::of(&cells, |cell| {
            let is_new = cell.validity.state == ValidityState::Valid && !answer.uses(cell, concern);
            cell.validity.reasons.iter().find(|reason| is_new && reason.concerns == concern)
        });
        reasons.extend(other.describe("suspect", concern.noun()));
    }
    reasons.truncate(MOST_REASONS);
    Trust { state, reasons, warnings: warnings as u32 }
}

/// The currencies that the headline states of each cell.
struct AnswerCurrencies {
    by_cell: BTreeMap<String, BTreeSet<&'static str>>,
}

impl AnswerCurrencies {
    /// The deciding currency of each comparison, and those of the known facts in the headline's text.
    fn of(headline: &Headline, comparisons: &[Comparison]) -> Self {
        let mut by_cell: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
        for comparison in comparisons {
            let deciding = comparison.currencies.first().map(|currency| currency.name);
            let facts = headline.known.iter().take(MOST_DIFFERENCES);
            let facts = facts.filter(|fact| fact.comparisons.contains(&comparison.id));
            for currency in deciding.into_iter().chain(facts.map(|fact| fact.currency)) {
                for cell in [&comparison.cell, &comparison.baseline_cell] {
                    by_cell.entry(cell.clone()).or_default().insert(currency.facts().name);
                }
            }
        }
        Self { by_cell }
    }

    /// Whether the headline uses figures of this cell that such a reason makes doubtful. Always true of a cell that is not compared.
    fn uses(&self, cell: &Cell, concern: Concern) -> bool {
        let Some(names) = self.by_cell.get(&cell.id) else { return true };
        let mut currencies = names.iter().filter_map(|name| Currency::of_name(name));
        concern == Concern::Everything || currencies.any(|currency| concern.includes(currency))
    }
}

/// Doubtful cells, each with its reason.
struct DoubtfulCells<'a> {
    found: Vec<(&'a Cell, &'a str)>,
    /// Number of all cells.
    all: usize,
}

impl<'a> DoubtfulCells<'a> {
    fn of(cells: &[&'a Cell], why: impl Fn(&'a Cell) -> Option<&'a Reason>) -> Self {
        let found = cells.iter().filter_map(|cell| Some((*cell, why(cell)?.text.as_str()))).collect();
        Self { found, all: cells.len() }
    }

    const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    const fn are_all_cells(&self) -> bool {
        self.found.len() == self.all
    }

    /// `2 of 4 cells are suspect in latency: …`, with the reason that most of them give; a single one by its name.
    fn describe(&self, word: &str, measure: &str) -> Option<String> {
        let same = |text: &str| self.found.iter().filter(|(_, other)| *other == text).count();
        let (_, most) = self.found.iter().max_by_key(|(_, text)| same(text))?;
        if self.all == 1 {
            return Some(first_sentence(most));
        }
        let word = if measure.is_empty() { word.to_owned() } else { format!("{word} in {measure}") };
        Some(match self.found.as_slice() {
            // It begins with a name, which has its own first letter.
            [(only, _)] => short_sentence(&format!("{} on {} is {word}: {most}", only.variant, only.scenario)),
            found => {
                short_sentence(&format!("{} of {} are {word}: {most}", found.len(), count(self.all as u64, "cell")))
            }
        })
    }
}

fn short_text(finding: &Finding) -> String {
    first_sentence(&if finding.text.is_empty() {
        finding.title.clone()
    } else {
        format!("{}: {}", finding.title, finding.text)
    })
}

fn first_sentence(text: &str) -> String {
    capital(&short_sentence(text))
}

fn short_sentence(text: &str) -> String {
    let first = text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.');
    cut_to(first, LONGEST_REASON)
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
