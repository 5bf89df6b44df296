//! Other load tools' figures in the terminal: a row per cell and tool, and a line where a tool has none.

use super::Style;
use super::grid::{Grid, Piece, wrap};
use crate::clean;
use crate::palette::Tone;
use tare_analysis::format::{Unit, single};
use tare_analysis::summary::{CrossCheck, Summary, ToolFigure};

const COLUMNS: [&str; 4] = ["throughput", "mean", "p50", "p99"];

pub(super) fn cross_checks(summary: &Summary, style: &Style) -> String {
    if summary.cross_checks.is_empty() {
        return String::new();
    }
    let head = "cross-checks: the tool's figure, and in brackets what it is of tare's";
    let notes: String = summary.cross_checks.iter().filter_map(|check| note(check, style)).collect();
    format!("\n{}\n{}{notes}", style.palette().paint(Tone::Head, head), table(summary, style))
}

fn table(summary: &Summary, style: &Style) -> String {
    let mut rows = summary.cross_checks.iter().filter(|check| check.note.is_none()).map(row).peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let mut grid = Grid::default();
    grid.push_in(Tone::Head, ["", ""].into_iter().chain(COLUMNS).chain(["failed"]));
    rows.for_each(|row| grid.push(row));
    grid.render(&style.palette())
}

fn row(check: &CrossCheck) -> Vec<Piece> {
    let mut row = vec![
        (Tone::Plain, format!("  {} {}", check.scenario, check.variant)),
        (Tone::Quiet, format!("{} {}", check.engine, check.version)),
    ];
    row.extend(COLUMNS.map(|name| {
        let figure = check.figures.iter().find(|figure| figure.name == name);
        (Tone::Plain, figure.map_or("–".to_owned(), shown))
    }));
    row.push((Tone::Plain, check.requests_failed.map_or("–".to_owned(), |failed| failed.to_string())));
    row
}

/// `18.2 k/s (× 0.97)`.
pub(crate) fn shown(figure: &ToolFigure) -> String {
    let unit = if figure.unit == "ns" { Unit::Nanos } else { Unit::PerSecond };
    let ratio = figure.ratio.map_or(String::new(), |ratio| format!(" (× {ratio:.2})"));
    single(unit, figure.theirs) + &ratio
}

fn note(check: &CrossCheck, style: &Style) -> Option<String> {
    let note = check.note.as_ref()?;
    let text = format!("  {} on {} of {}: {}", check.engine, check.scenario, check.variant, note);
    Some(wrap(&clean::sanitize_line(&text), style.width, 4) + "\n")
}
