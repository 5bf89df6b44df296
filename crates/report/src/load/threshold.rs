//! Conditions on which a load fails (`--fail-if 'p99>5ms'`): how they are written, and what holding them against a load
//! says.

use std::str::FromStr;

use tare_plan::duration::Span;
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::{SAMPLES_ABOVE, printable};

use super::Clocks;
use super::summary::{LoadSummary, ThresholdResult};
use crate::format::{Unit, count, rate, share, single};

/// A condition on which a load fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    text: String,
    metric: Metric,
    fails_above: bool,
    or_equal: bool,
    limit: f64,
}

/// Why a condition cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is no condition: {why}; write for example p99>5ms, p99.9(service)>=1ms, errors>0.1% or rps<1000")]
pub struct ThresholdError {
    text: String,
    why: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Metric {
    /// In nanoseconds.
    Latency(Statistic, Clock),
    /// Failed requests, as a number.
    Errors,
    /// Failed requests, as a share.
    ErrorShare,
    /// Right answers per second.
    Throughput,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    Min,
    Mean,
    Max,
    Percentile(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Clock {
    Response,
    Service,
    SendLag,
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let wrong = |why: &str| ThresholdError { text: text.to_owned(), why: why.to_owned() };
        let at = text.find(['<', '>']).ok_or_else(|| wrong("it has neither > nor <"))?;
        let (metric, rest) = text.split_at(at);
        let fails_above = rest.starts_with('>');
        let value = rest[1..].trim_start_matches('=');
        let or_equal = value.len() + 1 < rest.len();
        let value = value.trim();
        let (metric, limit) = match metric.trim().to_ascii_lowercase().as_str() {
            "rps" | "throughput" => (Metric::Throughput, number(value).ok_or_else(|| wrong("its value is no number"))?),
            "errors" => errors(value).ok_or_else(|| wrong("errors are a number, or a share such as 0.1%"))?,
            name => {
                let metric = latency(name).ok_or_else(|| wrong(&format!("there is no metric \"{name}\"")))?;
                let limit = value.parse::<Span>().ok().filter(|_| value.ends_with('s'));
                (metric, limit.ok_or_else(|| wrong("its value is no time with a unit"))?.0.as_nanos() as f64)
            }
        };
        Ok(Self { text: text.trim().to_owned(), metric, fails_above, or_equal, limit })
    }
}

fn number(text: &str) -> Option<f64> {
    let (digits, scale) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => (text, 1.0),
    };
    digits.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0).map(|value| value * scale)
}

fn errors(text: &str) -> Option<(Metric, f64)> {
    match text.strip_suffix('%') {
        Some(percent) => Some((Metric::ErrorShare, number(percent.trim())? / 100.0)),
        None => Some((Metric::Errors, number(text)?)),
    }
}

/// `p99`, `p99.9(service)`, `max(lag)`; of the response time where no clock is named.
fn latency(name: &str) -> Option<Metric> {
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

impl Threshold {
    /// The condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What became of it. A latency that cannot be stated, for want of samples, fails: nobody has seen it hold.
    pub(super) fn hold(&self, summary: &LoadSummary, clocks: &Clocks) -> ThresholdResult {
        let (value, measured) = match self.metric {
            Metric::Throughput => (Some(summary.throughput_per_s), rate(summary.throughput_per_s)),
            Metric::Errors => (Some(summary.requests.failed as f64), count(summary.requests.failed, "error")),
            Metric::ErrorShare => (Some(summary.requests.failed_share), share(summary.requests.failed_share)),
            Metric::Latency(statistic, clock) => match of_clock(clock, clocks, statistic) {
                Ok(ns) => (Some(ns), single(Unit::Nanos, ns)),
                Err(why) => (None, why),
            },
        };
        let failed = value.is_none_or(|value| self.is_met_by(value));
        ThresholdResult { condition: self.text.clone(), measured, failed }
    }

    fn is_met_by(&self, value: f64) -> bool {
        let beyond = if self.fails_above { value > self.limit } else { value < self.limit };
        beyond || (self.or_equal && value == self.limit)
    }
}

fn of_clock(clock: Clock, clocks: &Clocks, statistic: Statistic) -> Result<f64, String> {
    let histogram = match clock {
        Clock::Response => &clocks.response,
        Clock::Service => &clocks.service,
        Clock::SendLag => &clocks.send_lag,
    };
    statistic_of(histogram, statistic)
}

fn statistic_of(histogram: &LatencyHistogram, statistic: Statistic) -> Result<f64, String> {
    let some = |value: Option<f64>| value.ok_or_else(|| "no answers to measure it on".to_owned());
    match statistic {
        Statistic::Min => some(histogram.min_ns().map(|ns| ns as f64)),
        Statistic::Mean => some(histogram.mean_ns()),
        Statistic::Max => some(histogram.max_ns().map(|ns| ns as f64)),
        Statistic::Percentile(p) if !printable(histogram.len(), p) => {
            let needed = (SAMPLES_ABOVE / (1.0 - p / 100.0)).round() as u64;
            Err(format!("cannot be stated: it takes {needed} answers, and there are {}", histogram.len()))
        }
        Statistic::Percentile(p) => some(histogram.value_at_quantile_ns(p / 100.0).map(|ns| ns as f64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_meant() {
        use Clock::*;
        use Statistic::*;
        for (text, metric, fails_above, or_equal, limit) in [
            ("p99>5ms", Metric::Latency(Percentile(99.0), Response), true, false, 5e6),
            ("p99.9(service) >= 1ms", Metric::Latency(Percentile(99.9), Service), true, true, 1e6),
            ("max(lag)>200us", Metric::Latency(Max, SendLag), true, false, 2e5),
            ("mean<1s", Metric::Latency(Mean, Response), false, false, 1e9),
            ("errors>0.1%", Metric::ErrorShare, true, false, 0.001),
            ("errors>0", Metric::Errors, true, false, 0.0),
            ("rps<1000", Metric::Throughput, false, false, 1e3),
            ("throughput<=20k", Metric::Throughput, false, true, 2e4),
        ] {
            let expected = Threshold { text: text.to_owned(), metric, fails_above, or_equal, limit };
            assert_eq!(text.parse(), Ok(expected));
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (text, why) in [
            ("p99", "neither > nor <"),
            ("", "neither > nor <"),
            ("p99>5", "no time with a unit"),
            ("p99>fast", "no time with a unit"),
            ("p101>5ms", "no metric \"p101\""),
            ("p99(wall)>5ms", "no metric \"p99(wall)\""),
            ("latency>5ms", "no metric \"latency\""),
            ("errors>x%", "a share such as 0.1%"),
            ("rps<many", "no number"),
            ("rps<-1", "no number"),
        ] {
            let error = text.parse::<Threshold>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("for example"), "{text}: {error}");
        }
    }

    #[test]
    fn a_percentile_without_enough_samples_fails_and_says_how_many_it_takes() {
        let mut histogram = LatencyHistogram::new();
        (0..999).for_each(|_| histogram.record_ns(1_000));
        let why = statistic_of(&histogram, Statistic::Percentile(99.0)).unwrap_err();
        assert_eq!(why, "cannot be stated: it takes 1000 answers, and there are 999");
        histogram.record_ns(1_000);
        assert_eq!(statistic_of(&histogram, Statistic::Percentile(99.0)), Ok(1_000.0));
    }
}
