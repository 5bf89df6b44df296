//! Forms for continuous integration: tests, trackers of benchmarks, metrics, and a comment with its picture.
//! A figure that is void is in none of them.

pub mod bencher;
pub mod comment;
mod gauges;
pub mod github_benchmark;
pub mod junit;
pub mod openmetrics;
pub mod otlp;
pub mod picture;

use tare_analysis::Currency;
use tare_analysis::summary::{Cell, Comparison, CurrencyRatio, Estimate, Summary, ValidityState};

fn usable_cells(summary: &Summary) -> impl Iterator<Item = &Cell> {
    summary.cells.iter().filter(|cell| cell.validity.state != ValidityState::Void)
}

fn usable_ratios(summary: &Summary) -> impl Iterator<Item = (&Comparison, &CurrencyRatio)> {
    let all = summary.comparisons.iter().flat_map(|one| one.currencies.iter().map(move |ratio| (one, ratio)));
    all.filter(|(one, ratio)| ratio.is_known() && ratio.ratio.is_finite() && one.untold(ratio).is_none())
}

fn levels(cell: &Cell) -> impl Iterator<Item = (Currency, Estimate)> {
    let level = |currency: Currency| cell.level_in(currency).filter(|level| level.value.is_finite());
    let currencies = Currency::ALL.iter().copied().filter(|currency| *currency != Currency::Capacity);
    currencies.filter_map(move |currency| Some((currency, level(currency)?)))
}

/// `± 0.0123`: half the distance between two bounds; `None` without bounds.
fn half_width(lo: Option<f64>, hi: Option<f64>) -> Option<String> {
    Some(format!("± {:.3e}", (hi? - lo?) / 2.0)).filter(|text| !text.contains("inf"))
}
