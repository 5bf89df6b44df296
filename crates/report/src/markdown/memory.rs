//! Memory by server and scenario, as a table of Markdown: what each needed at most.

use crate::clean::escape_markdown as safe;
use crate::markdown::{fenced, table};
use tare_analysis::format::{Unit, single};
use tare_analysis::summary::{Cell, Summary, ValidityState};
use tare_units::distinct;

pub fn render(summary: &Summary) -> String {
    let scenarios = distinct(summary.cells.iter().map(|cell| cell.scenario.as_str()));
    let variants = distinct(summary.cells.iter().filter(|cell| !cell.control).map(|cell| cell.variant.as_str()));
    let names: Vec<String> = scenarios.iter().map(|name| safe(name)).collect();
    let head = format!(
        "Largest resident memory; of a runtime that tells it also the largest heap in use, garbage included, and the most that a collection left.\n\n\
         | server | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let rows = variants.into_iter().map(|variant| {
        let of = |scenario: &&str| summary.cells.iter().find(|c| c.variant == variant && c.scenario == *scenario);
        let figures = scenarios.iter().map(|scenario| of(scenario).map_or("–".to_owned(), memory));
        std::iter::once(variant.to_owned()).chain(figures).collect::<Vec<_>>()
    });
    format!("{}\nAgain:\n\n{}\n", table(&head, rows), fenced(&summary.run.command))
}

/// `812 MB (heap 604 MB, 41 MB left)`.
fn memory(cell: &Cell) -> String {
    let bytes = |bytes: u64| single(Unit::Bytes, bytes as f64);
    let Some(resident) = cell.rss_peak_bytes else { return "not available".to_owned() };
    let left = cell.probes.heap_after_gc_peak_bytes.map_or(String::new(), |left| format!(", {} left", bytes(left)));
    let heap = cell.heap_used_peak_bytes.map_or(String::new(), |heap| format!(" (heap {}{left})", bytes(heap)));
    let doubt = if cell.validity.state == ValidityState::Void { ", VOID" } else { "" };
    format!("{}{heap}{doubt}", bytes(resident))
}
