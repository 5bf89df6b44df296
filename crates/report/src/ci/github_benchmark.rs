//! The JSON of <https://github.com/benchmark-action/github-action-benchmark> (`customSmallerIsBetter` and
//! `customBiggerIsBetter`): ratios to the baseline, because the action compares runs of different machines.
//! Without comparisons the figures themselves.

use serde::Serialize;
use tare_stats::Polarity;

use super::{half_width, levels, usable_cells, usable_ratios};
use crate::clean::sanitize_line;
use crate::error::ReportError;
use crate::json;
use tare_analysis::Currency;
use tare_analysis::summary::{Cell, Comparison, CurrencyRatio, Estimate, Summary};

#[derive(Serialize)]
struct BenchmarkEntry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// The figures of the currencies with this polarity: the action takes either kind in a file of its own.
pub fn render(summary: &Summary, polarity: Polarity) -> Result<String, ReportError> {
    let mut entries: Vec<BenchmarkEntry> = if summary.comparisons.is_empty() {
        usable_cells(summary).flat_map(|cell| level_entries(summary, cell, polarity)).collect()
    } else {
        let wanted = usable_ratios(summary).filter(|(_, ratio)| ratio.name.facts().polarity == polarity);
        wanted.map(|(comparison, ratio)| ratio_entry(summary, comparison, ratio)).collect()
    };
    let failed = summary.failed_conditions().filter(|_| polarity == Polarity::LowerIsBetter);
    entries.extend(failed.map(|failed| BenchmarkEntry {
        name: "failed conditions".to_owned(),
        unit: "conditions",
        value: failed.len() as f64,
        range: None,
        extra: failed.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n"),
    }));
    json::render(&entries)
}

fn ratio_entry(summary: &Summary, comparison: &Comparison, ratio: &CurrencyRatio) -> BenchmarkEntry {
    let Comparison { variant, baseline, .. } = comparison;
    let scenario = comparison.scenario_among(&summary.comparisons);
    let name = format!("{scenario}: {variant} vs {baseline}, {}", ratio.label);
    BenchmarkEntry {
        name: sanitize_line(&name),
        unit: "× baseline",
        value: ratio.ratio,
        range: half_width(ratio.lo, ratio.hi),
        extra: format!("{}\n{}", ratio.short, ratio.method),
    }
}

fn level_entries(summary: &Summary, cell: &Cell, polarity: Polarity) -> Vec<BenchmarkEntry> {
    let scenario = cell.scenario_among(&summary.cells);
    let wanted = levels(cell).filter(|(currency, _)| currency.facts().polarity == polarity);
    let entry = |(currency, level): (Currency, Estimate)| BenchmarkEntry {
        name: sanitize_line(&format!("{scenario}: {}, {}", cell.variant, currency.facts().label)),
        unit: currency.facts().unit,
        value: level.value,
        range: half_width(level.lo, level.hi),
        extra: cell.cpu_load.clone(),
    };
    wanted.map(entry).collect()
}
