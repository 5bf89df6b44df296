//! Every metric that a report states: the single list from which the CSV headers come, and which docs/METRICS.md repeats.

mod cells;
mod comparisons;
mod messages;
mod probes;
mod series;
mod slices;

use std::borrow::Cow;

use tare_record::StoredSlice;

use tare_analysis::Currency;
use tare_analysis::summary::{Cell, Comparison, CurrencyRatio, Headline, Sentence};

/// One metric: what it is called, counted in, and where it comes from.
#[derive(Debug, Clone)]
pub struct Metric {
    /// Its name in CSV and JSON.
    pub name: Cow<'static, str>,
    /// Its unit; `text` for words, `bool` for yes and no, `1` for a ratio or share.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Where it is written.
    pub place: Place,
}

/// Where a metric is written, with its value there.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// A column of `cells.csv` and a key of `summary.json`.
    Cells(fn(&CellRow<'_>) -> String),
    /// The same, of the ratio in one currency.
    Ratios(Currency, fn(&CurrencyRatio) -> Option<f64>),
    /// A column of `slices.csv`.
    Slices(fn(&StoredSlice) -> String),
    /// Only a key of `summary.json`.
    Json,
}

/// A cell with its comparison, where it has one.
#[derive(Debug, Clone, Copy)]
pub struct CellRow<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Its comparison with the baseline.
    pub comparison: Option<&'a Comparison>,
    /// The answer of that comparison.
    pub sentence: Option<&'a Sentence>,
    /// The answer of the run, the same in every row.
    pub headline: &'a Headline,
}

impl CellRow<'_> {
    /// The ratio of this currency, where both sides have it.
    pub(crate) fn ratio_in(&self, name: Currency) -> Option<&CurrencyRatio> {
        self.comparison?.currencies.iter().find(|c| c.name == name)
    }
}

/// All metrics: of cells, of what they pushed, of comparisons with the baseline, of slices, and of the series that only the
/// JSON has.
pub fn all() -> impl Iterator<Item = Metric> {
    let of_cells = [cells::METRICS, messages::METRICS, comparisons::METRICS];
    let of_slices = [probes::OF_CELLS, slices::METRICS, probes::OF_SLICES, series::METRICS];
    let ratios = Currency::ALL.iter().copied().flat_map(comparisons::of_currency);
    of_cells.into_iter().flatten().cloned().chain(ratios).chain(of_slices.into_iter().flatten().cloned())
}

/// The columns of `cells.csv`, each with its value in a row.
pub fn cell_columns() -> impl Iterator<Item = (Cow<'static, str>, impl Fn(&CellRow<'_>) -> String)> {
    all().filter(|metric| matches!(metric.place, Place::Cells(_) | Place::Ratios(..))).map(|metric| {
        let value = move |row: &CellRow<'_>| match metric.place {
            Place::Cells(value) => value(row),
            Place::Ratios(currency, value) => {
                maybe(row.ratio_in(currency).filter(|ratio| ratio.bound.is_none()).and_then(value))
            }
            Place::Slices(_) | Place::Json => String::new(),
        };
        (metric.name, value)
    })
}

/// The columns of `slices.csv`.
pub fn slice_columns() -> impl Iterator<Item = (Cow<'static, str>, fn(&StoredSlice) -> String)> {
    all().filter_map(|metric| match metric.place {
        Place::Slices(value) => Some((metric.name, value)),
        _ => None,
    })
}

/// The metrics as rows of a Markdown table, as docs/METRICS.md holds them.
pub fn markdown_rows() -> Vec<String> {
    all().map(|m| format!("| `{}` | {} | {} | {} |", m.name, m.unit, m.meaning, m.source)).collect()
}

pub(crate) const fn cell(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    source: &'static str,
    value: fn(&CellRow<'_>) -> String,
) -> Metric {
    Metric { name: Cow::Borrowed(name), unit, meaning, source, place: Place::Cells(value) }
}

const fn slice(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    source: &'static str,
    value: fn(&StoredSlice) -> String,
) -> Metric {
    Metric { name: Cow::Borrowed(name), unit, meaning, source, place: Place::Slices(value) }
}

const fn json(name: &'static str, unit: &'static str, meaning: &'static str, source: &'static str) -> Metric {
    Metric { name: Cow::Borrowed(name), unit, meaning, source, place: Place::Json }
}

/// A value, or nothing where there is none: absent is not zero.
pub(crate) fn maybe<T: ToString>(value: Option<T>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

/// A JSON word, such as `no_material_difference`.
fn word<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
