//! Limits on what a change may cost (`cpu > +3%`), as people write them for `tare check`. This module parses
//! limits; `tare_stats::measures::limit` judges them by intervals.

use std::str::FromStr;

use tare_units::{Span, serde_as_text};

use super::Currency;
use crate::condition::SplitCondition;

/// The largest allowed ratio of a currency to its baseline; the smallest for a currency where more is better.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioLimit {
    /// As written.
    pub text: String,
    pub currency: Currency,
    /// 1.03 for `+3%`.
    pub ratio: f64,
    /// Of a limit on slow requests: those that take longer count.
    pub slower_than: Option<Span>,
}

const EXAMPLES: &str = "cpu > +3%, p99 > +10%, slower(5ms) > +50% or throughput < -3%";

impl RatioLimit {
    /// A change of a currency for the worse by this factor, above 1: `cpu` and 1.03 make `cpu > +3%`; `throughput` and
    /// 1.25 make `throughput < -20%`. Errors: the factor is too large to be told from a loss of 100 %.
    pub fn worse_by(currency: Currency, factor: f64) -> Result<Self, String> {
        let (sign, ratio) = if currency.is_worse_above() { ('>', factor) } else { ('<', 1.0 / factor) };
        format!("{} {sign} {}", currency.facts().limit_names[0], percent_of(ratio)).parse()
    }
}

impl FromStr for RatioLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: String| format!("\"{text}\" is no limit: {why}; write for example {EXAMPLES}");
        let written = SplitCondition::split(text).ok_or_else(|| wrong("it has neither > nor <".to_owned()))?;
        let (metric, slower_than) = slow_requests(&written.metric).map_err(wrong)?;
        let currency: Currency = metric.parse().map_err(wrong)?;
        if written.above != currency.is_worse_above() {
            let sign = if currency.is_worse_above() { '>' } else { '<' };
            return Err(wrong(format!("{} fails on the other side; write {sign}", written.metric)));
        }
        let ratio = ratio(written.value)
            .ok_or_else(|| wrong("its value is no change in percent with a sign, such as +3%".to_owned()))?;
        Ok(Self { text: text.trim().to_owned(), currency, ratio, slower_than })
    }
}

/// The name of a measure, and the time in `slower(5ms)`.
fn slow_requests(metric: &str) -> Result<(&str, Option<Span>), String> {
    let Some(rest) = metric.strip_prefix("slower") else { return Ok((metric, None)) };
    let time = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let time = time.and_then(|time| time.trim().parse::<Span>().ok()).filter(|time| !time.is_zero());
    let time = time.ok_or("slow requests need a time, such as slower(5ms)")?;
    Ok(("slower", Some(time)))
}

/// `+3%` as 1.03. A change without a sign could mean a share.
fn ratio(value: &str) -> Option<f64> {
    let percent = value.strip_suffix('%')?.trim_end();
    let change: f64 = if percent.starts_with(['+', '-']) { percent.parse().ok()? } else { return None };
    Some(1.0 + change / 100.0).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
}

/// 1.03 as `+3.00%`: with as many decimals as it takes to read the same ratio again, and two at least.
fn percent_of(wanted: f64) -> String {
    let text = |decimals: usize| format!("{:+.decimals$}%", (wanted - 1.0) * 100.0);
    let is_same = |read: f64| (read.ln() - wanted.ln()).abs() <= wanted.ln().abs() * 1e-6;
    let exact = (2..=MOST_DECIMALS).map(text).find(|text| ratio(text).is_some_and(is_same));
    exact.unwrap_or_else(|| text(MOST_DECIMALS))
}

/// More decimals of a change in percent are below the precision of the ratio.
const MOST_DECIMALS: usize = 14;

impl std::fmt::Display for RatioLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

serde_as_text!(RatioLimit);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_are_meant() {
        for (text, currency, ratio) in [
            ("cpu > +3%", "cpu_per_request", 1.03),
            ("cpu_per_request>=+0.5 %", "cpu_per_request", 1.005),
            ("Allocated > +1%", "allocated_per_request", 1.01),
            ("p99>+10%", "latency_p99", 1.1),
            ("p99.9 > +10%", "latency_p99_9", 1.1),
            ("p99(no stops) > +10%", "latency_p99_no_stops", 1.1),
            ("stopped > +25%", "stopped_per_request", 1.25),
            ("met stop > +25%", "latency_met_stop", 1.25),
            ("slower(5ms) > +50%", "latency_slower", 1.5),
            ("throughput < -3%", "throughput", 0.97),
            ("cpu > -5%", "cpu_per_request", 0.95),
        ] {
            let limit: RatioLimit = text.parse().unwrap();
            assert_eq!((limit.text.as_str(), limit.currency.facts().name), (text, currency));
            assert!((limit.ratio - ratio).abs() < 1e-12, "{text}: {}", limit.ratio);
            let slow = text.starts_with("slower").then(|| Span::from_millis(5));
            assert_eq!(limit.slower_than, slow, "{text}");
        }
    }

    #[test]
    fn a_limit_can_be_made_from_a_factor() {
        for (currency, factor, text, is_worse_above) in [
            ("cpu", 1.03, "cpu > +3.00%", true),
            ("p99", 1.1, "p99 > +10.00%", true),
            ("throughput", 1.25, "throughput < -20.00%", false),
            // What 0.001 % is to `--at-least-change`.
            ("cpu", 1.000_01, "cpu > +0.001%", true),
            ("throughput", 1.0 / 0.999_99, "throughput < -0.001%", false),
            ("throughput", 1e6, "throughput < -99.9999%", false),
        ] {
            let limit = RatioLimit::worse_by(currency.parse().unwrap(), factor).unwrap();
            assert_eq!((limit.text.as_str(), limit.currency.is_worse_above()), (text, is_worse_above));
            let wanted = if is_worse_above { factor } else { 1.0 / factor };
            assert!((limit.ratio.ln() / wanted.ln() - 1.0).abs() < 1e-5, "{text}: {}", limit.ratio);
            assert_eq!(limit.to_string().parse(), Ok(limit), "it reads as it is written");
        }
    }

    #[test]
    fn an_invalid_limit_has_a_reason() {
        for (text, why) in [
            ("cpu", "neither > nor <"),
            ("cpu > 3%", "with a sign, such as +3%"),
            ("cpu > +3", "with a sign, such as +3%"),
            ("throughput < -100%", "with a sign, such as +3%"),
            ("cpu < -3%", "cpu fails on the other side; write >"),
            ("throughput > +3%", "throughput fails on the other side; write <"),
            ("p95 > +3%", "no currency \"p95\""),
            ("slower > +3%", "such as slower(5ms)"),
            ("slower(0s) > +3%", "such as slower(5ms)"),
            ("slower(5 mins > +3%", "such as slower(5ms)"),
        ] {
            let error = text.parse::<RatioLimit>().unwrap_err();
            assert!(error.contains(why) && error.contains("write for example cpu > +3%"), "{text}: {error}");
        }
    }
}
