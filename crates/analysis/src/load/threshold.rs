//! Conditions on which a load fails (`--fail-if 'p99>5ms'`) held against the load.

use tare_plan::condition::{Clock, Condition, Metric, Statistic};
use tare_record::figure::histogram_figure;

use super::Clocks;
use super::summary::LoadSummary;
use crate::format::{Unit, count, rate, share, single};
use crate::summary::ThresholdResult;

/// The outcome of a condition on which a load fails. A latency with too few samples fails it, because nothing shows
/// that the condition holds.
pub(super) fn hold(condition: &Condition, summary: &LoadSummary, clocks: &Clocks) -> ThresholdResult {
    let (value, measured) = match condition.metric {
        Metric::Throughput => (Some(summary.throughput_per_s), rate(summary.throughput_per_s)),
        Metric::Errors => (Some(summary.requests.failed as f64), count(summary.requests.failed, "error")),
        Metric::ErrorShare => (Some(summary.requests.failed_share), share(summary.requests.failed_share)),
        Metric::ConnectionEvents => {
            let events = summary.connection_events.iter().map(|event| event.count).sum::<u64>();
            (Some(events as f64), count(events, "connection event"))
        }
        Metric::Latency(statistic, clock) => match of_clock(clock, clocks, statistic) {
            Ok(ns) => (Some(ns), single(Unit::Nanos, ns)),
            Err(why) => (None, why),
        },
    };
    let failed = value.is_none_or(|value| condition.is_met_by(value));
    ThresholdResult { condition: condition.text().to_owned(), measured, failed }
}

fn of_clock(clock: Clock, clocks: &Clocks, statistic: Statistic) -> Result<f64, String> {
    let histogram = match clock {
        Clock::Response => &clocks.response,
        Clock::Service => &clocks.service,
        Clock::SendLag => &clocks.send_lag,
    };
    histogram_figure(histogram, statistic)
}
