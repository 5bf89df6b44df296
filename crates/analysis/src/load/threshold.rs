//! Conditions on which a load fails (`--fail-if 'p99>5ms'`) held against the load.

use tare_plan::condition::{Condition, Metric};
use tare_record::figure::{histogram_figure, times_by};
use tare_record::{LoadRecord, RequestTally};
use tare_stats::histogram::LatencyHistogram;

use super::merged;
use super::summary::LoadSummary;
use crate::format::{Unit, count, rate, share, single};
use crate::summary::ThresholdResult;

/// The outcome of a condition on which a load fails. A latency with too few samples fails it, and so does a URL of which
/// nothing is known (`requests` is `None`), because nothing shows that the condition holds.
pub(super) fn hold(
    condition: &Condition,
    summary: &LoadSummary,
    record: &LoadRecord,
    requests: Option<&[RequestTally]>,
) -> ThresholdResult {
    if condition.url.is_some() && requests.is_none() {
        let measured = "the record was cut short before its URLs were told apart".to_owned();
        return ThresholdResult { condition: condition.text.clone(), measured, failed: true };
    }
    let of_url = of_condition(requests.unwrap_or_default(), condition);
    let requests = summary.requests;
    let (ok, failed) = of_url.as_ref().map_or((requests.ok, requests.failed), |(ok, failed, _)| (*ok, *failed));
    let failed_share = failed as f64 / (ok + failed).max(1) as f64;
    let answers_of = |from: u16, to: u16| {
        let found = summary.statuses.iter().filter(|one| (from..=to).contains(&one.status));
        found.map(|one| one.count).sum::<u64>()
    };
    let (value, measured) = match condition.metric {
        Metric::Throughput => (Some(summary.throughput_per_s), rate(summary.throughput_per_s)),
        Metric::Errors => (Some(failed as f64), count(failed, "error")),
        Metric::ErrorShare => (Some(failed_share), share(failed_share)),
        Metric::Status(from, to) => (Some(answers_of(from, to) as f64), count(answers_of(from, to), "response")),
        Metric::StatusShare(from, to) => {
            let part = answers_of(from, to) as f64 / summary.requests.offered.max(1) as f64;
            (Some(part), share(part))
        }
        Metric::ConnectionEvents => {
            let events = summary.connection_events.iter().map(|event| event.count).sum::<u64>();
            (Some(events as f64), count(events, "connection event"))
        }
        Metric::Latency(statistic, clock) => {
            let of_all = || merged(record, |load| times_by(clock, load));
            let times = of_url.map_or_else(of_all, |(_, _, times)| times);
            match histogram_figure(&times, statistic) {
                Ok(ns) => (Some(ns), single(Unit::Nanos, ns)),
                Err(why) => (None, why),
            }
        }
    };
    let failed = value.is_none_or(|value| condition.is_met_by(value));
    ThresholdResult { condition: condition.text.clone(), measured, failed }
}

/// Answered and failed requests that a condition is about, and their response times; `None` for all requests, which a
/// load with a single one does not tell apart.
fn of_condition(tallies: &[RequestTally], condition: &Condition) -> Option<(u64, u64, LatencyHistogram)> {
    condition.url.as_ref()?;
    let meant = tallies.iter().filter(|tally| condition.is_about(&tally.name));
    meant.fold(None, |sum, tally| {
        let (ok, failed, mut times) = sum.unwrap_or_default();
        tally.response.merge_into(&mut times);
        Some((ok + tally.ok, failed + tally.failed, times))
    })
}
