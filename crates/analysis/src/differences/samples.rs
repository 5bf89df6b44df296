//! What each start of a server showed, as logarithms: its levels, and its ratios to the baseline of the same start.

use std::collections::BTreeMap;

use tare_plan::plan::SliceKind;
use tare_stats::Polarity;

use crate::summary::{Cell, ForkValue, Latency, StartLatency, Summary, VerdictKind};
use tare_plan::Currency;

const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

#[derive(Clone)]
pub(super) struct StartFigure {
    pub name: String,
    pub label: String,
    /// `ns`, `per_s`, `users` or `bytes`.
    pub unit: &'static str,
    pub polarity: Polarity,
    /// The load under which it was measured: figures of different loads cannot be compared.
    load: String,
    pub level: Option<f64>,
    /// Number of the start and natural logarithm of the figure.
    pub logs: BTreeMap<u32, f64>,
}

impl StartFigure {
    pub fn is_same_measure(&self, other: &Self) -> bool {
        (&self.name, &self.load, self.unit) == (&other.name, &other.load, other.unit)
    }

    /// The same of the starts that `other` has too.
    pub fn in_starts_of(&self, other: &Self) -> Self {
        let mut common = self.clone();
        common.logs.retain(|start, _| other.logs.contains_key(start));
        common
    }

    /// The ratio 1 in the same starts.
    fn of_baseline(&self) -> Self {
        Self { logs: self.logs.keys().map(|start| (*start, 0.0)).collect(), ..self.clone() }
    }

    pub fn values(&self) -> Vec<f64> {
        self.logs.values().copied().collect()
    }

    fn of_currency(currency: Currency, load: String, logs: BTreeMap<u32, f64>) -> Self {
        let facts = currency.facts();
        Self {
            name: facts.name.into(),
            label: facts.label.into(),
            unit: facts.unit,
            polarity: facts.polarity,
            load,
            level: None,
            logs,
        }
    }

    fn of_percentile(percentile: f64, load: String, logs: BTreeMap<u32, f64>) -> Self {
        let (name, label) = (format!("latency_p{percentile}"), format!("p{percentile}"));
        Self { name, label, unit: "ns", polarity: Polarity::LowerIsBetter, load, level: None, logs }
    }
}

/// The ratios of a variant to its baseline, start by start; nothing for a baseline.
pub(super) fn ratio_figures(summary: &Summary, cell: &Cell) -> Vec<StartFigure> {
    let Some(comparison) = summary.comparison_of(cell) else { return Vec::new() };
    let currencies = comparison.currencies.iter().filter(|ratio| ratio.is_known());
    let by_start = currencies.filter(|ratio| ratio.name.percentile().is_none()).map(|ratio| {
        let logs = ratio.by_fork().map(|(start, ratio)| (start, ratio.ln())).collect();
        let figure = StartFigure::of_currency(ratio.name, ratio.load.name().to_owned(), logs);
        // Capacities of different curves, or in users and in requests per second, are no same measure; nor are slow requests of
        // different limits.
        let (label, load) = match ratio.name {
            Currency::Capacity | Currency::LatencySlower => (ratio.label.clone(), ratio.label.clone()),
            _ => (figure.label, figure.load),
        };
        StartFigure { label, load, unit: "1", ..figure }
    });
    let baseline = summary.cells.iter().find(|other| other.id == comparison.baseline_cell);
    let is_void = comparison.currencies.iter().all(|ratio| ratio.verdict == VerdictKind::Void);
    let baseline = baseline.filter(|_| !is_void);
    let is_odd = |start: u32| comparison.odd_forks.iter().any(|odd| odd.fork == start);
    let latencies = cell.shown_latency().zip(baseline.and_then(|baseline| baseline.shown_latency()));
    let percentiles = latencies.filter(|(own, base)| own.slice_kind == base.slice_kind).map(|(own, base)| {
        let figure = |percentile: f64| {
            let base = percentile_logs(base, percentile);
            let logs = percentile_logs(own, percentile).into_iter().filter(|(start, _)| !is_odd(*start));
            let ratios = logs.filter_map(|(start, log)| Some((start, log - base.get(&start)?)));
            let figure = StartFigure::of_percentile(percentile, own.slice_kind.name().to_owned(), ratios.collect());
            StartFigure { unit: "1", ..figure }
        };
        PERCENTILES.map(figure)
    });
    by_start.chain(percentiles.into_iter().flatten()).filter(|figure| !figure.logs.is_empty()).collect()
}

/// The same of two servers of one record. A baseline has the ratio 1 to itself, in each start of the other.
pub(super) fn both_ratio_figures(summary: &Summary, one: &Cell, other: &Cell) -> (Vec<StartFigure>, Vec<StartFigure>) {
    let figures = (ratio_figures(summary, one), ratio_figures(summary, other));
    let is_baseline_of =
        |cell: &Cell, of: &Cell| summary.comparison_of(of).is_some_and(|found| found.baseline_cell == cell.id);
    if is_baseline_of(one, other) {
        (figures.1.iter().map(StartFigure::of_baseline).collect(), figures.1)
    } else if is_baseline_of(other, one) {
        let of_other = figures.0.iter().map(StartFigure::of_baseline).collect();
        (figures.0, of_other)
    } else {
        figures
    }
}

pub(super) fn level_figures(cell: &Cell) -> Vec<StartFigure> {
    let values = |of: fn(&ForkValue) -> Option<f64>| {
        let log = |value: &ForkValue| Some((value.fork, of(value).filter(|v| *v > 0.0)?.ln()));
        cell.fork_values.iter().filter_map(log).collect()
    };
    let level_in = |currency: Currency, load: String, logs: BTreeMap<u32, f64>| {
        let level = cell.level_in(currency).map(|level| level.value);
        StartFigure { level, ..StartFigure::of_currency(currency, load, logs) }
    };
    let saturating = SliceKind::Saturating.name().to_owned();
    let mut figures = vec![
        level_in(Currency::Throughput, saturating, values(|start| start.throughput_per_s)),
        level_in(Currency::CpuPerRequest, cell.cpu_load.clone(), values(|start| start.cpu_ns_per_request)),
    ];
    figures.extend(cell.shown_latency().into_iter().flat_map(|latency| {
        PERCENTILES.map(|percentile| {
            let logs = percentile_logs(latency, percentile);
            let figure = StartFigure::of_percentile(percentile, latency.model.clone(), logs);
            StartFigure { level: latency.response.percentile_ns(percentile).map(|ns| ns as f64), ..figure }
        })
    }));
    figures.retain(|figure| !figure.logs.is_empty());
    figures
}

fn percentile_logs(latency: &Latency, percentile: f64) -> BTreeMap<u32, f64> {
    let of_start = |start: &StartLatency| {
        let value_ns = start.percentile_ns(percentile).filter(|ns| *ns > 0)?;
        Some((start.fork, (value_ns as f64).ln()))
    };
    latency.starts.iter().filter_map(of_start).collect()
}
