//! Other load tools' figures: a row per cell and tool, and a line where a tool has none.

use super::Style;
use super::sheet::Sheet;
use crate::palette::Tone;
use tare_analysis::format::{Unit, single};
use tare_analysis::summary::{CrossCheck, Summary, ToolFigure};

const FIGURES: [&str; 4] = ["throughput", "mean", "p50", "p99"];

pub(crate) fn sheet(summary: &Summary) -> Sheet {
    let row = |check: &CrossCheck| {
        let tool = format!("{} {}", check.engine, check.version);
        let figure = |name: &str| check.figures.iter().find(|figure| figure.name == name);
        let figures = FIGURES.map(|name| figure(name).map_or("–".to_owned(), shown));
        let failed = check.requests_failed.map_or("–".to_owned(), |failed| failed.to_string());
        let place = [check.scenario.clone(), check.variant.clone(), tool];
        Sheet::plain(place.into_iter().chain(figures).chain([failed]))
    };
    let title = "Cross-checks: the tool's figure, and in brackets what it is of tare's";
    let columns = ["scenario", "server", "tool"].into_iter().chain(FIGURES).chain(["failed"]);
    Sheet::new(title, columns, summary.cross_checks.iter().filter(|check| check.note.is_none()).map(row))
}

pub(crate) fn notes(summary: &Summary) -> impl Iterator<Item = String> {
    let note = |check: &CrossCheck| {
        let note = check.note.as_ref()?;
        Some(format!("{} on {} of {}: {note}", check.engine, check.scenario, check.variant))
    };
    summary.cross_checks.iter().filter_map(note)
}

pub(super) fn cross_checks(summary: &Summary, style: &Style) -> String {
    let notes = notes(summary).map(|note| style.paragraph(Tone::Plain, &format!("  {note}"), 4));
    sheet(summary).text(style) + &notes.collect::<String>()
}

/// `18.2 k/s (× 0.97)`.
fn shown(figure: &ToolFigure) -> String {
    let unit = if figure.unit == "ns" { Unit::Nanos } else { Unit::PerSecond };
    let ratio = figure.ratio.map_or(String::new(), |ratio| format!(" (× {ratio:.2})"));
    single(unit, figure.theirs) + &ratio
}
