//! The notes below the table: facts of single cells, what their slow requests met, why comparisons are open, and why cells are void or suspect.

use super::table::Table;
use super::{Style, messages};
use crate::palette::Tone;
use tare_analysis::format::{WORTH_WAITING_S, count, enumerate, roughly};
use tare_analysis::summary::{Cell, Comparison, Concern, Summary, ValidityState, VerdictKind};
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
    let (tails, reasons) = (SharedReasons::of_tails(summary, cells()), SharedReasons::of(summary, cells()));
    let shown = tails.iter().take(MOST_TAILS).chain(reasons.iter().take(MOST_REASONS)).map(SharedReason::text);
    let more = tails.len().saturating_sub(MOST_TAILS) + reasons.len().saturating_sub(MOST_REASONS);
    let more = (more > 0).then(|| format!("{more} more notes: tare report {} --findings", summary.run.id));
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
    let tails = SharedReasons::of_tails(summary, summary.cells.iter());
    let all = tails.into_iter().chain(SharedReasons::of(summary, summary.cells.iter()));
    all.map(|reason| style.paragraph(Tone::Quiet, &format!("  {}", reason.text()), 10)).collect()
}

/// Each reason once, with all cells that it holds for.
struct SharedReasons {
    all: Vec<SharedReason>,
    /// Whether a cell is named with its scenario.
    several_scenarios: bool,
}

struct SharedReason {
    cells: Vec<String>,
    text: String,
    /// Whether it counts many rows instead of naming them.
    is_brief: bool,
    /// The longest time that any of them still needs.
    needed_s: Option<f64>,
}

impl SharedReasons {
    fn none(summary: &Summary) -> Self {
        let first = summary.cells.first().map(|cell| &cell.scenario);
        Self { all: Vec::new(), several_scenarios: summary.cells.iter().any(|cell| Some(&cell.scenario) != first) }
    }

    /// What the slow requests of cells met: first what is of one cell, then what holds for several.
    fn of_tails<'a>(summary: &Summary, cells: impl Iterator<Item = &'a Cell>) -> Vec<SharedReason> {
        let mut tails = Self::none(summary);
        for (cell, line) in cells.flat_map(|cell| cell.tail.iter().map(move |line| (cell, line))) {
            tails.add(cell, line.clone(), true, None);
        }
        tails.all.sort_by_key(|tail| tail.cells.len() > 1);
        tails.all
    }

    fn of<'a>(summary: &Summary, cells: impl Iterator<Item = &'a Cell> + Clone) -> Vec<SharedReason> {
        let (mut reasons, table) = (Self::none(summary), Table::of(summary));
        cells.clone().for_each(|cell| reasons.add_comparison(summary, cell));
        cells.clone().for_each(|cell| reasons.add_doubts(cell));
        cells.for_each(|cell| reasons.add_open_measures(summary, &table, cell));
        reasons.all
    }

    fn add_comparison(&mut self, summary: &Summary, cell: &Cell) {
        let first = summary.comparison_of(cell).and_then(|comparison| comparison.currencies.first());
        if let Some(first) = first.filter(|currency| currency.verdict == VerdictKind::Inconclusive) {
            let why = first.reason.as_deref().map(|reason| format!(", {reason}")).unwrap_or_default();
            self.add(cell, format!("inconclusive{why}"), false, first.needed_s);
        }
        if let Some(prior) = first.and_then(|currency| currency.prior.as_ref()) {
            self.add(cell, prior.text.clone(), true, None);
        }
    }

    /// Measures beside the deciding one, those of one reason together. What the deciding one waits for, they all wait for.
    fn add_open_measures(&mut self, summary: &Summary, table: &Table<'_>, cell: &Cell) {
        let first = summary.comparison_of(cell).and_then(|comparison| comparison.currencies.first());
        let known = first.and_then(|first| first.reason.as_deref());
        let open = table.open_measures(cell).into_iter().map(|one| (one.reason, one));
        for (reason, alike) in grouped_by(open).into_iter().filter(|(reason, _)| Some(*reason) != known) {
            let labels: Vec<String> = alike.iter().map(|one| one.label.to_owned()).collect();
            let needed_s = alike.iter().filter_map(|one| one.needed_s).reduce(f64::max);
            self.add(cell, format!("{} ?, {reason}", enumerate(&labels)), true, needed_s);
        }
    }

    fn add_doubts(&mut self, cell: &Cell) {
        let is_brief = cell.validity.state != ValidityState::Void;
        for reason in &cell.validity.reasons {
            let word = match (is_brief, reason.concerns) {
                (false, _) => "void".to_owned(),
                (true, Concern::Everything) => "suspect".to_owned(),
                (true, measure) => format!("suspect in {}", measure.noun()),
            };
            self.add(cell, format!("{word}, {}", reason.text), is_brief, None);
        }
    }

    fn add(&mut self, cell: &Cell, text: String, is_brief: bool, needed_s: Option<f64>) {
        let scenario = if self.several_scenarios { format!(" on {}", cell.scenario) } else { String::new() };
        let name = format!("{}{scenario}", cell.variant);
        match self.all.iter_mut().find(|r| r.text == text && r.needed_s.is_some() == needed_s.is_some()) {
            Some(reason) => {
                reason.cells.push(name);
                reason.needed_s = reason.needed_s.zip(needed_s).map(|(a, b)| a.max(b));
            }
            None => self.all.push(SharedReason { cells: vec![name], text, is_brief, needed_s }),
        }
    }
}

impl SharedReason {
    fn text(&self) -> String {
        let all = if self.cells.len() > 1 { " for all" } else { "" };
        let needed = self.needed_s.filter(|s| *s <= WORTH_WAITING_S);
        let needed = needed.map(|s| format!("; about {} more needed{all}", roughly(s))).unwrap_or_default();
        format!("{}: {}{needed}", self.who(), self.text)
    }

    fn who(&self) -> String {
        if self.is_brief && self.cells.len() > MOST_NAMES {
            return count(self.cells.len() as u64, "row");
        }
        // A baseline has a cell in every group that it serves.
        let mut names = self.cells.clone();
        names.dedup();
        enumerate(&names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(cells: &[&str], is_brief: bool) -> String {
        let cells = cells.iter().map(|name| (*name).to_owned()).collect();
        SharedReason { cells, text: String::new(), is_brief, needed_s: None }.who()
    }

    #[test]
    fn many_cells_of_one_line_are_counted() {
        assert_eq!(who(&["a", "b"], true), "a, b");
        assert_eq!(who(&["a", "a"], true), "a");
        assert_eq!(who(&["a", "b", "c"], true), "3 rows");
        assert_eq!(who(&["a", "b", "c"], false), "a, b, c");
    }
}
