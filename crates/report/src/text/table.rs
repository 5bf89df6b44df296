//! The table of one scenario: a row per variant, and below it the reasons why a number is not to be relied on.

use tare_plan::plan::SliceKind;

use super::Style;
use super::grid::{Grid, Piece, wrap};
use super::{capacity, messages};
use crate::clean;
use crate::currency::Currency;
use crate::format::{Change, Scale, Unit, WORTH_WAITING_S, enumerate, rate, roughly};
use crate::palette::Tone;
use crate::summary::{Cell, Comparison, CurrencyRatio, Estimate, Summary, ValidityState, VerdictKind};

pub(super) fn table(summary: &Summary, cells: &[&Cell], style: &Style) -> String {
    let columns = Columns::of(summary, cells);
    let all_valid = cells.iter().all(|c| c.validity.state == ValidityState::Valid);
    let whole = columns.grid(summary, cells);
    let without_valid = if all_valid { whole.without_last() } else { whole.clone() };
    let fits = |grid: &Grid| grid.width() <= style.width;
    let (body, unsaid) = match () {
        () if fits(&whole) => (whole.render(&style.palette()), ""),
        () if fits(&without_valid) => (without_valid.render(&style.palette()), " · all valid"),
        () => (columns.stacked(summary, cells, style), ""),
    };
    let by = decided_otherwise(summary, cells).map_or(String::new(), |label| format!(" · compared by {label}"));
    let heading = wrap(&format!("{}{by}{unsaid}", clean::line(&heading(summary, cells[0]))), style.width, 4);
    let mut out = style.palette().paint(Tone::Head, &heading) + "\n" + &body;
    for note in paragraphs(cells).chain(notes(summary, cells)) {
        out.push_str(&style.palette().paint(Tone::Quiet, &wrap(&format!("    {note}"), style.width, 6)));
        out.push('\n');
    }
    out
}

/// What cells have to say beside their row.
fn paragraphs<'a>(cells: &'a [&'a Cell]) -> impl Iterator<Item = String> + 'a {
    cells.iter().flat_map(|cell| [capacity::paragraph(cell), messages::paragraph(cell)]).flatten()
}

/// Units and headings that all rows of a table share.
struct Columns {
    /// But where the server sends on its own clock.
    throughput: Option<Scale>,
    cpu: Scale,
    latency: Scale,
    /// Where a server is a JVM.
    allocated: Option<Scale>,
}

impl Columns {
    fn of(summary: &Summary, cells: &[&Cell]) -> Self {
        let values = |of: fn(&Cell) -> Option<f64>| cells.iter().filter_map(move |c| of(c)).collect::<Vec<_>>();
        let allocated = values(|c| c.allocated_bytes_per_request.map(|e| e.value));
        Self {
            throughput: decided_otherwise(summary, cells)
                .is_none()
                .then(|| Scale::for_values(Unit::PerSecond, values(|c| c.throughput_per_s.map(|e| e.value)))),
            cpu: Scale::for_values(Unit::Nanos, values(|c| c.cpu_ns_per_request.map(|e| e.value))),
            latency: Scale::for_values(Unit::Nanos, values(|c| p99(c).map(|v| v.0))),
            allocated: (!allocated.is_empty()).then(|| Scale::for_values(Unit::Bytes, allocated)),
        }
    }

    fn grid(&self, summary: &Summary, cells: &[&Cell]) -> Grid {
        let mut grid = Grid::default();
        let allocated = self.allocated.map(|_| "allocated/request");
        let throughput = self.throughput.map(|_| "throughput");
        let figures = throughput.into_iter().chain(["CPU/request", "p99"]).chain(allocated);
        let heads = ["", ""].into_iter().chain(figures).chain(["valid"]);
        grid.push(heads.map(|head| (Tone::Head, head.to_owned())).collect());
        cells.iter().for_each(|cell| grid.push(self.row(summary, cell)));
        grid
    }

    fn row(&self, summary: &Summary, cell: &Cell) -> Vec<Piece> {
        let (tone, verdict) = verdict(summary, cell);
        let mut row = vec![(Tone::Plain, format!("  {}", clean::line(&cell.variant))), (tone, verdict)];
        row.extend(self.throughput(summary, cell).map(|figure| (Tone::Plain, figure)));
        row.push((Tone::Plain, self.cpu(summary, cell)));
        row.push((Tone::Plain, self.p99(summary, cell)));
        row.extend(self.allocated(summary, cell).map(|figure| (Tone::Plain, figure)));
        row.push(valid(cell));
        row
    }

    /// Two lines a variant, where one is too long.
    fn stacked(&self, summary: &Summary, cells: &[&Cell], style: &Style) -> String {
        let palette = &style.palette();
        let mut out = String::new();
        let mut grid = Grid::default();
        for cell in cells {
            grid.push(vec![(Tone::Plain, format!("  {}", clean::line(&cell.variant))), verdict(summary, cell)]);
        }
        for (cell, line) in cells.iter().zip(grid.render(palette).lines()) {
            let (tone, word) = valid(cell);
            let mut figures: Vec<String> = self.throughput(summary, cell).into_iter().collect();
            figures.push(format!("CPU {}", self.cpu(summary, cell)));
            figures.push(format!("p99 {}", self.p99(summary, cell)));
            figures.extend(self.allocated(summary, cell).map(|figure| format!("allocated {figure}")));
            figures.push(if tone == Tone::Plain { "valid".to_owned() } else { word });
            let figures = wrap(&format!("      {}", figures.join(" · ")), style.width, 6);
            out.push_str(&format!("{line}\n{figures}\n"));
        }
        out
    }

    fn throughput(&self, summary: &Summary, cell: &Cell) -> Option<String> {
        let deciding = comparison(summary, cell)
            .and_then(|c| c.currencies.first())
            .is_some_and(|c| c.name == Currency::Throughput);
        let change = if deciding { None } else { currency(summary, cell, Currency::Throughput) };
        self.throughput.map(|scale| figure(&scale, cell.throughput_per_s.map(spread), change))
    }

    fn cpu(&self, summary: &Summary, cell: &Cell) -> String {
        figure(&self.cpu, cell.cpu_ns_per_request.map(spread), currency(summary, cell, Currency::CpuPerRequest))
    }

    fn allocated(&self, summary: &Summary, cell: &Cell) -> Option<String> {
        let value = cell.allocated_bytes_per_request.map(spread);
        self.allocated.map(|scale| figure(&scale, value, currency(summary, cell, Currency::AllocatedPerRequest)))
    }

    fn p99(&self, summary: &Summary, cell: &Cell) -> String {
        figure(&self.latency, p99(cell), currency(summary, cell, Currency::LatencyP99))
    }
}

/// `SimpleGet, 128 users, closed loop · latency and CPU at Poisson 4,000/s`, with the group where there are several.
fn heading(summary: &Summary, cell: &Cell) -> String {
    let load = cell.latency.first().map(|l| match l.model.strip_prefix("closed, ") {
        Some(users) => format!(", {users}, closed loop"),
        None => format!(", {}", l.model),
    });
    let several = summary.cells.iter().any(|c| c.group != cell.group) && !cell.group.ends_with(&cell.scenario);
    let group = if several { format!(" · {}", cell.group) } else { String::new() };
    format!("{}{}{group}{}", cell.scenario, load.unwrap_or_default(), compared_at(cell))
}

/// The loads of latency and CPU, where they are not the saturating one.
fn compared_at(cell: &Cell) -> String {
    let latency = cell.shown_latency().filter(|l| l.slice_kind == SliceKind::Poisson);
    let latency = latency.and_then(|l| l.offered_per_s).map(|per_s| format!("Poisson {}", rate(per_s)));
    let cpu = Some(cell.cpu_load.clone()).filter(|load| !load.is_empty() && load != "saturating");
    match (latency, cpu) {
        (Some(latency), Some(cpu)) if latency == cpu => format!(" · latency and CPU at {cpu}"),
        (latency, cpu) => {
            let latency = latency.map(|load| format!(" · latency at {load}")).unwrap_or_default();
            latency + &cpu.map(|load| format!(" · CPU at {load}")).unwrap_or_default()
        }
    }
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

fn figure(scale: &Scale, value: Option<(f64, Option<f64>)>, currency: Option<&CurrencyRatio>) -> String {
    let Some((value, half_width)) = value else { return "–".to_owned() };
    let value = scale.show(value, half_width);
    let Some(currency) = currency else { return value };
    let change = Change { ratio: currency.ratio, bounds: currency.lo.zip(currency.hi) };
    // What is not decided has no figure: the sentence of the verdict says inconclusive, and the full report the rest.
    match currency.verdict {
        VerdictKind::Void | VerdictKind::Inconclusive => value,
        _ => format!("{value} {}", change.short()),
    }
}

fn comparison<'a>(summary: &'a Summary, cell: &Cell) -> Option<&'a Comparison> {
    summary.comparisons.iter().find(|c| c.cell == cell.id)
}

fn currency<'a>(summary: &'a Summary, cell: &Cell, name: Currency) -> Option<&'a CurrencyRatio> {
    comparison(summary, cell)?.currencies.iter().find(|c| c.name == name)
}

/// What the verdicts of a table are about where that is a latency: what a server pushes has no throughput of its own.
fn decided_otherwise<'a>(summary: &'a Summary, cells: &[&Cell]) -> Option<&'a str> {
    let first = cells.iter().find_map(|cell| comparison(summary, cell)?.currencies.first())?;
    first.name.is_latency().then_some(&first.label)
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

/// Why comparisons are inconclusive and cells not valid, each reason once with all it holds for.
fn notes(summary: &Summary, cells: &[&Cell]) -> Vec<String> {
    let mut notes: Vec<Note> = Vec::new();
    for cell in cells {
        let first = comparison(summary, cell).and_then(|c| c.currencies.first());
        if let Some(first) = first.filter(|c| c.verdict == VerdictKind::Inconclusive) {
            let why = first.reason.as_deref().map(|reason| format!(", {reason}")).unwrap_or_default();
            Note::add(&mut notes, cell, format!("inconclusive{why}"), first.needed_s);
        }
        if let Some(prior) = first.and_then(|c| c.prior.as_ref()) {
            Note::add(&mut notes, cell, prior.text.clone(), None);
        }
        let word = if cell.validity.state == ValidityState::Void { "void" } else { "suspect" };
        for reason in &cell.validity.reasons {
            Note::add(&mut notes, cell, format!("{word}, {}", clean::line(&reason.text)), None);
        }
    }
    notes.iter().map(Note::text).collect()
}

/// One reason and the variants it holds for.
struct Note {
    variants: Vec<String>,
    reason: String,
    /// The longest time that any of them still needs.
    needed_s: Option<f64>,
}

impl Note {
    fn add(notes: &mut Vec<Self>, cell: &Cell, reason: String, needed_s: Option<f64>) {
        let variant = clean::line(&cell.variant).to_string();
        match notes.iter_mut().find(|n| n.reason == reason && n.needed_s.is_some() == needed_s.is_some()) {
            Some(note) => {
                note.variants.push(variant);
                note.needed_s = note.needed_s.zip(needed_s).map(|(a, b)| a.max(b));
            }
            None => notes.push(Self { variants: vec![variant], reason, needed_s }),
        }
    }

    fn text(&self) -> String {
        let all = if self.variants.len() > 1 { " for all" } else { "" };
        let needed = self.needed_s.filter(|s| *s <= WORTH_WAITING_S);
        let needed = needed.map(|s| format!("; about {} more needed{all}", roughly(s))).unwrap_or_default();
        format!("{}: {}{needed}", enumerate(&self.variants), self.reason)
    }
}
