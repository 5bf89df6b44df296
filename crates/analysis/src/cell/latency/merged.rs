//! Histograms of the slices of one load, merged per fork and over forks. Percentiles are never averaged.

use tare_plan::plan::SliceKind;
use tare_record::{PackedHistogram, StoredSlice};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::{STANDARD_PERCENTILES, mean, printable};

use crate::cell::level;
use crate::evidence::Evidence;
use crate::summary::{CurvePoint, Distribution, PercentileValue, StartLatency};

/// One clock of one load, or one meter under it: all samples, and what each fork can state.
pub(super) struct Merged {
    pub all: LatencyHistogram,
    pub starts: Vec<StartLatency>,
}

/// Merges fork by fork, so that at most two histograms are unpacked at a time.
pub(super) fn merged(
    cell: &Evidence<'_>,
    kind: SliceKind,
    clock: fn(&StoredSlice) -> Option<&PackedHistogram>,
) -> Merged {
    let (mut all, mut one) = (LatencyHistogram::new(), LatencyHistogram::new());
    let mut starts = Vec::new();
    for fork in cell.fork_numbers() {
        one.clear();
        cell.in_fork(kind, fork).filter_map(clock).for_each(|h| h.merge_into(&mut one));
        if !one.is_empty() {
            all.merge(&one);
            starts.push(StartLatency { fork, percentiles: percentiles(&one) });
        }
    }
    Merged { all, starts }
}

fn percentiles(histogram: &LatencyHistogram) -> Vec<CurvePoint> {
    let stated = STANDARD_PERCENTILES.into_iter().filter(|p| printable(histogram.len(), *p));
    let point = |percentile: f64| {
        let value_ns = histogram.value_at_quantile_ns(percentile / 100.0)?;
        Some(CurvePoint { percentile, value_ns })
    };
    stated.filter_map(point).collect()
}

fn within_stdev(histogram: &LatencyHistogram) -> Option<f64> {
    let (centre, stdev) = (histogram.mean_ns()?, histogram.stdev_ns()?);
    let above = |ns: f64| if ns < 0.0 { histogram.len() } else { histogram.count_above_ns(ns as u64) };
    Some((above(centre - stdev) - above(centre + stdev)) as f64 / histogram.len() as f64)
}

/// The figures of a histogram, its percentiles without intervals.
pub(crate) fn distribution(all: &LatencyHistogram) -> Distribution {
    let slow = all.count_above_ns(1_200_000_000);
    let from_800 = all.count_above_ns(799_999_999);
    // The last bits of the ticks are rounding errors, and would fill the JSON.
    let tick = |percentile: f64| (percentile * 1e9).round() / 1e9;
    let point = |p: tare_stats::PercentilePoint| CurvePoint { percentile: tick(p.percentile), value_ns: p.value_ns };
    let bare = |CurvePoint { percentile, value_ns }| PercentileValue { percentile, value_ns, lo_ns: None, hi_ns: None };
    Distribution {
        count: all.len(),
        min_ns: all.min_ns(),
        max_ns: all.max_ns(),
        mean_ns: all.mean_ns(),
        stdev_ns: all.stdev_ns(),
        within_stdev_share: within_stdev(all),
        percentiles: percentiles(all).into_iter().map(bare).collect(),
        curve: all.percentile_curve().into_iter().map(point).collect(),
        gatling_ranges: [all.len() - from_800, from_800 - slow, slow],
        histogram: Vec::new(),
    }
}

impl Merged {
    pub fn distribution(&self, alpha: f64) -> Distribution {
        let stated = percentiles(&self.all).into_iter().map(|point| self.stated(point, alpha)).collect();
        Distribution { percentiles: stated, ..distribution(&self.all) }
    }

    /// A percentile with its interval over forks, made on the scale of logarithms: a latency cannot be negative.
    fn stated(&self, CurvePoint { percentile, value_ns }: CurvePoint, alpha: f64) -> PercentileValue {
        let of_start = |start: &StartLatency| Some((start.percentile_ns(percentile)? as f64).ln());
        let logs: Option<Vec<f64>> = self.starts.iter().map(of_start).collect();
        let logs = logs.unwrap_or_default();
        let half = level::estimate(&logs, alpha).and_then(|e| Some(e.hi? - e.value));
        let bound = |sign: f64| Some((mean(&logs).ok()? + sign * half?).exp().round() as u64);
        PercentileValue { percentile, value_ns, lo_ns: bound(-1.0), hi_ns: bound(1.0) }
    }
}
