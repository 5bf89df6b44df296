//! Latency of one cell under each load: percentiles with their interval over forks.

pub(super) mod merged;
mod parts;

use tare_plan::plan::SliceKind;
use tare_record::{RunRecord, StoredSlice};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::{mean, sd};

use self::merged::merged;
use crate::cell::level;
use crate::evidence::disturbance::SetAside;
use crate::evidence::{Evidence, gather};
use crate::format;
use crate::summary::{Latency, Pace, StartLatency};

const KINDS: [SliceKind; 4] = [SliceKind::Saturating, SliceKind::Fixed, SliceKind::Poisson, SliceKind::Push];

pub(crate) struct LoadLatency {
    pub kind: SliceKind,
    pub latency: Latency,
    /// Starts by the requests that met neither a stop of the server nor a stall; empty where stops are not known.
    pub starts_without_stops: Vec<StartLatency>,
}

/// Latency of a cell under every load that was driven and that the server could follow.
pub(crate) fn analyze(cell: &Evidence<'_>, alpha: f64) -> Vec<LoadLatency> {
    let is_overloaded = cell.overload().is_some();
    let kinds = KINDS.into_iter().filter(|kind| !(is_overloaded && *kind == SliceKind::Poisson));
    kinds.filter_map(|kind| of_kind(cell, kind, alpha)).collect()
}

fn of_kind(cell: &Evidence<'_>, kind: SliceKind, alpha: f64) -> Option<LoadLatency> {
    let first = cell.of_kind(kind).find(|s| s.load.ok > 0)?;
    let response = merged(cell, kind, |s| Some(&s.load.response));
    let service = merged(cell, kind, |s| Some(&s.load.service));
    let where_any =
        |clock| Some(merged(cell, kind, clock)).filter(|m| !m.all.is_empty()).map(|m| m.distribution(alpha));
    let (division, starts_without_stops) = parts::divide(cell, kind, alpha).unzip();
    let latency = Latency {
        division,
        slice_kind: kind,
        model: model(cell, first),
        offered_per_s: first.key.offered_per_s,
        pace: pace(cell, kind),
        response: response.distribution(alpha),
        starts: response.starts,
        service: service.distribution(alpha),
        send_lag: where_any(|s| Some(&s.load.send_lag)),
        machine_hiccups: where_any(|s| Some(&s.server.hiccups.as_ref()?.machine)),
        jvm_hiccups: where_any(|s| s.server.hiccups.as_ref()?.jvm.as_ref()),
    };
    Some(LoadLatency { kind, latency, starts_without_stops: starts_without_stops.unwrap_or_default() })
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
