//! CSV of a load: one row for the whole, then one per interval (columns: docs/LOAD.md).

use crate::csv::line;
use tare_analysis::load::LoadSummary;

const COLUMNS: [&str; 13] = [
    "part",
    "from_s",
    "window_s",
    "ok",
    "failed",
    "throughput_per_s",
    "response_p50_ns",
    "response_p99_ns",
    "response_max_ns",
    "in_bytes",
    "out_bytes",
    "generator_cpu_share",
    "verdict",
];

/// The row of the whole begins with `whole`, those of intervals with `interval`.
pub fn csv(summary: &LoadSummary) -> String {
    let rows = summary.intervals.iter().map(|i| {
        let figures = [
            i.from_s.to_string(),
            i.window_s.to_string(),
            i.ok.to_string(),
            i.failed.to_string(),
            text(i.throughput_per_s),
            text(i.p50_ns),
            text(i.p99_ns),
            text(i.max_ns),
            i.in_bytes.to_string(),
            i.out_bytes.to_string(),
            text(i.generator_cpu_share),
        ];
        line([&["interval".to_owned()], &figures[..], &[String::new()]].concat().into_iter())
    });
    let head = line(COLUMNS.iter().map(|name| (*name).to_owned()));
    head + &whole(summary) + &rows.collect::<String>()
}

fn whole(summary: &LoadSummary) -> String {
    let response = &summary.response;
    let fields: [String; COLUMNS.len()] = [
        "whole".to_owned(),
        "0".to_owned(),
        summary.window_s.to_string(),
        summary.requests.ok.to_string(),
        summary.requests.failed.to_string(),
        summary.throughput_per_s.to_string(),
        text(response.percentile_ns(50.0)),
        text(response.percentile_ns(99.0)),
        text(response.max_ns),
        summary.bytes.in_bytes.to_string(),
        summary.bytes.out_bytes.to_string(),
        text(summary.generator.cpu_share),
        summary.verdict.state.name().to_owned(),
    ];
    line(fields.into_iter())
}

/// Empty if the value is not known.
fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
