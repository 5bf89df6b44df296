//! k6: `--summary-export`, the data of `handleSummary` (values one level deeper), and the summary of version 1 (a list of metrics).

use serde_json::Value;
use tare_stats::Polarity::{HigherIsBetter, LowerIsBetter};

use super::found::{Content, Found, NO_SUCCESS};

pub(super) fn read(content: &Content<'_>) -> Option<Result<Found, String>> {
    let json = content.value()?;
    let metrics: Vec<(&str, &Value)> = match json.get("metrics").or_else(|| json.get("results")?.get("metrics"))? {
        Value::Object(metrics) => metrics.iter().map(|(name, metric)| (name.as_str(), metric)).collect(),
        Value::Array(metrics) => {
            metrics.iter().map(|metric| Some((metric.get("name")?.as_str()?, metric))).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let mut found = Found::default();
    for (metric, values) in metrics {
        let values = values.get("values").unwrap_or(values);
        // `http_req_duration{name:login}` is a part of `http_req_duration`.
        let kind = metric.split('{').next().unwrap_or(metric);
        let name = match metric {
            "http_req_duration" | "http_reqs" | "http_req_failed" => content.name.to_owned(),
            _ => format!("{} ({metric})", content.name),
        };
        if kind.ends_with("_duration") {
            add_times(&mut found, &name, metric, values);
        } else if let ("http_reqs" | "iterations", Some(rate)) = (kind, values.get("rate")) {
            found.add(&name, ("throughput", "per_s"), HigherIsBetter, rate.as_f64());
        } else if let ("http_req_failed", Some(share)) = (kind, values.get("rate").or_else(|| values.get("value"))) {
            if metric == kind && share.as_f64() == Some(1.0) {
                return Some(Err(NO_SUCCESS.to_owned()));
            }
            found.add(&name, ("failed", "share"), LowerIsBetter, share.as_f64());
        } else {
            found.left_out.push(metric.to_owned());
        }
    }
    Some(Ok(found))
}

/// The statistics that the user chose for trends: `avg`, `med`, `p(99.9)`, and `p99` in version 1.
fn add_times(found: &mut Found, name: &str, metric: &str, values: &Value) {
    for (key, value) in values.as_object().into_iter().flatten() {
        let percentile = key.strip_prefix('p').map(|rest| rest.trim_matches(['(', ')']));
        let figure = match (key.as_str(), percentile) {
            ("avg", _) => "mean".to_owned(),
            ("med", _) => "p50".to_owned(),
            ("min" | "max", _) => key.clone(),
            (_, Some(percentile)) if percentile.parse::<f64>().is_ok() => format!("p{percentile}"),
            ("count" | "thresholds", _) => continue,
            _ => {
                found.left_out.push(format!("{key} of {metric}"));
                continue;
            }
        };
        found.add(name, (&figure, "ms"), LowerIsBetter, value.as_f64());
    }
}
