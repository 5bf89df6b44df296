//! Metrics of one cell: a variant under one scenario.

use super::{CellRow, Metric, cell, maybe, word};
use crate::clean::escape_csv;
use tare_analysis::Currency;
use tare_analysis::summary::{Distribution, ErrorCount, Latency};

const PLAN: &str = "plan";
const FORKS: &str = "mean over forks; interval: Student's t";
const RESPONSE: &str = "histograms of all forks merged, from the intended start";
const SERVICE: &str = "histograms of all forks merged, from the actual send";

pub(super) const METRICS: &[Metric] = &[
    cell("group", "text", "variants compared with one another", PLAN, |r| escape_csv(&r.cell.group)),
    cell("scenario", "text", "what is asked", PLAN, |r| escape_csv(&r.cell.scenario)),
    cell("variant", "text", "server × version × options", PLAN, |r| escape_csv(&r.cell.variant)),
    cell("server", "text", "server without version", PLAN, |r| escape_csv(&r.cell.server)),
    cell("family", "text", "family of the server", PLAN, |r| escape_csv(&r.cell.family)),
    cell("kind", "text", "`vanilla`, `tapir`, …", PLAN, |r| escape_csv(&r.cell.kind)),
    cell("version", "text", "library version asked for", PLAN, |r| escape_csv(&maybe(r.cell.version.as_ref()))),
    cell("baseline", "bool", "the variant with which the others of its group are compared", PLAN, |r| {
        r.cell.baseline.to_string()
    }),
    cell("control", "bool", "second start of the baseline (A/A)", PLAN, |r| r.cell.control.to_string()),
    cell("forks", "count", "starts that contributed", "scored slices", |r| r.cell.forks.to_string()),
    cell("steady_forks", "count", "of these, steady when measuring began", "warm-up", |r| {
        r.cell.steady_forks.to_string()
    }),
    cell("validity", "text", "`valid`, `suspect`, `void`", "docs/METHOD.md", |r| word(&r.cell.validity.state)),
    cell("throughput_validity", "text", "the same for throughput alone", "docs/METHOD.md", |r| {
        word(&r.cell.validity.state_in(Currency::Throughput))
    }),
    cell("cpu_validity", "text", "the same for CPU per request alone", "docs/METHOD.md", |r| {
        word(&r.cell.validity.state_in(Currency::CpuPerRequest))
    }),
    cell("latency_validity", "text", "the same for latency alone", "docs/METHOD.md", |r| {
        word(&r.cell.validity.state_in(Currency::LatencyP99))
    }),
    cell("validity_reasons", "text", "what speaks against figures of the cell", "docs/METHOD.md", |r| {
        escape_csv(&r.cell.validity.joined_reasons())
    }),
    cell("bottleneck", "text", "side that used ≥ 90 % of its cores in saturating slices", "CPU of both", |r| {
        word(&r.cell.bottleneck)
    }),
    cell("throughput_per_s", "1/s", "right answers per second, saturating", FORKS, |r| {
        maybe(r.cell.throughput_per_s.map(|e| e.value))
    }),
    cell("throughput_per_s_lo", "1/s", "lower end of its interval", FORKS, |r| {
        maybe(r.cell.throughput_per_s.and_then(|e| e.lo))
    }),
    cell("throughput_per_s_hi", "1/s", "upper end of its interval", FORKS, |r| {
        maybe(r.cell.throughput_per_s.and_then(|e| e.hi))
    }),
    cell("capacity", "as `capacity_by`", "largest load that keeps `capacity_curve`", FORKS, |r| {
        maybe(r.cell.capacity.as_ref().map(|c| c.load.value))
    }),
    cell("capacity_lo", "as `capacity_by`", "lower end of its interval", FORKS, |r| {
        maybe(r.cell.capacity.as_ref().and_then(|c| c.load.lo))
    }),
    cell("capacity_hi", "as `capacity_by`", "upper end of its interval", FORKS, |r| {
        maybe(r.cell.capacity.as_ref().and_then(|c| c.load.hi))
    }),
    cell("capacity_by", "text", "`users`, or `rate` in requests per second", PLAN, |r| {
        escape_csv(&maybe(r.cell.capacity.as_ref().map(|c| c.by.name())))
    }),
    cell("capacity_curve", "text", "latencies that the load must keep", PLAN, |r| {
        escape_csv(&maybe(r.cell.capacity.as_ref().map(|c| &c.curve)))
    }),
    cell(
        "cpu_ns_per_request",
        "ns",
        "CPU of the server per request at `cpu_load`, without its JIT compilers",
        FORKS,
        |r| maybe(r.cell.cpu_ns_per_request.map(|e| e.value)),
    ),
    cell("cpu_ns_per_request_lo", "ns", "lower end of its interval", FORKS, |r| {
        maybe(r.cell.cpu_ns_per_request.and_then(|e| e.lo))
    }),
    cell("cpu_ns_per_request_hi", "ns", "upper end of its interval", FORKS, |r| {
        maybe(r.cell.cpu_ns_per_request.and_then(|e| e.hi))
    }),
    cell("allocated_bytes_per_request", "B", "bytes that the runtime allocated per request", FORKS, |r| {
        maybe(r.cell.allocated_bytes_per_request.map(|e| e.value))
    }),
    cell("allocated_bytes_per_request_lo", "B", "lower end of its interval", FORKS, |r| {
        maybe(r.cell.allocated_bytes_per_request.and_then(|e| e.lo))
    }),
    cell("allocated_bytes_per_request_hi", "B", "upper end of its interval", FORKS, |r| {
        maybe(r.cell.allocated_bytes_per_request.and_then(|e| e.hi))
    }),
    cell("gc_pause_share", "1", "share of time in stop-the-world collections of the runtime", "scored slices", |r| {
        maybe(r.cell.gc_pause_share)
    }),
    cell("gc_pauses", "count", "stop-the-world collections of the runtime", "scored slices", |r| {
        maybe(r.cell.gc_pauses)
    }),
    cell(
        "heap_used_peak_bytes",
        "B",
        "largest heap in use of the runtime, garbage included",
        "ends of scored slices",
        |r| maybe(r.cell.heap_used_peak_bytes),
    ),
    cell("cpu_load", "text", "load at which CPU per request was taken", "slices", |r| escape_csv(&r.cell.cpu_load)),
    cell("rss_bytes", "B", "resident memory at the end of a fork", "/proc/PID; mean over forks", |r| {
        maybe(r.cell.rss_bytes.map(|e| e.value))
    }),
    cell("rss_peak_bytes", "B", "largest resident memory of any fork", "/proc/PID", |r| maybe(r.cell.rss_peak_bytes)),
    cell("generator_cpu_share", "1", "CPU of the generator as a share of its cores", "scored slices", |r| {
        maybe(r.cell.generator_cpu_share)
    }),
    cell("requests_ok", "count", "requests answered rightly", "scored slices", |r| r.cell.requests_ok.to_string()),
    cell("requests_failed", "count", "requests that failed, all classes", "scored slices", |r| {
        r.cell.requests_failed.to_string()
    }),
    cell("errors", "text", "failures by class: `timeout=3`", "scored slices", |r| {
        escape_csv(&by_class(&r.cell.errors))
    }),
    cell("connection_events", "text", "what belongs to no request, by class: `connect=3`", "scored slices", |r| {
        escape_csv(&by_class(&r.cell.connection_events))
    }),
    cell("bytes_in", "B", "bytes received", "scored slices", |r| r.cell.bytes_in.to_string()),
    cell("bytes_out", "B", "bytes sent", "scored slices", |r| r.cell.bytes_out.to_string()),
    cell("latency_model", "text", "load under which the latencies of this row were taken", "slices", |r| {
        escape_csv(&maybe(r.cell.shown_latency().map(|l| l.model.clone())))
    }),
    cell("response_count", "count", "samples of response time", RESPONSE, |r| maybe(response(r).map(|d| d.count))),
    cell("response_min_ns", "ns", "smallest response time", RESPONSE, |r| maybe(response(r).and_then(|d| d.min_ns))),
    cell("response_mean_ns", "ns", "mean response time", RESPONSE, |r| maybe(response(r).and_then(|d| d.mean_ns))),
    cell("response_stdev_ns", "ns", "standard deviation of response time", RESPONSE, |r| {
        maybe(response(r).and_then(|d| d.stdev_ns))
    }),
    cell("response_max_ns", "ns", "largest response time", RESPONSE, |r| maybe(response(r).and_then(|d| d.max_ns))),
    cell("response_p50_ns", "ns", "50th percentile of response time", RESPONSE, |r| percentile(response(r), 50.0)),
    cell("response_p75_ns", "ns", "75th percentile of response time", RESPONSE, |r| percentile(response(r), 75.0)),
    cell("response_p90_ns", "ns", "90th percentile of response time", RESPONSE, |r| percentile(response(r), 90.0)),
    cell("response_p95_ns", "ns", "95th percentile of response time", RESPONSE, |r| percentile(response(r), 95.0)),
    cell("response_p99_ns", "ns", "99th percentile of response time", RESPONSE, |r| percentile(response(r), 99.0)),
    cell("response_p99_9_ns", "ns", "99.9th percentile of response time", RESPONSE, |r| percentile(response(r), 99.9)),
    cell("response_p99_99_ns", "ns", "99.99th percentile of response time", RESPONSE, |r| {
        percentile(response(r), 99.99)
    }),
    cell("service_p50_ns", "ns", "50th percentile of service time", SERVICE, |r| percentile(service(r), 50.0)),
    cell("service_p99_ns", "ns", "99th percentile of service time", SERVICE, |r| percentile(service(r), 99.0)),
    cell("send_lag_p99_ns", "ns", "99th percentile of actual minus intended start, open loads", "generator", |r| {
        percentile(latency(r).and_then(|l| l.send_lag.as_ref()), 99.0)
    }),
];

fn by_class(counts: &[ErrorCount]) -> String {
    let classes: Vec<String> = counts.iter().map(|e| format!("{}={}", e.class, e.count)).collect();
    classes.join(" ")
}

fn latency<'a>(row: &CellRow<'a>) -> Option<&'a Latency> {
    row.cell.shown_latency()
}

fn response<'a>(row: &CellRow<'a>) -> Option<&'a Distribution> {
    latency(row).map(|l| &l.response)
}

fn service<'a>(row: &CellRow<'a>) -> Option<&'a Distribution> {
    latency(row).map(|l| &l.service)
}

/// Empty where too few samples lie above it.
pub(super) fn percentile(distribution: Option<&Distribution>, percentile: f64) -> String {
    maybe(distribution.and_then(|d| d.percentile_ns(percentile)))
}
