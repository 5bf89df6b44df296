//! The notes below the table: facts of single cells, what their slow requests met, why comparisons are open, and why cells are void or suspect.

use super::table::Table;
use super::{Style, messages};
use crate::palette::Tone;
use tare_analysis::format::{WORTH_WAITING_S, count, enumerate, roughly};
use tare_analysis::summary::{Cell, Comparison, Concern, CurrencyRatio, Summary, ValidityState, VerdictKind};
use tare_plan::Currency;
use tare_units::grouped_by;

/// The most reasons that are listed, and the most lines on latency. The page has all of them.
const MOST_REASONS: usize = 8;
const MOST_TAILS: usize = 7;
/// The most costs in CPU time that are listed. The table has all of them as ratios.
const MOST_COSTS: usize = 3;

/// The most rows that a doubt names. More are counted, so that the reason comes soon.
const MOST_NAMES: usize = 2;

pub(super) fn notes(summary: &Summary, style: &Style) -> String {
    let cells = || summary.cells.iter().filter(|cell| super::table::has_row(summary, cell));
    let capacity = |cell: &Cell| cell.capacity.as_ref().map(|found| found.sentence.clone());
    let paragraphs = cells().flat_map(|cell| [capacity(cell), messages::paragraph(cell)].into_iter().flatten());
    let wrapped = |line: String| style.paragraph(Tone::Quiet, &format!("    {line}"), 6);
    let (tails, mut reasons) = (tails(cells()), reasons(summary, cells()));
    let is_told = |note: &Note<'_>| {
        let why = note.text.strip_prefix("void, ");
        why.is_some_and(|why| summary.headline.text.contains(&format!(" is void: {why}")))
    };
    reasons.retain(|alike| alike.len() > 1 || !is_told(&alike[0]));
    let shown = tails.iter().take(MOST_TAILS).chain(reasons.iter().take(MOST_REASONS));
    let shown = shown.map(|alike| text(summary, alike));
    let more = tails.len().saturating_sub(MOST_TAILS) + reasons.len().saturating_sub(MOST_REASONS);
    let more =
        (more > 0).then(|| format!("{}: tare report {} --findings", count(more as u64, "more note"), summary.run.id));
    let costs = cpu_costs(summary).take(MOST_COSTS);
    paragraphs.chain(costs).chain(shown).chain(more).map(wrapped).collect()
}

/// `layer: +2.5 µs [2.0, 3.0] of CPU a request = 0.25 % of a core at 1,000 requests/s`, where the difference is decided and the
/// headline does not say it.
fn cpu_costs(summary: &Summary) -> impl Iterator<Item = String> {
    let is_decided = |comparison: &&Comparison| {
        let mut cpu = comparison.currencies.iter().filter(|ratio| ratio.name == Currency::CpuPerRequest);
        cpu.any(|ratio| ratio.verdict.is_difference())
    };
    let several = summary.comparisons.windows(2).any(|pair| pair[0].scenario != pair[1].scenario);
    summary.comparisons.iter().filter(is_decided).filter_map(move |comparison| {
        let cost = comparison.cpu_cost.as_ref().filter(|cost| !summary.headline.text.contains(&cost.text))?;
        let place = if several { format!(" on {}", comparison.scenario) } else { String::new() };
        Some(format!("{}{place}: {}", comparison.variant, cost.text))
    })
}

/// What the slow requests of all cells met, and every reason why a figure is open or doubtful, for the list of all findings.
pub(super) fn all_reasons(summary: &Summary, style: &Style) -> String {
    let all = tails(summary.cells.iter()).into_iter().chain(reasons(summary, summary.cells.iter()));
    all.map(|alike| style.paragraph(Tone::Quiet, &format!("  {}", text(summary, &alike)), 10)).collect()
}

struct Note<'a> {
    cell: &'a Cell,
    text: String,
    /// Whether many rows are counted instead of named.
    is_brief: bool,
    needed_s: Option<f64>,
}

/// What the slow requests of cells met: first what is of one cell, then what holds for several.
fn tails<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<Vec<Note<'a>>> {
    let lines = cells.flat_map(|cell| cell.tail.iter().map(move |line| (cell, line.clone())));
    let mut tails = shared(lines.map(|(cell, text)| Note { cell, text, is_brief: true, needed_s: None }));
    tails.sort_by_key(|alike| alike.len() > 1);
    tails
}

fn reasons<'a>(summary: &Summary, cells: impl Iterator<Item = &'a Cell> + Clone) -> Vec<Vec<Note<'a>>> {
    let table = Table::of(summary);
    let compared = cells.clone().flat_map(|cell| of_comparison(summary, cell));
    let open = cells.clone().flat_map(|cell| open_measures(summary, &table, cell));
    shared(compared.chain(cells.flat_map(doubts)).chain(open))
}

/// Notes of the same text together: each is said once, with all cells that it holds for.
fn shared<'a>(notes: impl Iterator<Item = Note<'a>>) -> Vec<Vec<Note<'a>>> {
    let by_text = notes.map(|note| ((note.text.clone(), note.needed_s.is_some()), note));
    grouped_by(by_text).into_iter().map(|(_, alike)| alike).collect()
}

fn deciding<'a>(summary: &'a Summary, cell: &Cell) -> Option<&'a CurrencyRatio> {
    summary.comparison_of(cell)?.currencies.first()
}

fn of_comparison<'a>(summary: &Summary, cell: &'a Cell) -> Vec<Note<'a>> {
    let Some(first) = deciding(summary, cell) else { return Vec::new() };
    let why = first.reason.as_deref().map(|reason| format!(", {reason}")).unwrap_or_default();
    let open = Note { cell, text: format!("inconclusive{why}"), is_brief: false, needed_s: first.needed_s };
    let open = Some(open).filter(|_| first.verdict == VerdictKind::Inconclusive);
    let prior = first.prior.iter().map(|prior| prior.text.clone());
    let prior = prior.map(|text| Note { cell, text, is_brief: true, needed_s: None });
    open.into_iter().chain(prior).collect()
}

/// Measures beside the deciding one, those of one reason together. What the deciding one waits for, they all wait for.
fn open_measures<'a>(summary: &Summary, table: &Table<'_>, cell: &'a Cell) -> Vec<Note<'a>> {
    let known = deciding(summary, cell).and_then(|first| first.reason.as_deref());
    let open = table.open_measures(cell).into_iter();
    let note = |(reason, alike): (&str, Vec<(&str, Option<f64>)>)| {
        let labels: Vec<String> = alike.iter().map(|(label, _)| (*label).to_owned()).collect();
        let needed_s = alike.iter().filter_map(|(_, needed_s)| *needed_s).reduce(f64::max);
        Note { cell, text: format!("{} ?, {reason}", enumerate(&labels)), is_brief: true, needed_s }
    };
    grouped_by(open).into_iter().filter(|(reason, _)| Some(*reason) != known).map(note).collect()
}

fn doubts(cell: &Cell) -> impl Iterator<Item = Note<'_>> {
    let is_brief = cell.validity.state != ValidityState::Void;
    cell.validity.reasons.iter().map(move |reason| {
        let word = match (is_brief, reason.concerns) {
            (false, _) => "void".to_owned(),
            (true, Concern::Everything) => "suspect".to_owned(),
            (true, measure) => format!("suspect in {}", measure.noun()),
        };
        Note { cell, text: format!("{word}, {}", reason.text), is_brief, needed_s: None }
    })
}

/// With the longest time that any of them still needs.
fn text(summary: &Summary, alike: &[Note<'_>]) -> String {
    let all = if alike.len() > 1 { " for all" } else { "" };
    let needed = alike.iter().filter_map(|note| note.needed_s).reduce(f64::max).filter(|s| *s <= WORTH_WAITING_S);
    let needed = needed.map(|s| format!("; about {} more needed{all}", roughly(s))).unwrap_or_default();
    let several = summary.cells.windows(2).any(|pair| pair[0].scenario != pair[1].scenario);
    let scenario = |cell: &Cell| if several { format!(" on {}", cell.scenario) } else { String::new() };
    let names = alike.iter().map(|note| format!("{}{}", note.cell.variant, scenario(note.cell)));
    format!("{}: {}{needed}", who(names.collect(), alike[0].is_brief), alike[0].text)
}

fn who(mut names: Vec<String>, is_brief: bool) -> String {
    if is_brief && names.len() > MOST_NAMES {
        return count(names.len() as u64, "row");
    }
    // A baseline has a cell in every group that it serves.
    names.dedup();
    enumerate(&names)
}

#[cfg(test)]
mod tests {
    #[test]
    fn many_cells_of_one_line_are_counted() {
        let who =
            |names: &[&str], is_brief| super::who(names.iter().map(|name| (*name).to_owned()).collect(), is_brief);
        assert_eq!(who(&["a", "b"], true), "a, b");
        assert_eq!(who(&["a", "a"], true), "a");
        assert_eq!(who(&["a", "b", "c"], true), "3 rows");
        assert_eq!(who(&["a", "b", "c"], false), "a, b, c");
    }
}
