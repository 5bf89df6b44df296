//! Latency of one cell under each load: percentiles with their interval over forks, and how response times divide: what
//! the server's own stops explain, and what machine and generator do.

use tare_plan::plan::SliceKind;
use tare_record::{PackedHistogram, RunRecord, StoredSlice};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::{STANDARD_PERCENTILES, mean, printable, sd};

use crate::cell::level;
use crate::evidence::disturbance::SetAside;
use crate::evidence::{Evidence, gather};
use crate::format;
use crate::summary::{
    CurvePoint, Distribution, Latency, LatencyDivision, Pace, PercentileValue, SlowerPart, StartLatency,
};

const KINDS: [SliceKind; 4] = [SliceKind::Saturating, SliceKind::Fixed, SliceKind::Poisson, SliceKind::Push];

/// Latency of a cell under every load that was driven and that the server could follow.
pub(crate) fn analyze(cell: &Evidence<'_>, alpha: f64) -> Vec<Latency> {
    let is_overloaded = cell.overload().is_some();
    let kinds = KINDS.into_iter().filter(|kind| !(is_overloaded && *kind == SliceKind::Poisson));
    kinds.filter_map(|kind| of_kind(cell, kind, alpha)).collect()
}

fn of_kind(cell: &Evidence<'_>, kind: SliceKind, alpha: f64) -> Option<Latency> {
    let first = cell.of_kind(kind).find(|s| s.load.ok > 0)?;
    let response = merged(cell, kind, |s| Some(&s.load.response));
    let service = merged(cell, kind, |s| Some(&s.load.service));
    let where_any =
        |clock| Some(merged(cell, kind, clock)).filter(|m| !m.all.is_empty()).map(|m| m.distribution(alpha));
    let (division, starts_without_stops) = divide(cell, kind, alpha).unzip();
    Some(Latency {
        division,
        slice_kind: kind,
        model: model(cell, first),
        offered_per_s: first.key.offered_per_s,
        pace: pace(cell, kind),
        response: response.distribution(alpha),
        starts: response.starts,
        starts_without_stops: starts_without_stops.unwrap_or_default(),
        service: service.distribution(alpha),
        send_lag: where_any(|s| Some(&s.load.send_lag)),
        machine_hiccups: where_any(|s| Some(&s.server.hiccups.as_ref()?.machine)),
        jvm_hiccups: where_any(|s| s.server.hiccups.as_ref()?.jvm.as_ref()),
    })
}

/// `closed, 128 users`, `open Poisson, 4,000/s over 128 connections` or `pushed every 100ms to 2,500 users`.
fn model(cell: &Evidence<'_>, slice: &StoredSlice) -> String {
    let rate = slice.key.offered_per_s.map_or_else(|| "unknown rate".to_owned(), format::rate);
    let connections = format::count(slice.key.users.into(), "connection");
    let users = format::count(slice.key.users.into(), "user");
    match slice.key.kind {
        SliceKind::Saturating => format!("closed, {users}"),
        SliceKind::Fixed => format!("open constant, {rate} over {connections}"),
        SliceKind::Poisson => format!("open Poisson, {rate} over {connections}"),
        SliceKind::Capacity => "tries of growing loads".to_owned(),
        SliceKind::Push if cell.subject.sends_events => format!("streams of events, {users}"),
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

/// Hands out the response times of every cell and load, one merged histogram at a time.
pub fn for_each_response(record: &RunRecord, mut visit: impl FnMut(&str, SliceKind, &LatencyHistogram)) {
    for cell in gather(record, SetAside::of).iter().flatten() {
        for kind in KINDS {
            let mut all = LatencyHistogram::new();
            cell.of_kind(kind).for_each(|s| s.load.response.merge_into(&mut all));
            if !all.is_empty() {
                visit(&cell.id(), kind, &all);
            }
        }
    }
}

/// One clock of one load, or one meter: all samples, and what each fork can state. Percentiles are never averaged.
struct Merged {
    pub all: LatencyHistogram,
    pub starts: Vec<StartLatency>,
}

/// Merges fork by fork, so that at most two histograms are unpacked at a time.
fn merged(cell: &Evidence<'_>, kind: SliceKind, clock: fn(&StoredSlice) -> Option<&PackedHistogram>) -> Merged {
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
    let point = |percentile: f64| Some(CurvePoint { percentile, value_ns: histogram.percentile_ns(percentile)? });
    STANDARD_PERCENTILES.into_iter().filter_map(point).collect()
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

/// With the percentiles of each fork without stops and stalls; `None` where the stops of a slice are not known.
fn divide(cell: &Evidence<'_>, kind: SliceKind, alpha: f64) -> Option<(LatencyDivision, Vec<StartLatency>)> {
    if !cell.of_kind(kind).filter(|slice| slice.load.ok > 0).all(|slice| slice.server.parts.is_some()) {
        return None;
    }
    let met_stop = merged(cell, kind, |slice| Some(&slice.server.parts.as_ref()?.met_stop)).all;
    let met_stall = merged(cell, kind, |slice| Some(&slice.server.parts.as_ref()?.met_stall)).all;
    let met_none = merged(cell, kind, |slice| Some(&slice.server.parts.as_ref()?.met_none));
    let all = met_stop.len() + met_stall.len() + met_none.all.len();
    if all == 0 {
        return None;
    }
    let of_all = |part: &LatencyHistogram| part.len() as f64 / all as f64;
    let division = LatencyDivision {
        met_stop_share: of_all(&met_stop),
        met_stall_share: of_all(&met_stall),
        slower: slower([&met_stop, &met_stall, &met_none.all]),
        // A curve takes the most room of a summary, and no report draws this one.
        met_none: Distribution { curve: Vec::new(), ..met_none.distribution(alpha) },
        p99_is_at_cliff: false,
        stops_are_seen: cell.of_kind(kind).any(|slice| slice.server.stops_are_seen),
    };
    let p99_is_at_cliff = division.is_at_cliff(99.0);
    // What is found in the answers themselves is no ground for a comparison.
    let starts = if division.stops_are_seen { Vec::new() } else { met_none.starts };
    Some((LatencyDivision { p99_is_at_cliff, ..division }, starts))
}

/// What the requests met that are slower than each percentile, by quarters of a nine, as far as ten are slower.
fn slower(parts: [&LatencyHistogram; 3]) -> Vec<SlowerPart> {
    let mut whole = LatencyHistogram::new();
    parts.into_iter().for_each(|part| whole.merge(part));
    let at = |step: u32| {
        let quantile = 1.0 - 10_f64.powf(f64::from(step) / -4.0);
        // The last bits are rounding errors, and would fill the JSON.
        let rounded = |value: f64, digits: f64| (value * digits).round() / digits;
        let percentile = rounded(quantile * 100.0, 1e9);
        let value_ns = whole.value_at_quantile_ns(quantile).filter(|_| printable(whole.len(), percentile))?;
        let above = parts.map(|part| if step == 0 { part.len() } else { part.count_above_ns(value_ns) });
        let all = above.into_iter().sum::<u64>().max(1) as f64;
        let [met_stop_share, met_stall_share, _] = above.map(|count| rounded(count as f64 / all, 1e4));
        Some(SlowerPart { percentile, met_stop_share, met_stall_share })
    };
    (0..).map_while(at).collect()
}
