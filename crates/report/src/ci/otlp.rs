//! OTLP/JSON: the gauges of a run, as an OpenTelemetry collector takes them.
//!
//! Source of the form: <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>, the message
//! `ExportMetricsServiceRequest` of opentelemetry-proto 1.x. 64-bit integers are texts there.

use serde::Serialize;

use super::gauges::{GaugeFamily, Labels, RunGauges};
use crate::error::ReportError;
use crate::json;
use tare_analysis::summary::Summary;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportRequest {
    resource_metrics: [ResourceMetrics; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceMetrics {
    resource: Resource,
    scope_metrics: [ScopeMetrics; 1],
}

#[derive(Serialize)]
struct Resource {
    attributes: Vec<KeyValue>,
}

#[derive(Serialize)]
struct ScopeMetrics {
    scope: Scope,
    metrics: Vec<OtlpMetric>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: String,
}

#[derive(Serialize)]
struct OtlpMetric {
    name: &'static str,
    description: &'static str,
    unit: &'static str,
    gauge: OtlpGauge,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtlpGauge {
    data_points: Vec<DataPoint>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DataPoint {
    attributes: Vec<KeyValue>,
    start_time_unix_nano: String,
    time_unix_nano: String,
    as_double: f64,
}

#[derive(Serialize)]
struct KeyValue {
    key: String,
    value: AnyValue,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AnyValue {
    string_value: String,
}

/// When a run began and ended, in nanoseconds since 1970, as the form writes them.
struct RunTime {
    begin: String,
    end: String,
}

/// One request with every figure and every ratio that may be used. The run began `started_unix_ns` after 1970. Its points
/// have the time of its end, so that a run that is sent twice gives the same points.
///
/// # Errors
/// A number that JSON does not have, which no summary holds.
pub fn render(summary: &Summary, started_unix_ns: u64) -> Result<String, ReportError> {
    let gauges = RunGauges::of(summary);
    let ended_unix_ns = started_unix_ns.saturating_add((summary.run.duration_s * 1e9) as u64);
    let time = RunTime { begin: started_unix_ns.to_string(), end: ended_unix_ns.to_string() };
    let version = summary.run.tare_version.clone();
    let service = [("service.name", "tare".to_owned()), ("service.version", version.clone())].map(key_value);
    let run = gauges.run.into_iter().map(|(name, value)| match name {
        // By the name that OpenTelemetry's conventions have for it.
        "git_revision" => key_value(("vcs.ref.head.revision", value)),
        "tare_version" => key_value(("tare.version", value)),
        name => key_value((&format!("tare.run.{name}"), value)),
    });
    let resource = Resource { attributes: service.into_iter().chain(run).collect() };
    let metrics = gauges.families.into_iter().map(|family| metric(family, &time)).collect();
    let scope_metrics = [ScopeMetrics { scope: Scope { name: "tare", version }, metrics }];
    json::render(&ExportRequest { resource_metrics: [ResourceMetrics { resource, scope_metrics }] })
}

fn metric(family: GaugeFamily, time: &RunTime) -> OtlpMetric {
    let point = |(labels, value): (Labels, f64)| DataPoint {
        attributes: labels.into_iter().map(key_value).collect(),
        start_time_unix_nano: time.begin.clone(),
        time_unix_nano: time.end.clone(),
        as_double: value,
    };
    let data_points = family.samples.into_iter().map(point).collect();
    OtlpMetric { name: family.name, description: family.help, unit: family.unit, gauge: OtlpGauge { data_points } }
}

fn key_value((key, value): (&str, String)) -> KeyValue {
    KeyValue { key: key.to_owned(), value: AnyValue { string_value: value } }
}
