//! The terminal report: headlines, a table per scenario, the noise floor, findings. Where the full report lies is for the command line to say.

mod grid;

use crate::clean;
use crate::format::{Change, Scale, Unit, sentence, share};
use crate::palette::{Palette, Tone};
use crate::summary::{
    Cell, Comparison, Currency, Estimate, Finding, Mode, RunStatus, Severity, Summary, ValidityState, VerdictKind,
};
use grid::{Grid, Piece, wrap};

/// How the terminal report is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Colours, or none for files, pipes and `NO_COLOR`.
    pub colored: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Style {
    fn palette(&self) -> Palette {
        if self.colored { Palette::COLOURED } else { Palette::PLAIN }
    }
}

/// The whole report for a terminal.
pub fn render(summary: &Summary, style: &Style) -> String {
    let mut out = head(summary, style);
    for cells in tables(summary) {
        out.push('\n');
        out.push_str(&table(summary, &cells, style));
    }
    out.push('\n');
    out.push_str(&noise(summary));
    out.push_str(&findings(summary, style));
    out
}

fn head(summary: &Summary, style: &Style) -> String {
    let run = &summary.run;
    let status = match run.status {
        RunStatus::Complete => String::new(),
        RunStatus::BudgetSpent => " · the budget was spent first".to_owned(),
        RunStatus::Interrupted => " · interrupted".to_owned(),
        RunStatus::Partial => " · partial".to_owned(),
    };
    let mut out = style.palette().paint(Tone::Head, &format!("tare · {}{status}", clean::line(&run.id))) + "\n";
    for line in &run.headline {
        out.push_str(&wrap(&format!("  {}", clean::line(line)), style.width, 4));
        out.push('\n');
    }
    out
}

/// Cells of one group and scenario each, in the order of the summary; the control stands in the noise line instead.
fn tables(summary: &Summary) -> Vec<Vec<&Cell>> {
    let mut tables: Vec<Vec<&Cell>> = Vec::new();
    let itself = |cell: &Cell| summary.comparisons.iter().any(|c| c.cell == cell.id);
    for cell in summary.cells.iter().filter(|c| !c.control || itself(c)) {
        match tables.last_mut().filter(|t| (&t[0].group, &t[0].scenario) == (&cell.group, &cell.scenario)) {
            Some(table) => table.push(cell),
            None => tables.push(vec![cell]),
        }
    }
    tables
}

fn table(summary: &Summary, cells: &[&Cell], style: &Style) -> String {
    let columns = Columns::of(summary, cells);
    let mut grid = Grid::default();
    grid.push(columns.head(summary, cells));
    cells.iter().for_each(|cell| grid.push(columns.row(summary, cell)));
    let mut out =
        if grid.width() <= style.width { grid.render(&style.palette()) } else { columns.narrow(summary, cells, style) };
    for note in cells.iter().flat_map(|cell| notes(summary, cell)) {
        out.push_str(&style.palette().paint(Tone::Quiet, &wrap(&format!("    {note}"), style.width, 6)));
        out.push('\n');
    }
    out
}

/// Units and headings that all rows of a table share.
struct Columns {
    throughput: Scale,
    cpu: Scale,
    latency: Scale,
    latency_label: String,
}

impl Columns {
    fn of(summary: &Summary, cells: &[&Cell]) -> Self {
        let values = |of: fn(&Cell) -> Option<f64>| cells.iter().filter_map(move |c| of(c)).collect::<Vec<_>>();
        let label = cells.iter().filter_map(|c| currency(summary, c, "latency_p99")).map(|c| c.label.clone()).next();
        Self {
            throughput: Scale::for_values(Unit::PerSecond, values(|c| c.throughput_per_s.map(|e| e.value))),
            cpu: Scale::for_values(Unit::Nanos, values(|c| c.cpu_ns_per_request.map(|e| e.value))),
            latency: Scale::for_values(Unit::Nanos, values(|c| p99(c).map(|v| v.0))),
            latency_label: label.unwrap_or_else(|| "p99".to_owned()),
        }
    }

    fn head(&self, summary: &Summary, cells: &[&Cell]) -> Vec<Piece> {
        let title = heading(summary, cells[0]);
        let heads = [title.as_str(), "", "throughput", "CPU/request", &self.latency_label, "valid"];
        heads.map(|head| (Tone::Head, clean::line(head))).to_vec()
    }

    fn row(&self, summary: &Summary, cell: &Cell) -> Vec<Piece> {
        let (tone, verdict) = verdict(summary, cell);
        vec![
            (Tone::Plain, format!("  {}", clean::line(&cell.variant))),
            (tone, verdict),
            (Tone::Plain, self.throughput(summary, cell)),
            (Tone::Plain, self.cpu(summary, cell)),
            (Tone::Plain, self.p99(summary, cell)),
            valid(cell),
        ]
    }

    /// Two lines a variant, for 80 columns.
    fn narrow(&self, summary: &Summary, cells: &[&Cell], style: &Style) -> String {
        let palette = &style.palette();
        let mut out = palette.paint(Tone::Head, &clean::line(&heading(summary, cells[0]))) + "\n";
        let mut grid = Grid::default();
        for cell in cells {
            grid.push(vec![(Tone::Plain, format!("  {}", clean::line(&cell.variant))), verdict(summary, cell)]);
        }
        for (cell, line) in cells.iter().zip(grid.render(palette).lines()) {
            let (tone, word) = valid(cell);
            let figures = [
                self.throughput(summary, cell),
                format!("CPU {}", self.cpu(summary, cell)),
                format!("{} {}", self.latency_label, self.p99(summary, cell)),
                if tone == Tone::Plain { "valid".to_owned() } else { word },
            ];
            let figures = wrap(&format!("      {}", figures.join(" · ")), style.width, 6);
            out.push_str(&format!("{line}\n{figures}\n"));
        }
        out
    }

    fn throughput(&self, summary: &Summary, cell: &Cell) -> String {
        let deciding =
            comparison(summary, cell).and_then(|c| c.currencies.first()).is_some_and(|c| c.name == "throughput");
        let change = if deciding { None } else { currency(summary, cell, "throughput") };
        figure(&self.throughput, cell.throughput_per_s.map(spread), change)
    }

    fn cpu(&self, summary: &Summary, cell: &Cell) -> String {
        figure(&self.cpu, cell.cpu_ns_per_request.map(spread), currency(summary, cell, "cpu_per_request"))
    }

    fn p99(&self, summary: &Summary, cell: &Cell) -> String {
        figure(&self.latency, p99(cell), currency(summary, cell, "latency_p99"))
    }
}

/// `SimpleGet (closed, 128 users)`, with the group where there are several.
fn heading(summary: &Summary, cell: &Cell) -> String {
    let load = cell.latency.first().map(|l| format!(" ({})", l.model)).unwrap_or_default();
    let several = summary.cells.iter().any(|c| c.group != cell.group) && !cell.group.ends_with(&cell.scenario);
    let group = if several { format!(" · {}", cell.group) } else { String::new() };
    format!("{}{load}{group}", cell.scenario)
}

/// Value and half-width.
fn spread(estimate: Estimate) -> (f64, Option<f64>) {
    (estimate.value, estimate.lo.zip(estimate.hi).map(|(lo, hi)| (hi - lo) / 2.0))
}

/// p99 of response time under the load that latency is compared at.
fn p99(cell: &Cell) -> Option<(f64, Option<f64>)> {
    let percentiles = &cell.shown_latency()?.response.percentiles;
    let p99 = percentiles.iter().find(|p| p.percentile == 99.0)?;
    Some((p99.value_ns as f64, p99.lo_ns.zip(p99.hi_ns).map(|(lo, hi)| (hi - lo) as f64 / 2.0)))
}

fn figure(scale: &Scale, value: Option<(f64, Option<f64>)>, currency: Option<&Currency>) -> String {
    let Some((value, half_width)) = value else { return "–".to_owned() };
    let value = scale.show(value, half_width);
    let Some(currency) = currency else { return value };
    let change = Change { ratio: currency.ratio, bounds: currency.lo.zip(currency.hi) };
    match currency.verdict {
        VerdictKind::Void => value,
        VerdictKind::Inconclusive => format!("{value}  inconclusive"),
        _ => format!("{value}  {}", change.short()),
    }
}

fn comparison<'a>(summary: &'a Summary, cell: &Cell) -> Option<&'a Comparison> {
    summary.comparisons.iter().find(|c| c.cell == cell.id)
}

fn currency<'a>(summary: &'a Summary, cell: &Cell, name: &str) -> Option<&'a Currency> {
    comparison(summary, cell)?.currencies.iter().find(|c| c.name == name)
}

fn verdict(summary: &Summary, cell: &Cell) -> Piece {
    if cell.baseline {
        return (Tone::Quiet, "baseline".to_owned());
    }
    match comparison(summary, cell).and_then(|c| c.currencies.first()) {
        Some(first) => (first.verdict.into(), first.short.clone()),
        None => (Tone::Void, "void".to_owned()),
    }
}

fn valid(cell: &Cell) -> Piece {
    match cell.validity.state {
        ValidityState::Valid => (Tone::Plain, "yes".to_owned()),
        ValidityState::Suspect => (Tone::Worse, "suspect".to_owned()),
        ValidityState::Void => (Tone::Void, "VOID".to_owned()),
    }
}

/// Why a cell is not valid, and what an inconclusive comparison still needs.
fn notes(summary: &Summary, cell: &Cell) -> Vec<String> {
    let name = clean::line(&cell.variant);
    let mut notes: Vec<String> = Vec::new();
    let first = comparison(summary, cell).and_then(|c| c.currencies.first());
    if let Some(first) = first.filter(|c| c.verdict == VerdictKind::Inconclusive) {
        let needed = first.needed_s.map(|s| format!("about {} more needed", crate::format::duration(s)));
        let why: Vec<String> = first.reason.clone().into_iter().chain(needed).collect();
        notes.push(format!("{name}: inconclusive, {}", why.join("; ")));
    }
    let word = if cell.validity.state == ValidityState::Void { "void" } else { "suspect" };
    notes.extend(cell.validity.reasons.iter().map(|reason| format!("{name}: {word}, {}", clean::line(reason))));
    notes
}

fn noise(summary: &Summary) -> String {
    let floor = summary
        .noise
        .iter()
        .filter_map(|n| n.floor)
        .fold(None, |most: Option<f64>, f| Some(most.map_or(f, |m| m.max(f))));
    match floor {
        Some(floor) => format!("  noise floor (A/A, same server twice): ±{}\n", share(floor)),
        None if summary.run.mode == Mode::Sequential => String::new(),
        None if summary.noise.is_empty() => "  noise floor: not measured (no A/A control)\n".to_owned(),
        None => "  noise floor (A/A, same server twice): no interval yet\n".to_owned(),
    }
}

fn findings(summary: &Summary, style: &Style) -> String {
    summary.findings.iter().map(|finding| one_finding(finding, style)).collect()
}

fn one_finding(finding: &Finding, style: &Style) -> String {
    let (tone, word) = match finding.severity {
        Severity::Info => (Tone::Quiet, "note"),
        Severity::Warning => (Tone::Worse, "warning"),
        Severity::Error => (Tone::Void, "error"),
    };
    let remedy = finding.remedy.as_ref().map(|r| format!(" {}", sentence(&clean::line(r)))).unwrap_or_default();
    let text =
        format!("  {word:<7} {}: {}{remedy}", clean::line(&finding.title), sentence(&clean::line(&finding.text)));
    let text = wrap(&text, style.width, 10);
    let log: String =
        finding.log.iter().flat_map(|log| log.lines()).map(|l| format!("          │ {}\n", clean::line(l))).collect();
    let painted = text.replacen(word, &style.palette().paint(tone, word), 1);
    format!("{painted}\n{}", style.palette().paint(Tone::Quiet, &log))
}
