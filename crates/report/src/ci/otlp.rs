//! OTLP/JSON: the gauges of a run, as an OpenTelemetry collector takes them (`ExportMetricsServiceRequest` of
//! opentelemetry-proto 1.x). 64-bit integers are texts there.
//! Source of the form: <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>.

use serde_json::{Value, json};

use super::gauges::{GaugeFamily, families, run_labels};
use crate::error::ReportError;
use crate::json;
use tare_analysis::summary::Summary;

/// One request with every figure and every ratio that may be used. The run began `started_unix_ns` after 1970. Its points
/// have the time of its end, so that a run that is sent twice gives the same points.
pub fn render(summary: &Summary, started_unix_ns: u64) -> Result<String, ReportError> {
    let begin = started_unix_ns.to_string();
    let end = started_unix_ns.saturating_add((summary.run.duration_s * 1e9) as u64).to_string();
    let metric = |family: GaugeFamily| {
        let points = family.samples.iter().map(|(labels, value)| {
            let attributes: Vec<Value> = labels.iter().map(|(name, value)| attribute(name, value)).collect();
            json!({
                "attributes": attributes, "startTimeUnixNano": begin, "timeUnixNano": end, "asDouble": value,
            })
        });
        let points: Vec<Value> = points.collect();
        json!({
            "name": family.name, "description": family.help, "unit": family.unit, "gauge": { "dataPoints": points },
        })
    };
    let metrics: Vec<Value> = families(summary).map(metric).collect();
    let version = &summary.run.tare_version;
    let service = [attribute("service.name", "tare"), attribute("service.version", version)];
    let run = run_labels(summary);
    let run = run.iter().map(|(name, value)| match *name {
        // By the name that OpenTelemetry's conventions have for it.
        "git_revision" => attribute("vcs.ref.head.revision", value),
        "tare_version" => attribute("tare.version", value),
        name => attribute(&format!("tare.run.{name}"), value),
    });
    let resource: Vec<Value> = service.into_iter().chain(run).collect();
    json::render(&json!({
        "resourceMetrics": [{
            "resource": { "attributes": resource },
            "scopeMetrics": [{ "scope": { "name": "tare", "version": version }, "metrics": metrics }],
        }],
    }))
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}
