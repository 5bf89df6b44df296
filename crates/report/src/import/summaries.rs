//! Load tools that write one summary as JSON: a table of where each has its figures.

use serde_json::Value;
use tare_stats::Polarity::{HigherIsBetter, LowerIsBetter};

use super::found::{Content, Found, NO_SUCCESS};

/// Where a summary has its figures. All places are JSON pointers.
pub(super) struct Summary {
    /// What only this tool's summary has.
    mark: &'static str,
    unit: &'static str,
    /// The place of an object with times, and its keys; `50th=p50` is a key that has another name here.
    times: (&'static str, &'static str),
    /// A list of percentiles, with the keys of percentile and time in an entry.
    percentiles: Option<(&'static str, &'static str, &'static str)>,
    rate: &'static str,
    /// A share: of successes, or of failures.
    share: Option<(&'static str, &'static str)>,
    /// Counts of responses: the places of those that succeeded, and of those that did not.
    counts: (&'static str, &'static str),
    at: Option<&'static str>,
    /// The places of what was measured; where there is none, the file's name says it.
    names: &'static str,
}

const NOTHING: Summary = Summary {
    mark: "",
    unit: "",
    times: ("", ""),
    percentiles: None,
    rate: "",
    share: None,
    counts: ("", ""),
    at: None,
    names: "",
};

/// URLs and model name it, so that a load has one line whatever its files are called, and another load has another.
pub(super) const TARE_LOAD: Summary = Summary {
    mark: "/response/percentiles",
    unit: "ns",
    times: ("/response", "mean_ns=mean max_ns=max"),
    percentiles: Some(("/response/percentiles", "percentile", "value_ns")),
    rate: "/throughput_per_s",
    share: Some(("/requests/failed_share", "failed")),
    at: Some("/started_at"),
    names: "/url /urls/1/url /model/text",
    ..NOTHING
};

/// Its rate counts failures too, so their share is a figure of its own. Every answer is a success to it, whatever its status.
pub(super) const OHA: Summary = Summary {
    mark: "/latencyPercentiles",
    unit: "s",
    times: ("/latencyPercentiles", "p50 p90 p95 p99 p99.9 p99.99"),
    rate: "/summary/requestsPerSec",
    share: Some(("/summary/successRate", "success")),
    counts: ("/statusCodeDistribution", "/statusCodeDistribution"),
    ..NOTHING
};

/// Its `rate` is what was sent, its `throughput` what succeeded.
pub(super) const VEGETA: Summary = Summary {
    mark: "/latencies/99th",
    unit: "ns",
    times: ("/latencies", "mean 50th=p50 90th=p90 95th=p95 99th=p99 max"),
    rate: "/throughput",
    share: Some(("/success", "success")),
    at: Some("/earliest"),
    ..NOTHING
};

pub(super) const FORTIO: Summary = Summary {
    mark: "/DurationHistogram/Avg",
    unit: "s",
    times: ("/DurationHistogram", "Avg=mean Max=max"),
    percentiles: Some(("/DurationHistogram/Percentiles", "Percentile", "Value")),
    rate: "/ActualQPS",
    counts: ("/RetCodes", "/RetCodes"),
    at: Some("/StartTime"),
    ..NOTHING
};

pub(super) const AUTOCANNON: Summary = Summary {
    mark: "/requests/average",
    unit: "ms",
    times: ("/latency", "average=mean p50 p90 p97_5=p97.5 p99 p99_9=p99.9"),
    rate: "/requests/average",
    counts: ("/2xx", "/errors /non2xx"),
    at: Some("/start"),
    ..NOTHING
};

pub(super) const BOMBARDIER: Summary = Summary {
    mark: "/result/rps/mean",
    unit: "us",
    times: ("/result/latency", "mean max percentiles/50=p50 percentiles/90=p90 percentiles/95=p95 percentiles/99=p99"),
    rate: "/result/rps/mean",
    counts: ("/result/req2xx /result/req3xx", "/result/req4xx /result/req5xx /result/others"),
    ..NOTHING
};

/// The figures at the places of `summary`. A time that the file has not at all was not asked for; one without a number is left out by name.
pub(super) fn read(content: &Content<'_>, summary: &Summary) -> Option<Result<Found, String>> {
    let json = content.value()?;
    json.pointer(summary.mark)?;
    let number = |place: &str| json.pointer(place).and_then(Value::as_f64);
    let text = |place: Option<&str>| json.pointer(place?)?.as_str();
    let names: Vec<&str> = summary.names.split_whitespace().filter_map(|place| text(Some(place))).collect();
    let name = &if names.is_empty() { content.name.to_owned() } else { names.join(", ") };
    let failures = counts(json, summary.counts.1, false);
    let is_without_success = !failures.is_empty() && counts(json, summary.counts.0, true).is_empty();
    if is_without_success || number(summary.rate) == Some(0.0) {
        return Some(Err(NO_SUCCESS.to_owned()));
    }
    let mut found = Found { at: text(summary.at).and_then(tare_analysis::utc), ..Found::default() };
    let (times, keys) = summary.times;
    for key in keys.split(' ') {
        let (key, figure) = key.split_once('=').unwrap_or((key, key));
        if let Some(value) = json.pointer(&format!("{times}/{key}")) {
            found.add(name, (figure, summary.unit), LowerIsBetter, value.as_f64());
        }
    }
    if let Some((place, percentile, value)) = summary.percentiles {
        for one in json.pointer(place).and_then(Value::as_array).into_iter().flatten() {
            let figure = format!("p{}", one[percentile].as_f64().unwrap_or_default());
            found.add(name, (&figure, summary.unit), LowerIsBetter, one[value].as_f64());
        }
    }
    found.add(name, ("throughput", "per_s"), HigherIsBetter, number(summary.rate));
    if let Some((place, figure)) = summary.share {
        let polarity = if figure == "failed" { LowerIsBetter } else { HigherIsBetter };
        if figure == "success" && number(place) == Some(0.0) {
            return Some(Err(NO_SUCCESS.to_owned()));
        }
        found.add(name, (figure, "share"), polarity, number(place));
    }
    found.left_out.extend(failures.into_iter().map(|(what, count)| format!("{what}: {count}")));
    Some(Ok(found))
}

/// The counts above 0 at these places: numbers, and of an object with a number for each status those of successes, or
/// of failures.
fn counts(json: &Value, places: &str, of_success: bool) -> Vec<(String, u64)> {
    let mut counts = Vec::new();
    for place in places.split_whitespace() {
        match json.pointer(place) {
            Some(Value::Object(by_status)) => counts.extend(by_status.iter().filter_map(|(status, count)| {
                let is_success = (200..400).contains(&status.parse::<i32>().ok()?);
                (is_success == of_success).then_some((format!("status {status}"), count.as_u64()?))
            })),
            Some(count) => {
                let name = place.rsplit('/').next().unwrap_or(place);
                counts.extend(count.as_u64().map(|count| (name.to_owned(), count)));
            }
            None => {}
        }
    }
    counts.retain(|(_, count)| *count > 0);
    counts
}
