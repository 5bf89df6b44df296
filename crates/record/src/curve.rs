//! Whether a slice kept a curve of latencies. The search for a capacity uses this, and so does its summary.

use tare_plan::condition::{Condition, Metric, Statistic};
use tare_plan::slo::{LoadBy, Slo};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::{Capacity, CapacitySearch, SearchRule};

use crate::StoredSlice;
use crate::figure::{histogram_figure, times_by};

/// The limit on failures for a curve without one.
const FAILED: &str = "errors<=0.1%";
/// A search ends when the largest load that was kept and the smallest that was not are this close.
const RESOLUTION: f64 = 0.05;

/// Starts a search for the largest load that keeps a curve. It tries no fewer users than `least_users`, and at least one.
pub fn start_search(slo: &Slo, by: LoadBy, least_users: u32) -> CapacitySearch {
    let (start, most) = slo.load_range(by);
    let least = match by {
        LoadBy::Users => f64::from(least_users.max(1)).min(most),
        LoadBy::Rate => 1.0,
    };
    CapacitySearch::new(SearchRule { start, least, most, resolution: RESOLUTION, whole: by == LoadBy::Users })
}

/// The result of one start's tries, in order; `None` where they do not end the search.
pub fn replay_tries<'a>(slo: &Slo, by: LoadBy, tries: impl Iterator<Item = &'a StoredSlice>) -> Option<Capacity> {
    let mut tries = tries.peekable();
    let mut search = start_search(slo, by, tries.peek()?.load.least_users);
    tries.for_each(|slice| search.note_outcome(keeps_curve(slo, slice)));
    search.next_load().is_none().then(|| search.found_so_far())
}

/// Whether a try had answers and met every limit.
pub fn keeps_curve(slo: &Slo, slice: &StoredSlice) -> bool {
    slice.load.ok > 0 && curve_limits(slo).iter().all(|limit| limit.is_met_by(measured_figure(limit, slice)))
}

/// The limits of the curve, including the default limit on failures.
pub fn curve_limits(slo: &Slo) -> Vec<Condition> {
    let mut limits = slo.curve.0.clone();
    if !limits.iter().any(|limit| matches!(limit.metric, Metric::Errors | Metric::ErrorShare)) {
        limits.extend(FAILED.parse());
    }
    limits
}

/// The figure of a try for a limit, in the limit's unit; infinite without answers.
pub fn measured_figure(limit: &Condition, slice: &StoredSlice) -> f64 {
    match limit.metric {
        Metric::Errors => failed_or_missing(slice) as f64,
        Metric::ErrorShare => failed_share(slice),
        Metric::ConnectionEvents => slice.load.connection_events.total() as f64,
        Metric::Throughput => slice.load.throughput_per_s(),
        // A curve has no such limit.
        Metric::Status(..) | Metric::StatusShare(..) => 0.0,
        Metric::Latency(statistic, clock) => latency(statistic, &times_by(clock, &slice.load).unpack()),
    }
}

/// The failed share of all requests and messages that were due.
fn failed_share(slice: &StoredSlice) -> f64 {
    let lost = failed_or_missing(slice);
    lost as f64 / (slice.load.ok + lost).max(1) as f64
}

/// Failed requests, and pushed messages that did not arrive.
fn failed_or_missing(slice: &StoredSlice) -> u64 {
    slice.load.failed + slice.load.messages.missing
}

/// A short try cannot state a high percentile. It is at most the maximum, which is used instead.
fn latency(statistic: Statistic, histogram: &LatencyHistogram) -> f64 {
    histogram_figure(histogram, statistic)
        .or_else(|_| histogram_figure(histogram, Statistic::Max))
        .unwrap_or(f64::INFINITY)
}
