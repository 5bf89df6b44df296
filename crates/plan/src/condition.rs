//! Conditions on what was measured (`p99>5ms`, `errors>0.1%`), as people write them. This module parses them; the caller
//! compares them with figures. Limits of `tare check` have the same form ([`ratio_limit`](crate::ratio_limit)).

use std::str::FromStr;

use tare_units::{Span, parse_quantity, serde_as_text};

/// A figure, a limit, and on which side of it the condition is met.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    pub metric: Metric,
    /// Met above the limit; otherwise below it.
    pub above: bool,
    /// Met at the limit too.
    pub or_equal: bool,
    /// In the unit of the metric.
    pub limit: f64,
}

/// Why a condition cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is no condition: {why}; write for example p99>5ms, p99.9(service)>=1ms, errors>0.1% or rps<1000")]
pub struct ConditionError {
    text: String,
    why: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// In nanoseconds.
    Latency(Statistic, Clock),
    /// Failed requests, as a number.
    Errors,
    /// Failed requests, as a share (0–1).
    ErrorShare,
    /// What failed on connections and belongs to no request, as a number.
    ConnectionEvents,
    /// Right answers per second.
    Throughput,
}

/// Which figure of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Min,
    Mean,
    Max,
    /// 0–100, exclusive of 100.
    Percentile(f64),
}

/// From when a latency counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// From the intended start.
    Response,
    /// From the actual send.
    Service,
    /// From the intended start to the actual send.
    SendLag,
}

/// A condition cut at its sign: `p99 >= 5ms`.
pub(crate) struct SplitCondition<'a> {
    /// The text before the sign, in lower case.
    pub metric: String,
    /// The sign is `>` or `>=`.
    pub above: bool,
    /// The sign is `>=` or `<=`.
    pub or_equal: bool,
    /// The text after the sign.
    pub value: &'a str,
}

impl<'a> SplitCondition<'a> {
    /// `None` for a text without a sign.
    pub fn split(text: &'a str) -> Option<Self> {
        let (metric, rest) = text.split_at(text.find(['<', '>'])?);
        let value = rest[1..].strip_prefix('=');
        Some(Self {
            metric: metric.trim().to_ascii_lowercase(),
            above: rest.starts_with('>'),
            or_equal: value.is_some(),
            value: value.unwrap_or(&rest[1..]).trim(),
        })
    }
}

impl Condition {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether this figure, in the unit of the metric, meets it.
    pub fn is_met_by(&self, value: f64) -> bool {
        let beyond = if self.above { value > self.limit } else { value < self.limit };
        beyond || (self.or_equal && value == self.limit)
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let wrong = |why: &str| ConditionError { text: text.to_owned(), why: why.to_owned() };
        let written = SplitCondition::split(text).ok_or_else(|| wrong("it has neither > nor <"))?;
        let SplitCondition { above, or_equal, value, .. } = written;
        let (metric, limit) = match written.metric.as_str() {
            "rps" | "throughput" => {
                (Metric::Throughput, parse_quantity(value).map_err(|error| wrong(&error.to_string()))?)
            }
            "errors" => {
                parse_error_metric(value).ok_or_else(|| wrong("errors are a number, or a share such as 0.1%"))?
            }
            "connection-events" => {
                let limit =
                    parse_quantity(value).map_err(|_| wrong("connection-events are a number, without a share"))?;
                (Metric::ConnectionEvents, limit)
            }
            name => {
                let metric =
                    parse_latency_metric(name).ok_or_else(|| wrong(&format!("there is no metric \"{name}\"")))?;
                let limit = value.parse::<Span>().ok().filter(|_| value.ends_with('s'));
                (metric, limit.ok_or_else(|| wrong("its value is no time with a unit"))?.0.as_nanos() as f64)
            }
        };
        Ok(Self { text: text.trim().to_owned(), metric, above, or_equal, limit })
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

serde_as_text!(Condition);

fn parse_error_metric(text: &str) -> Option<(Metric, f64)> {
    match text.strip_suffix('%') {
        Some(percent) => Some((Metric::ErrorShare, parse_quantity(percent.trim()).ok()? / 100.0)),
        None => Some((Metric::Errors, parse_quantity(text).ok()?)),
    }
}

/// `p99`, `p99.9(service)`, `max(lag)`; of the response time where no clock is named.
fn parse_latency_metric(name: &str) -> Option<Metric> {
    let (statistic, clock) = match name.split_once('(') {
        Some((statistic, clock)) => (statistic.trim(), clock.strip_suffix(')')?.trim()),
        None => (name, "response"),
    };
    let clock = match clock {
        "response" => Clock::Response,
        "service" => Clock::Service,
        "lag" => Clock::SendLag,
        _ => return None,
    };
    let statistic = match statistic {
        "min" => Statistic::Min,
        "mean" | "avg" => Statistic::Mean,
        "max" => Statistic::Max,
        other => {
            let percentile: f64 = other.strip_prefix('p')?.parse().ok()?;
            if !(0.0..100.0).contains(&percentile) {
                return None;
            }
            Statistic::Percentile(percentile)
        }
    };
    Some(Metric::Latency(statistic, clock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_meant() {
        use Clock::*;
        use Statistic::*;
        for (text, metric, above, or_equal, limit) in [
            ("p99>5ms", Metric::Latency(Percentile(99.0), Response), true, false, 5e6),
            ("p99.9(service) >= 1ms", Metric::Latency(Percentile(99.9), Service), true, true, 1e6),
            ("max(lag)>200us", Metric::Latency(Max, SendLag), true, false, 2e5),
            ("mean<1s", Metric::Latency(Mean, Response), false, false, 1e9),
            ("errors>0.1%", Metric::ErrorShare, true, false, 0.001),
            ("errors>0", Metric::Errors, true, false, 0.0),
            ("connection-events>0", Metric::ConnectionEvents, true, false, 0.0),
            ("rps<1000", Metric::Throughput, false, false, 1e3),
            ("throughput<=20k", Metric::Throughput, false, true, 2e4),
        ] {
            let expected = Condition { text: text.to_owned(), metric, above, or_equal, limit };
            assert_eq!(text.parse(), Ok(expected));
        }
    }

    #[test]
    fn an_invalid_condition_has_a_reason() {
        for (text, why) in [
            ("p99", "neither > nor <"),
            ("", "neither > nor <"),
            ("p99>5", "no time with a unit"),
            ("p99>fast", "no time with a unit"),
            ("p101>5ms", "no metric \"p101\""),
            ("p99(wall)>5ms", "no metric \"p99(wall)\""),
            ("latency>5ms", "no metric \"latency\""),
            ("errors>x%", "a share such as 0.1%"),
            ("connection-events>1%", "are a number, without a share"),
            ("rps<many", "not a number of at least 0"),
            ("rps<-1", "not a number of at least 0"),
        ] {
            let error = text.parse::<Condition>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("for example"), "{text}: {error}");
        }
    }
}
