//! OpenMetrics text: gauges for Prometheus and what reads its form. Times are in seconds, as that form asks for.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::{cell_figures, usable_cells, usable_ratios};
use crate::currency::Currency;
use crate::summary::{Cell, Comparison, CurrencyRatio, Summary};

type Labels = Vec<(&'static str, String)>;

/// Gauges of one name.
#[derive(Debug)]
struct GaugeFamily {
    name: String,
    help: &'static str,
    samples: Vec<(Labels, f64)>,
}

/// All gauges of a run, in the order of the summary.
#[derive(Debug)]
struct RunMetrics {
    run: Labels,
    families: Vec<GaugeFamily>,
}

impl Collector for RunMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let info = encoder.encode_descriptor("tare_run", "The run that was measured", None, MetricType::Info)?;
        Info::new(self.run.clone()).encode(info)?;
        for family in self.families.iter().filter(|family| !family.samples.is_empty()) {
            let mut gauges = encoder.encode_descriptor(&family.name, family.help, None, MetricType::Gauge)?;
            for (labels, value) in &family.samples {
                ConstGauge::new(*value).encode(gauges.encode_family(labels)?)?;
            }
        }
        Ok(())
    }
}

/// Every figure and every ratio that may be used, with the end mark of the form.
pub fn render(summary: &Summary) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(run_metrics(summary)));
    let mut text = String::new();
    text::encode(&mut text, &registry).expect("memory takes every byte");
    text
}

fn run_metrics(summary: &Summary) -> RunMetrics {
    let run = &summary.run;
    let facts = [("id", &run.id), ("suite", &run.suite), ("tare_version", &run.tare_version)];
    let revision = run.git_revision.as_ref().map(|revision| ("git_revision", revision));
    let labels = facts.into_iter().chain(revision).map(|(name, value)| (name, value.clone()));
    RunMetrics { run: labels.collect(), families: level_families(summary).chain(ratio_families(summary)).collect() }
}

/// A family for each currency, with the cells as its samples.
fn level_families(summary: &Summary) -> impl Iterator<Item = GaugeFamily> {
    let families: [(&str, &str, &[Currency]); 4] = [
        ("tare_requests_per_second", "Right answers per second under a saturating load", &[Currency::Throughput]),
        ("tare_cpu_seconds_per_request", "CPU time of the server per request", &[Currency::CpuPerRequest]),
        ("tare_allocated_bytes_per_request", "Bytes allocated per request", &[Currency::AllocatedPerRequest]),
        ("tare_response_time_seconds", "Percentiles of response time", &[Currency::LatencyP50, Currency::LatencyP99]),
    ];
    families.into_iter().map(|(name, help, currencies)| {
        let samples = usable_cells(summary).flat_map(|cell| level_samples(cell, currencies)).collect();
        GaugeFamily { name: name.to_owned(), help, samples }
    })
}

fn level_samples(cell: &Cell, currencies: &[Currency]) -> Vec<(Labels, f64)> {
    let figures = cell_figures(cell).into_iter().filter(|figure| currencies.contains(&figure.currency));
    let sample = |figure: super::CellFigure| {
        let mut labels = place(&cell.group, &cell.scenario, &cell.variant);
        labels.extend(figure.currency.facts().percentile.map(|p| ("quantile", (p / 100.0).to_string())));
        let factor = if figure.unit == "ns" { 1e-9 } else { 1.0 };
        (labels, figure.level.value * factor)
    };
    figures.map(sample).collect()
}

/// The ratios and the ends of their intervals.
fn ratio_families(summary: &Summary) -> impl Iterator<Item = GaugeFamily> {
    type Value = fn(&CurrencyRatio) -> Option<f64>;
    let families: [(&str, &str, Value); 3] = [
        ("tare_ratio", "Variant / baseline", |ratio| Some(ratio.ratio)),
        ("tare_ratio_lower", "Lower end of the interval of the ratio", |ratio| ratio.lo),
        ("tare_ratio_upper", "Upper end of the interval of the ratio", |ratio| ratio.hi),
    ];
    families.into_iter().map(|(name, help, value)| {
        let sample = |(comparison, ratio)| Some((ratio_labels(comparison, ratio), value(ratio)?));
        GaugeFamily { name: name.to_owned(), help, samples: usable_ratios(summary).filter_map(sample).collect() }
    })
}

fn ratio_labels(comparison: &Comparison, ratio: &CurrencyRatio) -> Labels {
    let mut labels = place(&comparison.group, &comparison.scenario, &comparison.variant);
    labels.push(("baseline", comparison.baseline.clone()));
    labels.push(("currency", ratio.name.facts().name.to_owned()));
    labels
}

fn place(group: &str, scenario: &str, variant: &str) -> Labels {
    vec![("group", group.to_owned()), ("scenario", scenario.to_owned()), ("variant", variant.to_owned())]
}
