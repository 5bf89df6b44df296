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
    let measured = value.and_then(|value| exact(condition, value)).unwrap_or(measured);
    ThresholdResult { condition: condition.text.clone(), measured, failed }
}

/// A value near its limit with as many digits as tell them apart; `None` where fewer do. 999.7/s would read as 1,000/s.
fn exact(condition: &Condition, value: f64) -> Option<String> {
    let (scale, unit) = match condition.metric {
        Metric::Throughput => (1.0, "/s"),
        Metric::ErrorShare | Metric::StatusShare(..) => (100.0, " %"),
        Metric::Latency(..) => (1e-6, " ms"),
        _ => return None,
    };
    let (value, limit) = (value * scale, condition.limit * scale);
    if (value - limit).abs() >= 0.005 * limit.abs() || value == limit {
        return None;
    }
    let is_told = |text: &String| text.parse::<f64>().is_ok_and(|shown| (shown - limit).abs() > 1e-9 * limit.abs());
    let text = (0..9).map(|decimals| format!("{value:.decimals$}")).find(is_told)?;
    Some(text + unit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beside_its_limit_is_shown_on_its_side_of_it() {
        let shown = |condition: &str, value: f64| exact(&condition.parse().unwrap(), value);
        assert_eq!(shown("rps<1000", 999.7).as_deref(), Some("999.7/s"));
        assert_eq!(shown("errors>1%", 100.0 / 9_600.0), None, "1.04 % is told by three digits");
        assert_eq!(shown("errors>1%", 0.01002).as_deref(), Some("1.002 %"));
        assert_eq!(shown("p99>5ms", 5_000_012.0).as_deref(), Some("5.00001 ms"));
        assert_eq!((shown("rps<1000", 1000.0), shown("rps<1000", 900.0)), (None, None));
    }
}
