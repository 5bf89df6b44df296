//! Other load tools' figures of the cells, together with tare's figures in its closed loop.

use tare_plan::plan::SliceKind;
use tare_record::RunRecord;
use tare_record::cross_check::{CrossCheckOutcome, CrossCheckRecord, ToolFigures};

use crate::run_info::{shell, shortened};
use crate::summary::{Cell, CrossCheck, Distribution, ToolFigure};

/// A tool whose resolution is coarser than this share of a figure gets no ratio.
const COARSE: f64 = 0.1;

/// One entry per cell and tool, in the order they were driven.
pub(crate) fn cross_checks(record: &RunRecord, cells: &[Cell]) -> Vec<CrossCheck> {
    record.cross_checks.iter().map(|check| cross_check(check, cells)).collect()
}

fn cross_check(check: &CrossCheckRecord, cells: &[Cell]) -> CrossCheck {
    let cell =
        cells.iter().find(|c| (&c.group, &c.scenario, &c.variant) == (&check.group, &check.scenario, &check.variant));
    let (measured, note) = match &check.outcome {
        CrossCheckOutcome::Measured(figures) => (Some(figures), None),
        CrossCheckOutcome::NotPossible { because } => (None, Some(format!("cannot be asked this: {because}"))),
        CrossCheckOutcome::Failed { because } => (None, Some(format!("failed: {because}"))),
    };
    CrossCheck {
        cell: cell.map(|cell| cell.id.clone()).unwrap_or_default(),
        engine: check.engine.name().to_owned(),
        version: check.version.clone(),
        scenario: check.scenario.clone(),
        variant: check.variant.clone(),
        users: check.users,
        command: shell(&shortened(&check.command)),
        figures: measured.map(|figures| beside(figures, cell)).unwrap_or_default(),
        requests_failed: measured.map(|figures| figures.failed),
        resolution_ns: measured.map(|figures| figures.resolution_ns),
        note,
    }
}

fn beside(theirs: &ToolFigures, cell: Option<&Cell>) -> Vec<ToolFigure> {
    let closed = cell.and_then(|c| c.latency.iter().find(|l| l.slice_kind == SliceKind::Saturating));
    let ours: Option<&Distribution> = closed.map(|latency| &latency.service);
    let per_s = theirs.ok as f64 * 1e9 / theirs.window_ns.max(1) as f64;
    let mut figures = vec![figure("throughput", "1/s", per_s, cell.and_then(|c| c.throughput_per_s).map(|e| e.value))];
    figures.push(figure("mean", "ns", theirs.mean_ns, ours.and_then(|d| d.mean_ns)));
    figures.extend(theirs.percentiles.iter().map(|&(percentile, value_ns)| {
        let same_ns = ours.and_then(|d| d.percentile_ns(percentile));
        let mut latency = figure(&format!("p{percentile}"), "ns", value_ns as f64, same_ns.map(|ns| ns as f64));
        latency.ratio = latency.ratio.filter(|_| theirs.resolution_ns as f64 <= COARSE * value_ns as f64);
        latency
    }));
    figures
}

fn figure(name: &str, unit: &str, theirs: f64, ours: Option<f64>) -> ToolFigure {
    let ratio = ours.filter(|ours| *ours > 0.0).map(|ours| theirs / ours);
    ToolFigure { name: name.to_owned(), unit: unit.to_owned(), theirs, ours, ratio }
}
