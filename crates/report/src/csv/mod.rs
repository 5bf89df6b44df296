//! CSV after RFC 4180: `cells.csv`, one row per cell, and `slices.csv`, one row per slice, raw.

mod cells;
mod slices;

use std::fmt::Display;

use serde::Serialize;
use tare_analysis::Currency;
use tare_analysis::summary::{Cell, Summary};
use tare_record::RunRecord;

use cells::{COMPARED, CellRow, MEASURED, PROBED, RATIO_COLUMNS};

pub fn cells_as_csv(summary: &Summary) -> String {
    let ratio_names = Currency::ALL
        .iter()
        .flat_map(|currency| RATIO_COLUMNS.iter().map(|(ending, _)| format!("{}{ending}", currency.facts().name)));
    let named = |columns: &[(&str, _)]| columns.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let names = named(MEASURED).into_iter().chain(named(COMPARED)).chain(ratio_names).chain(named(PROBED));
    let row = |cell: &Cell| {
        let comparison = summary.comparison_of(cell);
        let sentence = comparison.and_then(|c| summary.sentences.iter().find(|s| s.comparison == c.id));
        let row = CellRow { cell, comparison, sentence, headline: &summary.headline };
        let ratios = Currency::ALL.iter().flat_map(|currency| {
            let ratio = row.ratio_in(*currency);
            RATIO_COLUMNS.iter().map(move |(_, value)| maybe(ratio.and_then(value)))
        });
        let before = MEASURED.iter().chain(COMPARED).map(|(_, text)| text(&row));
        line(before.chain(ratios).chain(PROBED.iter().map(|(_, text)| text(&row))))
    };
    line(names) + &summary.cells.iter().map(row).collect::<String>()
}

/// One row per slice, warm-up included.
pub fn slices_as_csv(record: &RunRecord) -> String {
    let head = line(slices::COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    let row = |slice| line(slices::COLUMNS.iter().map(|(_, text)| text(slice)));
    head + &record.slices.iter().map(row).collect::<String>()
}

/// One row, with fields quoted where they must be.
pub(crate) fn line(fields: impl Iterator<Item = String>) -> String {
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(fields.map(String::into_bytes)).expect("memory takes every row");
    String::from_utf8_lossy(&writer.into_inner().expect("memory takes every row")).into_owned()
}

/// A value, or nothing where there is none: absent is not zero.
pub(crate) fn maybe<T: ToString>(value: Option<T>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

/// A JSON word, such as `no_material_difference`.
fn word<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Numbers by class: `timeout=3 status=1`.
fn counts(classes: impl Iterator<Item = (impl Display, u64)>) -> String {
    classes.map(|(class, count)| format!("{class}={count}")).collect::<Vec<_>>().join(" ")
}
