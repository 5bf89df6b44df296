//! Load tools: k6's summary, oha's JSON, and HdrHistogram's interval log, as wrk2 derivatives and Java tools write it.

use serde_json::Value;
use tare_stats::Polarity::{HigherIsBetter, LowerIsBetter};
use tare_stats::histogram::read_interval_log;

use super::ImportedFigure;

/// `k6 run --summary-export`, or the data of `handleSummary`, in which the values stand one level deeper.
pub(super) fn k6(json: &Value, name: &str) -> Option<Vec<ImportedFigure>> {
    let metrics = json.get("metrics")?.as_object()?;
    let value = |metric: &str, key: &str| {
        let metric = metrics.get(metric)?;
        metric.get("values").unwrap_or(metric).get(key)?.as_f64()
    };
    let times = [("avg", "mean"), ("med", "p50"), ("p(90)", "p90"), ("p(95)", "p95"), ("p(99)", "p99")];
    let latencies = times.into_iter().filter_map(|(key, figure)| {
        Some(ImportedFigure::new(name, figure, "ms", LowerIsBetter, value("http_req_duration", key)?))
    });
    let rate = value("http_reqs", "rate");
    let rate = rate.map(|rate| ImportedFigure::new(name, "throughput", "per_s", HigherIsBetter, rate));
    Some(latencies.chain(rate).collect())
}

/// `oha --output-format json`.
pub(super) fn oha(json: &Value, name: &str) -> Option<Vec<ImportedFigure>> {
    let (summary, percentiles) = (json.get("summary")?, json.get("latencyPercentiles")?);
    let rate = summary.get("requestsPerSec")?.as_f64()?;
    let times = ["p50", "p90", "p99", "p99.9"]
        .into_iter()
        .filter_map(|key| Some(ImportedFigure::new(name, key, "s", LowerIsBetter, percentiles.get(key)?.as_f64()?)));
    Some(times.chain([ImportedFigure::new(name, "throughput", "per_s", HigherIsBetter, rate)]).collect())
}

/// The percentiles of all intervals together, in the unit of the log: nanoseconds where tare wrote it.
pub(super) fn interval_log(text: &str, name: &str) -> Result<Vec<ImportedFigure>, String> {
    let histogram = read_interval_log(text).map_err(|error| error.to_string())?;
    let percentiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
    let figure = |(figure, quantile): (&str, f64)| {
        let value = histogram.value_at_quantile_ns(quantile)? as f64;
        Some(ImportedFigure::new(name, figure, "unit of the log", LowerIsBetter, value))
    };
    Ok(percentiles.into_iter().filter_map(figure).collect())
}
