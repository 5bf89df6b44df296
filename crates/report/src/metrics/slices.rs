//! Metrics of one slice: raw, as recorded.

use tare_record::{ErrorTallies, StoredSlice};

use super::{Metric, maybe, slice, word};
use crate::clean::escape_csv;

const LOAD: &str = "generator";
const PROC: &str = "/proc/PID/task/*/schedstat, by name of thread";

pub(super) const METRICS: &[Metric] = &[
    slice("fork", "count", "1-based start", "order of the run", |s| s.key.fork.to_string()),
    slice("group", "text", "group", "plan", |s| escape_csv(&s.key.group)),
    slice("scenario", "text", "scenario", "plan", |s| escape_csv(&s.key.scenario)),
    slice("variant", "text", "variant", "plan", |s| escape_csv(&s.key.variant)),
    slice("phase", "text", "`warmup`, `measure` or `profile`", "order of the run", |s| word(&s.key.phase)),
    slice("slice_kind", "text", "`saturating`, `fixed`, `poisson`, `push` or `capacity`", "plan", |s| {
        s.key.kind.name().to_owned()
    }),
    slice("round", "count", "0-based; slices of one round are paired", "order of the run", |s| s.key.round.to_string()),
    slice("start_ns", "ns", "begin of the scored window since the run began", "monotonic clock", |s| {
        s.load.window_start_ns().to_string()
    }),
    slice("window_ns", "ns", "length of the scored window", "monotonic clock", |s| s.load.window_ns.to_string()),
    slice("users", "count", "closed users, or connections of an open load", "plan", |s| s.key.users.to_string()),
    slice("offered_per_s", "1/s", "offered rate of an open load", "plan", |s| maybe(s.key.offered_per_s)),
    slice("completed", "count", "right answers that arrived in the window", LOAD, |s| s.load.completed.to_string()),
    slice("ok", "count", "right answers in all, drained ones included", LOAD, |s| s.load.ok.to_string()),
    slice("failed", "count", "failed requests", LOAD, |s| s.load.failed.to_string()),
    slice("errors", "text", "failures by class: `timeout=3`", LOAD, |s| escape_csv(&by_class(&s.load.errors))),
    slice("connection_events", "text", "what belongs to no request, by class: `connect=3`", LOAD, |s| {
        escape_csv(&by_class(&s.load.connection_events))
    }),
    slice("bytes_in", "B", "bytes received", LOAD, |s| s.load.bytes_in.to_string()),
    slice("bytes_out", "B", "bytes sent", LOAD, |s| s.load.bytes_out.to_string()),
    slice("response_p50_ns", "ns", "median response time of the slice", LOAD, median),
    slice("response_max_ns", "ns", "largest response time of the slice", LOAD, |s| {
        maybe(s.load.response.unpack().max_ns())
    }),
    slice("blocked", "count", "requests that waited for a free connection", LOAD, |s| s.load.blocked.to_string()),
    slice("blocked_ns", "ns", "how long they waited in all", LOAD, |s| s.load.blocked_ns.to_string()),
    slice("connections_opened", "count", "connections opened during the slice", LOAD, |s| {
        s.load.connections_opened.to_string()
    }),
    slice("connections_lost", "count", "connections lost during the slice", LOAD, |s| {
        s.load.connections_lost.to_string()
    }),
    slice("tls_handshakes", "count", "TLS handshakes that succeeded", LOAD, |s| s.load.tls_handshakes.to_string()),
    slice("tls_resumed", "count", "of these, resumed an earlier session", LOAD, |s| s.load.tls_resumed.to_string()),
    slice("generator_cpu_ns", "ns", "CPU of the generator's workers in the window", "thread clock", |s| {
        s.load.generator_cpu_ns.to_string()
    }),
    slice("others_share", "share", "of the cores of both sides, used by others", "/proc/stat, process clocks", |s| {
        maybe(s.server.others_share)
    }),
    slice("generator_spin_ns", "ns", "CPU beside it that went into staying awake", "thread clock", |s| {
        s.load.generator_spin_ns.to_string()
    }),
    slice("stamp_lag_p50_ns", "ns", "how late answers may have been stamped, at most: median", LOAD, |s| {
        stamped(s, 0.5)
    }),
    slice("stamp_lag_p99_ns", "ns", "the same, 99th percentile", LOAD, |s| stamped(s, 0.99)),
    slice("generator_workers", "count", "workers of the generator, one per core", "plan", |s| {
        s.load.workers.to_string()
    }),
    slice("server_cpu_ns", "ns", "CPU of the server over window and drain", PROC, |s| {
        maybe(s.server.cpu.as_ref().map(|c| c.total_ns))
    }),
    slice("server_cpu_wall_ns", "ns", "wall time between the two readings", PROC, |s| {
        maybe(s.server.cpu.as_ref().map(|c| c.wall_ns))
    }),
    slice("server_cpu_requests", "count", "requests answered between the two readings", PROC, |s| {
        maybe(s.server.cpu.as_ref().map(|c| c.requests))
    }),
    slice("server_jit_cpu_ns", "ns", "of the server's CPU, JIT threads", PROC, |s| of_threads(s, "jit")),
    slice("server_gc_cpu_ns", "ns", "of the server's CPU, GC threads", PROC, |s| of_threads(s, "gc")),
    slice("rss_bytes", "B", "resident memory at the end of the slice", "/proc/PID", |s| maybe(s.server.rss_bytes)),
    slice("rss_peak_bytes", "B", "peak resident memory so far", "/proc/PID", |s| maybe(s.server.rss_peak_bytes)),
];

fn by_class(tallies: &ErrorTallies) -> String {
    let classes: Vec<String> = tallies.iter().map(|(class, e)| format!("{class}={}", e.count)).collect();
    classes.join(" ")
}

fn median(slice: &StoredSlice) -> String {
    maybe(slice.load.response.unpack().value_at_quantile_ns(0.5))
}

fn stamped(slice: &StoredSlice, quantile: f64) -> String {
    maybe(slice.load.stamp_lag.unpack().value_at_quantile_ns(quantile))
}

pub(super) fn of_threads(slice: &StoredSlice, kind: &str) -> String {
    maybe(slice.server.cpu.as_ref().and_then(|c| c.by_kind.get(kind).copied()))
}
