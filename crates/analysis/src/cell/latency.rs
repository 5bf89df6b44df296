//! Latency of one cell under each load: histograms merged per fork and over forks, percentiles with their interval over
//! forks. Percentiles are never averaged.

use tare_plan::plan::SliceKind;
use tare_record::PackedHistogram;
use tare_record::{RunRecord, StoredSlice};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::{STANDARD_PERCENTILES, mean, printable, sd};

use crate::cell::level;
use crate::evidence::{Evidence, gather};
use crate::format;
use crate::summary::{CurvePoint, Distribution, Latency, Pace, PercentileValue, StartLatency};

const KINDS: [SliceKind; 4] = [SliceKind::Saturating, SliceKind::Fixed, SliceKind::Poisson, SliceKind::Push];

/// Latency under one load.
pub(crate) struct LoadLatency {
    pub kind: SliceKind,
    pub latency: Latency,
    /// Response time per fork, at the standard percentiles that the fork can state.
    pub forks: Vec<(u32, Vec<(f64, u64)>)>,
}

impl LoadLatency {
    /// A percentile of response time in one fork.
    pub fn fork_percentile(&self, fork: u32, percentile: f64) -> Option<u64> {
        let (_, values) = self.forks.iter().find(|(number, _)| *number == fork)?;
        values.iter().find(|(p, _)| *p == percentile).map(|(_, value)| *value)
    }

    /// A percentile of response time over all forks.
    pub fn percentile(&self, percentile: f64) -> Option<u64> {
        self.latency.response.percentile_ns(percentile)
    }
}

/// Latency of a cell under every load that was driven.
pub(crate) fn analyze(cell: &Evidence<'_>, alpha: f64) -> Vec<LoadLatency> {
    KINDS.into_iter().filter_map(|kind| of_kind(cell, kind, alpha)).collect()
}

fn of_kind(cell: &Evidence<'_>, kind: SliceKind, alpha: f64) -> Option<LoadLatency> {
    let first = cell.of_kind(kind).find(|s| s.load.ok > 0)?;
    let response = merged(cell, kind, |s| Some(&s.load.response));
    let service = merged(cell, kind, |s| Some(&s.load.service));
    let where_any =
        |clock| Some(merged(cell, kind, clock)).filter(|m| !m.all.is_empty()).map(|m| m.distribution(alpha));
    let latency = Latency {
        slice_kind: kind,
        model: model(cell, first),
        offered_per_s: first.key.offered_per_s,
        pace: pace(cell, kind),
        response: response.distribution(alpha),
        starts: response.forks.iter().map(start).collect(),
        service: service.distribution(alpha),
        send_lag: where_any(|s| Some(&s.load.send_lag)),
        machine_hiccups: where_any(|s| Some(&s.server.hiccups.as_ref()?.machine)),
        jvm_hiccups: where_any(|s| s.server.hiccups.as_ref()?.jvm.as_ref()),
    };
    Some(LoadLatency { kind, latency, forks: response.forks })
}

fn start((fork, values): &(u32, Vec<(f64, u64)>)) -> StartLatency {
    let percentiles =
        values.iter().map(|(percentile, value_ns)| CurvePoint { percentile: *percentile, value_ns: *value_ns });
    StartLatency { fork: *fork, percentiles: percentiles.collect() }
}

/// `closed, 128 users`, `open Poisson, 4,000/s over 128 connections`, or `pushed every 100ms to 2,500 users`.
fn model(cell: &Evidence<'_>, slice: &StoredSlice) -> String {
    let rate = slice.key.offered_per_s.map_or_else(|| "unknown rate".to_owned(), format::rate);
    let connections = format::count(slice.key.users.into(), "connection");
    let users = format::count(slice.key.users.into(), "user");
    match slice.key.kind {
        SliceKind::Saturating => format!("closed, {users}"),
        SliceKind::Fixed => format!("open constant, {rate} over {connections}"),
        SliceKind::Poisson => format!("open Poisson, {rate} over {connections}"),
        SliceKind::Capacity => "tries of growing loads".to_owned(),
        SliceKind::Push => {
            let every = cell.subject.push_period.map(|period| format!("every {period} "));
            format!("pushed {}to {users}", every.unwrap_or_default())
        }
    }
}

fn pace(cell: &Evidence<'_>, kind: SliceKind) -> Pace {
    let slices = || cell.of_kind(kind);
    let rates: Vec<f64> = slices().filter_map(|s| level::throughput(std::iter::once(s))).collect();
    let (centre, stdev) = (mean(&rates).unwrap_or(0.0), sd(&rates).unwrap_or(0.0));
    let within = rates.iter().filter(|rate| (**rate - centre).abs() <= stdev).count();
    Pace {
        window_s: slices().map(|s| s.load.window_ns).sum::<u64>() as f64 / 1e9,
        requests_failed: slices().map(|s| s.load.failed).sum(),
        bytes_in: slices().map(|s| s.load.bytes_in).sum(),
        answers_per_s: level::throughput(slices()).unwrap_or(0.0),
        answers_stdev_per_s: stdev,
        answers_max_per_s: rates.iter().copied().fold(0.0, f64::max),
        within_stdev_share: within as f64 / rates.len().max(1) as f64,
    }
}

fn within_stdev(histogram: &LatencyHistogram) -> Option<f64> {
    let (centre, stdev) = (histogram.mean_ns()?, histogram.stdev_ns()?);
    let above = |ns: f64| if ns < 0.0 { histogram.len() } else { histogram.count_above_ns(ns as u64) };
    Some((above(centre - stdev) - above(centre + stdev)) as f64 / histogram.len() as f64)
}

/// Hands out the response times of every cell and load, one merged histogram at a time.
pub fn for_each_response(record: &RunRecord, mut visit: impl FnMut(&str, SliceKind, &LatencyHistogram)) {
    for cell in gather(record) {
        for kind in KINDS {
            let mut all = LatencyHistogram::new();
            cell.of_kind(kind).for_each(|s| s.load.response.merge_into(&mut all));
            if !all.is_empty() {
                visit(&cell.id(), kind, &all);
            }
        }
    }
}

/// One clock of one load, or one meter under it: all samples, and what each fork can state.
struct Merged {
    all: LatencyHistogram,
    forks: Vec<(u32, Vec<(f64, u64)>)>,
}

/// Merges fork by fork, so that at most two histograms are unpacked at a time.
fn merged(cell: &Evidence<'_>, kind: SliceKind, clock: fn(&StoredSlice) -> Option<&PackedHistogram>) -> Merged {
    let (mut all, mut one) = (LatencyHistogram::new(), LatencyHistogram::new());
    let mut forks = Vec::new();
    for fork in cell.fork_numbers() {
        one.clear();
        cell.of_kind(kind).filter(|s| s.key.fork == fork).filter_map(clock).for_each(|h| h.merge_into(&mut one));
        if !one.is_empty() {
            all.merge(&one);
            forks.push((fork, percentiles(&one)));
        }
    }
    Merged { all, forks }
}

fn percentiles(histogram: &LatencyHistogram) -> Vec<(f64, u64)> {
    let stated = STANDARD_PERCENTILES.into_iter().filter(|p| printable(histogram.len(), *p));
    stated.filter_map(|p| Some((p, histogram.value_at_quantile_ns(p / 100.0)?))).collect()
}

/// The figures of a histogram, its percentiles without intervals.
pub(crate) fn distribution(all: &LatencyHistogram) -> Distribution {
    let slow = all.count_above_ns(1_200_000_000);
    let from_800 = all.count_above_ns(799_999_999);
    // The last bits of the ticks are rounding errors, and would fill the JSON.
    let tick = |percentile: f64| (percentile * 1e9).round() / 1e9;
    let point = |p: tare_stats::PercentilePoint| CurvePoint { percentile: tick(p.percentile), value_ns: p.value_ns };
    let bare = |(percentile, value_ns)| PercentileValue { percentile, value_ns, lo_ns: None, hi_ns: None };
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
    fn distribution(&self, alpha: f64) -> Distribution {
        let stated = percentiles(&self.all).into_iter().map(|(p, value)| self.stated(p, value, alpha)).collect();
        Distribution { percentiles: stated, ..distribution(&self.all) }
    }

    /// A percentile with its interval over forks, made on the scale of logarithms: a latency cannot be negative.
    fn stated(&self, percentile: f64, value_ns: u64, alpha: f64) -> PercentileValue {
        let of_fork = |(_, values): &(u32, Vec<(f64, u64)>)| {
            values.iter().find(|(p, _)| *p == percentile).map(|(_, value)| (*value as f64).ln())
        };
        let logs: Option<Vec<f64>> = self.forks.iter().map(of_fork).collect();
        let logs = logs.unwrap_or_default();
        let half = level::estimate(&logs, alpha).and_then(|e| Some(e.hi? - e.value));
        let bound = |sign: f64| Some((mean(&logs).ok()? + sign * half?).exp().round() as u64);
        PercentileValue { percentile, value_ns, lo_ns: bound(-1.0), hi_ns: bound(1.0) }
    }
}
