//! CSV of a load: a row for the whole, one for each URL and each status, then one for each interval (columns:
//! docs/LOAD.md).

use crate::clean;
use crate::csv::{line, maybe};
use tare_analysis::load::{Interval, LoadSummary};
use tare_analysis::summary::{StatusCount, UrlSummary};

const COLUMNS: &str = "part from_s window_s ok failed throughput_per_s response_p50_ns response_p99_ns response_max_ns \
    in_bytes out_bytes generator_cpu_share verdict name";

/// `part` says what a row is about: `whole`, `url`, `status` or `interval`.
pub fn csv(summary: &LoadSummary) -> String {
    let head = line(COLUMNS.split(' ').map(str::to_owned));
    let urls = summary.urls.iter().map(url);
    let statuses = summary.statuses.iter().map(status);
    let intervals = summary.intervals.iter().map(interval);
    head + &whole(summary) + &urls.chain(statuses).chain(intervals).collect::<String>()
}

/// A row with these values. Columns that it does not name are empty.
fn row(part: &str, values: &[(&str, String)]) -> String {
    let value = |column: &str| values.iter().find(|(name, _)| *name == column).map(|(_, value)| value.clone());
    line(COLUMNS.split(' ').map(|column| if column == "part" { part.to_owned() } else { maybe(value(column)) }))
}

fn whole(summary: &LoadSummary) -> String {
    let response = &summary.response;
    let values = [
        ("from_s", "0".to_owned()),
        ("window_s", summary.window_s.to_string()),
        ("ok", summary.requests.ok.to_string()),
        ("failed", summary.requests.failed.to_string()),
        ("throughput_per_s", summary.throughput_per_s.to_string()),
        ("response_p50_ns", maybe(response.percentile_ns(50.0))),
        ("response_p99_ns", maybe(response.percentile_ns(99.0))),
        ("response_max_ns", maybe(response.max_ns)),
        ("in_bytes", summary.bytes.in_bytes.to_string()),
        ("out_bytes", summary.bytes.out_bytes.to_string()),
        ("generator_cpu_share", maybe(summary.generator.cpu_share)),
        ("verdict", summary.verdict.state.name().to_owned()),
    ];
    row("whole", &values)
}

fn url(url: &UrlSummary) -> String {
    let values = [
        ("ok", url.ok.to_string()),
        ("failed", url.failed.to_string()),
        ("throughput_per_s", url.throughput_per_s.to_string()),
        ("response_p50_ns", maybe(url.p50_ns)),
        ("response_p99_ns", maybe(url.p99_ns)),
        ("response_max_ns", maybe(url.max_ns)),
        ("name", clean::escape_csv(&clean::sanitize_line(&url.url))),
    ];
    row("url", &values)
}

fn status(one: &StatusCount) -> String {
    let ok = one.count - one.failed;
    row("status", &[("ok", ok.to_string()), ("failed", one.failed.to_string()), ("name", one.status.to_string())])
}

fn interval(interval: &Interval) -> String {
    let values = [
        ("from_s", interval.from_s.to_string()),
        ("window_s", interval.window_s.to_string()),
        ("ok", interval.ok.to_string()),
        ("failed", interval.failed.to_string()),
        ("throughput_per_s", maybe(interval.throughput_per_s)),
        ("response_p50_ns", maybe(interval.p50_ns)),
        ("response_p99_ns", maybe(interval.p99_ns)),
        ("response_max_ns", maybe(interval.max_ns)),
        ("in_bytes", interval.in_bytes.to_string()),
        ("out_bytes", interval.out_bytes.to_string()),
        ("generator_cpu_share", maybe(interval.generator_cpu_share)),
    ];
    row("interval", &values)
}
