//! Conditions on what was measured (`p99>5ms`, `errors>0.1%`), as people write them. This module parses them; the caller
//! compares them with figures. Limits of `tare check` have the same form ([`ratio_limit`](crate::ratio_limit)).

use std::str::FromStr;

use tare_units::{Span, named_values, parse_quantity, serde_as_text};

/// A figure, a limit, and on which side of it the condition is met.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// As written.
    pub text: String,
    pub metric: Metric,
    /// Of which requests, by their path or by method and path: `/cart`, `GET /cart`; `None` for all.
    pub url: Option<String>,
    /// Met above the limit; otherwise below it.
    pub above: bool,
    /// Met at the limit too.
    pub or_equal: bool,
    /// In the unit of the metric.
    pub limit: f64,
}

const EXAMPLES: &str = "p99>5ms, p99(/cart)>5ms, p99.9(service)>=1ms, errors>0.1%, 'status 503'>1% or rps<1000";

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
    /// Answers with a status of this range, as a number.
    Status(u16, u16),
    /// The same, as a share (0–1) of the requests.
    StatusShare(u16, u16),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Min,
    Mean,
    Max,
    /// 0–100, exclusive of 100.
    Percentile(f64),
}

named_values! {
    /// From when a latency counts.
    pub enum Clock: "a clock" {
        /// From the intended start.
        Response = "response",
        /// From the actual send.
        Service = "service",
        /// From the intended start to the actual send.
        SendLag = "lag",
    }
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
    /// Whether it is about the requests of this name, `GET /cart`.
    pub fn is_about(&self, name: &str) -> bool {
        let has_path = |url: &str| name.split_once(' ').is_some_and(|(_, path)| path == url);
        self.url.as_deref().is_none_or(|url| name == url || has_path(url))
    }

    /// Whether it says which share of all requests may fail.
    pub fn bounds_all_errors(&self) -> bool {
        self.above && self.metric == Metric::ErrorShare && self.url.is_none()
    }

    /// Whether this figure, in the unit of the metric, meets it.
    pub fn is_met_by(&self, value: f64) -> bool {
        // Of 1,000 requests, 7 are 0.7 %, though no binary fraction is either of them.
        let is_equal = (value - self.limit).abs() <= 1e-12 * self.limit.abs();
        let beyond = if self.above { value > self.limit } else { value < self.limit };
        if is_equal { self.or_equal } else { beyond }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("\"{text}\" is no condition: {why}; write for example {EXAMPLES}");
        let written = SplitCondition::split(text).ok_or_else(|| wrong("it has neither > nor <"))?;
        let SplitCondition { above, or_equal, value, .. } = written;
        let (name, url) = split_url(text, &written.metric);
        let (metric, limit) = match name.as_str() {
            "rps" | "throughput" => (Metric::Throughput, parse_quantity(value).map_err(|error| wrong(&error))?),
            "errors" => parse_share_or_count(value, Metric::ErrorShare, Metric::Errors)
                .ok_or_else(|| wrong("errors are a number, or a share such as 0.1%"))?,
            "connection-events" => {
                let limit =
                    parse_quantity(value).map_err(|_| wrong("connection-events are a number, without a share"))?;
                (Metric::ConnectionEvents, limit)
            }
            status if status.starts_with("status ") => parse_status_metric(status, value)
                .ok_or_else(|| wrong("write status 503 or status 5xx, and a number or a share such as 1%"))?,
            name => {
                let metric =
                    parse_latency_metric(name).ok_or_else(|| wrong(&format!("there is no metric \"{name}\"")))?;
                let limit = value.parse::<Span>().ok().filter(|_| value.parse::<f64>().is_err());
                (metric, limit.ok_or_else(|| wrong("its value is no time with a unit"))?.0.as_nanos() as f64)
            }
        };
        if url.is_some() && !matches!(metric, Metric::Latency(_, Clock::Response) | Metric::Errors | Metric::ErrorShare)
        {
            return Err(wrong("of one URL there are its response times and its errors"));
        }
        Ok(Self { text: text.trim().to_owned(), metric, url, above, or_equal, limit })
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

serde_as_text!(Condition);

/// The name of the figure, and the URL in its brackets: `p99(/cart)`, `errors(POST /cart)`. A URL keeps its letters.
fn split_url(text: &str, metric: &str) -> (String, Option<String>) {
    let left = text[..text.find(['<', '>']).unwrap_or(text.len())].trim();
    let bracketed = left.split_once('(').and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?.trim())));
    match bracketed {
        Some((name, url)) if url.contains('/') => (name.trim().to_ascii_lowercase(), Some(url.to_owned())),
        _ => (metric.to_owned(), None),
    }
}

/// `status 503`, `status 5xx`.
fn parse_status_metric(name: &str, value: &str) -> Option<(Metric, f64)> {
    let code = name.strip_prefix("status ")?.trim();
    let (digits, codes) = code.strip_suffix("xx").map_or((code, 1), |class| (class, 100));
    let from = digits.parse::<u16>().ok()?.checked_mul(codes).filter(|from| (100..=999).contains(from))?;
    let to = from + codes - 1;
    parse_share_or_count(value, Metric::StatusShare(from, to), Metric::Status(from, to))
}

/// `0.1%` of the first metric, or `5` of the second.
fn parse_share_or_count(value: &str, share: Metric, count: Metric) -> Option<(Metric, f64)> {
    match value.strip_suffix('%') {
        Some(percent) => Some((share, parse_quantity(percent.trim()).ok()? / 100.0)),
        None => Some((count, parse_quantity(value).ok()?)),
    }
}

/// `p99`, `p99.9(service)`, `max(lag)`; of the response time where no clock is named.
fn parse_latency_metric(name: &str) -> Option<Metric> {
    let (statistic, clock) = match name.split_once('(') {
        Some((statistic, clock)) => (statistic.trim(), clock.strip_suffix(')')?.trim()),
        None => (name, "response"),
    };
    let statistic = match statistic {
        "min" => Statistic::Min,
        "mean" | "avg" => Statistic::Mean,
        "max" => Statistic::Max,
        other => {
            let percentile = other.strip_prefix('p')?.parse::<f64>().ok();
            Statistic::Percentile(percentile.filter(|percentile| (0.0..100.0).contains(percentile))?)
        }
    };
    Some(Metric::Latency(statistic, clock.parse().ok()?))
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
            let expected = Condition { text: text.to_owned(), metric, url: None, above, or_equal, limit };
            assert_eq!(text.parse(), Ok(expected));
        }
    }

    #[test]
    fn conditions_may_name_a_url_or_a_status() {
        let read = |text: &str| text.parse::<Condition>().map(|one| (one.metric, one.url, one.limit)).unwrap();
        let p99 = Metric::Latency(Statistic::Percentile(99.0), Clock::Response);
        assert_eq!(read("p99(/Cart) > 20ms"), (p99, Some("/Cart".to_owned()), 2e7));
        assert_eq!(read("errors(POST /a)>1%"), (Metric::ErrorShare, Some("POST /a".to_owned()), 0.01));
        assert_eq!(read("status 503 > 1%"), (Metric::StatusShare(503, 503), None, 0.01));
        assert_eq!(read("status 5xx>0"), (Metric::Status(500, 599), None, 0.0));
        let of_cart: Condition = "errors(/cart)>1%".parse().unwrap();
        assert!(of_cart.is_about("GET /cart") && of_cart.is_about("POST /cart") && !of_cart.is_about("GET /carts"));
        let posted: Condition = "errors(POST /cart)>1%".parse().unwrap();
        assert!(posted.is_about("POST /cart") && !posted.is_about("GET /cart"));
        let all: Condition = "errors>1%".parse().unwrap();
        assert!(all.is_about("GET /") && all.bounds_all_errors() && !of_cart.bounds_all_errors());
    }

    #[test]
    fn a_share_that_is_just_the_limit_is_not_above_it() {
        let is_met = |text: &str, failed: f64| text.parse::<Condition>().unwrap().is_met_by(failed / 1000.0);
        for per_mille in 1..1000 {
            let (limit, failed) = (f64::from(per_mille) / 10.0, f64::from(per_mille));
            assert!(!is_met(&format!("errors>{limit}%"), failed), "{limit}");
            assert!(is_met(&format!("errors>={limit}%"), failed), "{limit}");
            assert!(is_met(&format!("errors>{limit}%"), failed + 1.0), "{limit}");
            assert!(!is_met(&format!("errors>={limit}%"), failed - 1.0), "{limit}");
        }
    }

    #[test]
    fn a_time_has_any_unit_of_a_duration() {
        let limit = |text: &str| text.parse::<Condition>().unwrap().limit;
        assert_eq!(["max>1h", "p99>2m", "mean<5us"].map(limit), [3.6e12, 1.2e11, 5e3]);
    }

    #[test]
    fn an_invalid_condition_has_a_reason() {
        for (text, why) in [
            ("status 50>1", "status 503 or status 5xx"),
            ("rps(/a)<5", "of one URL there are its response times and its errors"),
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
