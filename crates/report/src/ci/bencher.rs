//! Bencher Metric Format: a benchmark for each cell, with its figures and its ratios to the baseline as measures.
//! Source of the form: <https://bencher.dev/docs/reference/bencher-metric-format>.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{levels, usable_cells, usable_ratios};
use crate::error::ReportError;
use crate::json;
use tare_analysis::summary::Summary;

#[derive(Serialize)]
struct BencherMetric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// Measures by benchmark. A measure is called like its currency, in kebab case; that of a ratio ends in `-ratio`. Where
/// conditions were asked for and are not void, `failed-conditions` says how many were met.
pub fn render(summary: &Summary) -> Result<String, ReportError> {
    let mut benchmarks: BTreeMap<&str, BTreeMap<String, BencherMetric>> = BTreeMap::new();
    for cell in usable_cells(summary) {
        for (currency, level) in levels(cell) {
            let metric = BencherMetric { value: level.value, lower_value: level.lo, upper_value: level.hi };
            benchmarks.entry(&cell.id).or_default().insert(measure(currency.facts().name), metric);
        }
    }
    for (comparison, ratio) in usable_ratios(summary) {
        let metric = BencherMetric { value: ratio.ratio, lower_value: ratio.lo, upper_value: ratio.hi };
        let name = measure(&format!("{}_ratio", ratio.name.facts().name));
        benchmarks.entry(&comparison.cell).or_default().insert(name, metric);
    }
    if let Some(failed) = summary.failed_conditions() {
        let metric = BencherMetric { value: failed.len() as f64, lower_value: None, upper_value: None };
        benchmarks.entry("conditions").or_default().insert("failed-conditions".to_owned(), metric);
    }
    json::render(&benchmarks)
}

fn measure(currency: &str) -> String {
    currency.replace('_', "-")
}
