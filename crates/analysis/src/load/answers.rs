//! The answers of a load by status, and by request where it has several.

use tare_plan::condition::Condition;
use tare_record::{LoadRecord, RequestTally, StatusTallies};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::printable;

use crate::run_info::run_status;
use crate::summary::{RunStatus, StatusCount, UrlSummary};

/// Every status that came, in order.
pub(super) fn status_counts(record: &LoadRecord) -> Vec<StatusCount> {
    let mut sum = StatusTallies::default();
    record.intervals.iter().for_each(|interval| sum.merge(&interval.load.statuses));
    let count = |(status, tally): (u16, tare_record::StatusTally)| StatusCount {
        status,
        count: tally.count,
        failed: tally.failed,
        example: Some(tally.example).filter(|example| !example.is_empty()),
    };
    sum.0.into_iter().map(count).collect()
}

/// What each of several requests showed. The last part of a load has it: `None` if the record was cut short before.
pub(super) fn tallies(record: &LoadRecord) -> Option<Vec<RequestTally>> {
    let mut sum = Vec::new();
    record.intervals.iter().for_each(|interval| RequestTally::merge_all(&mut sum, &interval.load.by_request));
    let is_cut_short = run_status(record.end) == RunStatus::Partial && record.header.plan.requests > 1;
    (!sum.is_empty() || !is_cut_short).then_some(sum)
}

/// Answered and failed requests that a condition is about, and their response times; `None` for all requests, which a
/// load with a single one does not tell apart.
pub(super) fn of_condition(tallies: &[RequestTally], condition: &Condition) -> Option<(u64, u64, LatencyHistogram)> {
    condition.url.as_ref()?;
    let meant = tallies.iter().filter(|tally| condition.is_about(&tally.name));
    meant.fold(None, |sum, tally| {
        let (ok, failed, mut times) = sum.unwrap_or_default();
        tally.response.merge_into(&mut times);
        Some((ok + tally.ok, failed + tally.failed, times))
    })
}

pub(super) fn url_summaries(tallies: &[RequestTally], window_s: f64) -> Vec<UrlSummary> {
    let summary = |tally: &RequestTally| {
        let times = tally.response.unpack();
        let at = |p: f64| times.value_at_quantile_ns(p / 100.0).filter(|_| printable(times.len(), p));
        let offered = tally.ok + tally.failed;
        UrlSummary {
            url: tally.name.clone(),
            offered,
            ok: tally.ok,
            failed: tally.failed,
            failed_share: tally.failed as f64 / offered.max(1) as f64,
            throughput_per_s: if window_s > 0.0 { tally.ok as f64 / window_s } else { 0.0 },
            mean_ns: times.mean_ns(),
            p50_ns: at(50.0),
            p90_ns: at(90.0),
            p99_ns: at(99.0),
            max_ns: times.max_ns(),
            example: Some(tally.example.clone()).filter(|example| !example.is_empty()),
        }
    };
    tallies.iter().map(summary).collect()
}
