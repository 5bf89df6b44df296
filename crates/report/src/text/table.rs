//! The table of a run: one row per variant, below a heading per scenario. The baseline's row has levels; the other rows
//! say how they differ from it.

use tare_plan::plan::SliceKind;

use super::grid::{Grid, Piece, wrap};
use super::{Style, interval_legend};
use crate::clean;
use crate::palette::Tone;
use tare_analysis::Currency;
use tare_analysis::format::{Scale, Unit, rate, single};
use tare_analysis::summary::{Cell, CurrencyRatio, Summary, VerdictKind};

/// A column after the verdict, with its heading in a wide and in a narrow terminal.
type Measure = (Currency, &'static str, &'static str);

const MEASURES: [Measure; 4] = [
    (Currency::Throughput, "throughput", "throughput"),
    (Currency::CpuPerRequest, "CPU/request", "CPU"),
    (Currency::LatencyP99, "p99", "p99"),
    (Currency::AllocatedPerRequest, "allocated/request", "bytes"),
];

/// What the mark of a measure means.
pub(crate) const OPEN: &str = "? not decided, or too few starts or requests for a comparison";

pub(super) fn table(summary: &Summary, style: &Style) -> String {
    let table = Table::of(summary);
    if table.blocks.is_empty() {
        return String::new();
    }
    let grids = [true, false].map(|levels| table.grid(levels, style));
    let drawn = match grids.iter().find(|grid| grid.width() <= style.width) {
        Some(grid) => grid.render(style.colored),
        None => table.stacked(style),
    };
    drawn + &table.legend(style)
}

/// Whether a cell has a row. A control has one only if nothing else is compared.
pub(super) fn has_row(summary: &Summary, cell: &Cell) -> bool {
    !cell.control || summary.comparison_of(cell).is_some()
}

/// Whether the quotient of two levels is so far from the change beside them that it lies outside its interval.
fn is_no_quotient(ratio: &CurrencyRatio) -> bool {
    let quotient = ratio.variant_value / ratio.baseline_value;
    ratio.verdict.is_decision() && ratio.lo.zip(ratio.hi).is_some_and(|(lo, hi)| quotient < lo || hi < quotient)
}

fn scale(cells: &[&Cell], currency: Currency) -> Scale {
    let levels = cells.iter().filter_map(|cell| level(cell, currency));
    Scale::for_values(Unit::with_name(currency.facts().unit), levels)
}

pub(super) struct Table<'a> {
    summary: &'a Summary,
    /// The cells of each group and scenario.
    blocks: Vec<Vec<&'a Cell>>,
    /// Those that some server has.
    measures: Vec<Measure>,
    /// The currency that decides all comparisons, if it is the same.
    deciding: Option<(Currency, &'a str)>,
}

impl<'a> Table<'a> {
    pub fn of(summary: &'a Summary) -> Self {
        let mut blocks = summary.panels();
        blocks.iter_mut().for_each(|cells| cells.retain(|cell| has_row(summary, cell)));
        blocks.retain(|cells| !cells.is_empty());
        let mut firsts = summary.comparisons.iter().filter_map(|c| c.currencies.first());
        let deciding = firsts.next().map(|first| (first.name, first.label.as_str()));
        let deciding = deciding.filter(|(name, _)| firsts.all(|other| other.name == *name));
        // A server that sends on its own clock has no throughput to speak of.
        let is_pushed = deciding.is_some_and(|(name, _)| name.is_latency());
        let is_measured = |currency| blocks.iter().flatten().any(|cell| level(cell, currency).is_some());
        let is_shown = |currency| match currency {
            Currency::Throughput => !is_pushed,
            Currency::AllocatedPerRequest => is_measured(currency),
            _ => true,
        };
        let measures = MEASURES.into_iter().filter(|(currency, ..)| is_shown(*currency)).collect();
        Self { summary, blocks, measures, deciding }
    }

    /// Why measures beside the deciding one have a question mark in the row of this cell. With each reason the label of a
    /// measure, and the seconds that it still needs.
    pub fn open_measures(&self, cell: &Cell) -> Vec<(&'a str, (&'a str, Option<f64>))> {
        let open = self.measures.iter().filter(|(currency, ..)| is_open(self.summary, cell, *currency) == Some(true));
        let measure = |(currency, ..): &Measure| {
            let ratio = self.summary.comparison_of(cell)?.ratio_in(*currency);
            Some(match ratio {
                Some(ratio) => {
                    (ratio.reason.as_deref().unwrap_or("not decided"), (ratio.label.as_str(), ratio.needed_s))
                }
                None => ("no start can state it for both servers", (currency.facts().label, None)),
            })
        };
        open.filter_map(measure).collect()
    }

    /// With the levels of all variants; or, narrower, with those of the baselines alone.
    fn grid(&self, levels: bool, style: &Style) -> Grid {
        let mut grid = Grid::default();
        let mut heads = vec![String::new(), self.verdict_heading(levels)];
        heads.extend(self.columns(levels).map(|(_, wide, narrow)| (if levels { wide } else { narrow }).to_owned()));
        grid.push_in(Tone::Head, heads);
        for cells in &self.blocks {
            grid.push_heading(self.heading(cells[0], style));
            let columns = self.scaled_columns(cells, levels);
            for cell in cells {
                let mut row = vec![(Tone::Plain, format!("  {}", cell.variant)), self.verdict(cell, levels)];
                row.extend(columns.iter().map(|(measure, scale)| self.figure(cell, measure.0, scale, levels)));
                grid.push(row);
            }
        }
        grid
    }

    fn stacked(&self, style: &Style) -> String {
        let mut out = String::new();
        for cells in &self.blocks {
            out += &format!("{}\n", self.heading(cells[0], style));
            let columns = self.scaled_columns(cells, true);
            let mut names = Grid::default();
            for cell in cells {
                names.push(vec![(Tone::Plain, format!("  {}", cell.variant)), self.verdict(cell, true)]);
            }
            for (cell, name) in cells.iter().zip(names.render(style.colored).lines()) {
                let figure = |((currency, _, narrow), scale): &(Measure, Scale)| {
                    format!("{narrow} {}", self.figure(cell, *currency, scale, true).1)
                };
                let figures: Vec<String> = columns.iter().map(figure).collect();
                out += &format!("{name}\n{}\n", wrap(&format!("      {}", figures.join(" · ")), style.width, 6));
            }
        }
        out
    }

    /// What brackets and the question mark mean, where they are drawn.
    fn legend(&self, style: &Style) -> String {
        let is_drawn = self.blocks.iter().flatten().any(|cell| !self.open_measures(cell).is_empty());
        let interval = interval_legend(self.summary);
        let mut ratios = self.summary.comparisons.iter().flat_map(|comparison| &comparison.currencies);
        let two_means =
            "a change is the mean of neighbouring measurements, and a level that of all: it is not their quotient";
        let parts: Vec<String> = interval
            .into_iter()
            .chain(is_drawn.then(|| OPEN.to_owned()))
            .chain(ratios.any(is_no_quotient).then(|| two_means.to_owned()))
            .collect();
        if parts.is_empty() {
            String::new()
        } else {
            style.paragraph(Tone::Quiet, &format!("    {}", parts.join(" · ")), 4)
        }
    }

    /// The measures that have a column. Without levels, the deciding one is in the column of the verdict.
    fn columns(&self, levels: bool) -> impl Iterator<Item = Measure> {
        let verdict = self.deciding.filter(|_| !levels).map(|(name, _)| name);
        self.measures.iter().copied().filter(move |(currency, ..)| verdict != Some(*currency))
    }

    fn scaled_columns(&self, cells: &[&Cell], levels: bool) -> Vec<(Measure, Scale)> {
        self.columns(levels).map(|measure| (measure, scale(cells, measure.0))).collect()
    }

    fn verdict_heading(&self, levels: bool) -> String {
        match self.deciding {
            Some((_, label)) if !levels => label.to_owned(),
            Some((name, label)) if name != Currency::Throughput => format!("by {label}"),
            _ => String::new(),
        }
    }

    /// The verdict on a variant. A baseline's is its level where there is no other column for it.
    fn verdict(&self, cell: &Cell, levels: bool) -> Piece {
        if cell.baseline {
            let of_deciding = self.deciding.filter(|_| !levels).and_then(|_| baseline_level(self.summary, cell));
            return (Tone::Quiet, of_deciding.unwrap_or_else(|| "baseline".to_owned()));
        }
        match self.summary.comparison_of(cell).and_then(|c| c.currencies.first()) {
            Some(first) => (first.verdict.into(), first.short.clone()),
            None => (Tone::Void, "void".to_owned()),
        }
    }

    /// A level, a change, or both. What is not known well enough has a question mark.
    fn figure(&self, cell: &Cell, currency: Currency, scale: &Scale, levels: bool) -> Piece {
        let comparison = self.summary.comparison_of(cell);
        let decides = comparison.and_then(|c| c.currencies.first()).is_some_and(|first| first.name == currency);
        let ratio = comparison.and_then(|c| c.ratio_in(currency)).filter(|_| !decides);
        let shown = level(cell, currency).map(|level| scale.show(level));
        let (tone, change) = match (is_open(self.summary, cell, currency), ratio) {
            (None, _) => (Tone::Plain, None),
            (Some(false), Some(ratio)) => (tone(ratio), Some(ratio.change().short())),
            // Next to a level only the mark is shown.
            (Some(_), Some(ratio))
                if !levels && ratio.verdict == VerdictKind::Inconclusive && ratio.bound.is_none() =>
            {
                (Tone::Plain, Some(format!("{} ?", ratio.change().short())))
            }
            (Some(_), _) => (Tone::Plain, Some("?".to_owned())),
        };
        match (shown, change) {
            (None, _) => (Tone::Plain, "–".to_owned()),
            (Some(_), Some(change)) if !levels => (tone, change),
            (Some(level), Some(change)) => (tone, format!("{level} {change}")),
            (Some(level), None) => (Tone::Plain, level),
        }
    }

    /// `SimpleGet, 128 users, closed loop · latency and CPU at 4,000/s, Poisson arrivals`, with the group where there are several.
    fn heading(&self, cell: &Cell, style: &Style) -> String {
        let load = cell.latency.first().map(|l| match l.model.strip_prefix("closed, ") {
            Some(users) => format!(", {users}, closed loop"),
            None => format!(", {}", l.model),
        });
        let several = self.summary.cells.iter().any(|c| c.group != cell.group) && !cell.group.ends_with(&cell.scenario);
        let group = if several { format!(" · {}", cell.group) } else { String::new() };
        let text = format!("{}{}{group}{}", cell.scenario, load.unwrap_or_default(), compared_at(cell));
        Tone::Head.paint(style.colored, &wrap(&clean::sanitize_line(&text), style.width, 4))
    }
}

/// The loads of latency and CPU, where they are not the one of the heading.
fn compared_at(cell: &Cell) -> String {
    let arrivals = |rate: &str| format!("{rate}, Poisson arrivals");
    let latency = cell.shown_latency().filter(|l| l.slice_kind == SliceKind::Poisson);
    let latency = latency.and_then(|l| l.offered_per_s).map(|per_s| arrivals(&rate(per_s)));
    let cpu = match cell.cpu_load.as_str() {
        "same fixed rate" => Some("a constant rate, the same for every server".to_owned()),
        "tries" => Some("the tries of the search for capacity".to_owned()),
        load => load.strip_prefix("Poisson ").map(arrivals),
    };
    match (latency, cpu) {
        (Some(latency), Some(cpu)) if latency == cpu => format!(" · latency and CPU at {cpu}"),
        (latency, cpu) => {
            let latency = latency.map(|load| format!(" · latency at {load}")).unwrap_or_default();
            latency + &cpu.map(|load| format!(" · CPU at {load}")).unwrap_or_default()
        }
    }
}

/// Whether a measure that does not decide has a question mark; `None` where nothing is compared.
pub(crate) fn is_open(summary: &Summary, cell: &Cell, currency: Currency) -> Option<bool> {
    let comparison = summary.comparison_of(cell)?;
    let first = comparison.currencies.first().filter(|first| first.name != currency)?;
    let has_levels = || {
        let baseline = summary.cells.iter().find(|other| other.id == comparison.baseline_cell);
        level(cell, currency).is_some() && baseline.is_some_and(|baseline| level(baseline, currency).is_some())
    };
    match comparison.ratio_in(currency) {
        _ if first.verdict == VerdictKind::Void => None,
        Some(ratio) if ratio.verdict == VerdictKind::Void => None,
        Some(ratio) => Some(ratio.verdict == VerdictKind::Inconclusive || comparison.untold(ratio).is_some()),
        None => has_levels().then_some(true),
    }
}

fn level(cell: &Cell, currency: Currency) -> Option<f64> {
    Some(cell.level_in(currency)?.value)
}

/// What a baseline reached in the measure that decides.
fn baseline_level(summary: &Summary, cell: &Cell) -> Option<String> {
    let first = summary.comparisons.iter().find(|c| c.baseline_cell == cell.id)?.currencies.first()?;
    let is_users = first.unit == "users";
    Some(if is_users {
        format!("{:.0} users", first.baseline_value)
    } else {
        single(Unit::with_name(first.name.facts().unit), first.baseline_value)
    })
}

fn tone(ratio: &CurrencyRatio) -> Tone {
    if ratio.verdict.is_difference() { ratio.verdict.into() } else { Tone::Plain }
}
