//! Judgements that a run and its report must share: whether a slice kept a curve of latencies, for the search that looks for the largest
//! such load and for the telling of it; and whether a server rests when nobody asks it anything.

use tare_plan::condition::{Clock, Condition, Metric, Statistic};
use tare_plan::slo::{LoadBy, Slo};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::{Capacity, CapacitySearch, SearchRule};

use crate::figure::figure;
use crate::sample::StoredSlice;

/// Above this share of a core a server is not at rest.
pub const RESTLESS: f64 = 0.005;
/// The limit on failures where a curve has none.
const FAILED: &str = "errors<=0.1%";
/// A search ends once the largest load that was kept and the smallest that was not are this close.
const RESOLUTION: f64 = 0.05;

/// A search for the largest load that keeps a curve.
pub fn search(slo: &Slo, by: LoadBy) -> CapacitySearch {
    let (start, most) = slo.range(by);
    CapacitySearch::new(SearchRule { start, least: 1.0, most, resolution: RESOLUTION, whole: by == LoadBy::Users })
}

/// What the tries of one start have found, in the order in which they were made.
pub fn replay<'a>(slo: &Slo, by: LoadBy, tries: impl Iterator<Item = &'a StoredSlice>) -> Capacity {
    let mut search = search(slo, by);
    tries.for_each(|slice| search.note(keeps(slo, slice)));
    search.found()
}

/// Whether a try had answers and met every limit.
pub fn keeps(slo: &Slo, slice: &StoredSlice) -> bool {
    slice.load.ok > 0 && limits(slo).iter().all(|limit| limit.is_met_by(measured(limit, slice)))
}

/// The limits of the curve, and the usual one on failures where the curve has none.
pub fn limits(slo: &Slo) -> Vec<Condition> {
    let mut limits = slo.curve.0.clone();
    if !limits.iter().any(|limit| matches!(limit.metric, Metric::Errors | Metric::ErrorShare)) {
        limits.extend(FAILED.parse());
    }
    limits
}

/// What a try showed of the figure that a limit is on, in the unit of the limit; infinite where it had no answers.
pub fn measured(limit: &Condition, slice: &StoredSlice) -> f64 {
    value(limit.metric, slice)
}

fn value(metric: Metric, slice: &StoredSlice) -> f64 {
    match metric {
        Metric::Errors => lost(slice) as f64,
        Metric::ErrorShare => failed_share(slice),
        Metric::Throughput => slice.load.throughput_per_s(),
        Metric::Latency(statistic, clock) => latency(statistic, &of_clock(clock, slice)),
    }
}

/// Of what should have come, how much did not.
fn failed_share(slice: &StoredSlice) -> f64 {
    let lost = lost(slice);
    lost as f64 / (slice.load.ok + lost).max(1) as f64
}

/// What failed, and the messages that a server was to push and did not.
fn lost(slice: &StoredSlice) -> u64 {
    slice.load.failed + slice.load.messages.missing
}

fn of_clock(clock: Clock, slice: &StoredSlice) -> LatencyHistogram {
    match clock {
        Clock::Response => slice.load.response.unpack(),
        Clock::Service => slice.load.service.unpack(),
        Clock::SendLag => slice.load.send_lag.unpack(),
    }
}

/// A percentile that a short try cannot state is no larger than the largest of all, which stands in for it.
fn latency(statistic: Statistic, histogram: &LatencyHistogram) -> f64 {
    figure(histogram, statistic).or_else(|_| figure(histogram, Statistic::Max)).unwrap_or(f64::INFINITY)
}
