//! Metrics of a comparison: ratios of a variant to its baseline.

use super::{Metric, cell, maybe, word};

const RATIO: &str = "variant / baseline, geometric mean over forks of the trimmed mean over paired slices";
const FORKS: &str = "variant / baseline per fork, geometric mean over forks";
const INTERVAL: &str = "confidence sequence, or Student's t with a fixed number of forks";

pub(super) const METRICS: &[Metric] = &[
    cell(
        "verdict",
        "text",
        "what the deciding currency says: `worse`, `better`, `no_material_difference`, …",
        "docs/METHOD.md",
        |r| maybe(r.comparison.and_then(|c| c.currencies.first()).map(|c| word(&c.verdict))),
    ),
    cell("material", "bool", "the interval excludes the region of equivalence too", "docs/METHOD.md", |r| {
        maybe(r.comparison.and_then(|c| c.currencies.first()).map(|c| c.material))
    }),
    cell("needed_s", "s", "how much longer an inconclusive comparison would take, about", "forecast", |r| {
        maybe(r.comparison.and_then(|c| c.currencies.first()).and_then(|c| c.needed_s))
    }),
    cell("capacity_ratio", "1", "capacity relative to the baseline", FORKS, |r| {
        maybe(r.currency("capacity").map(|c| c.ratio))
    }),
    cell("throughput_ratio", "1", "throughput relative to the baseline", RATIO, |r| {
        maybe(r.currency("throughput").map(|c| c.ratio))
    }),
    cell("throughput_ratio_lo", "1", "lower end of its interval", INTERVAL, |r| {
        maybe(r.currency("throughput").and_then(|c| c.lo))
    }),
    cell("throughput_ratio_hi", "1", "upper end of its interval", INTERVAL, |r| {
        maybe(r.currency("throughput").and_then(|c| c.hi))
    }),
    cell("cpu_per_request_ratio", "1", "CPU per request relative to the baseline", RATIO, |r| {
        maybe(r.currency("cpu_per_request").map(|c| c.ratio))
    }),
    cell("cpu_per_request_ratio_lo", "1", "lower end of its interval", INTERVAL, |r| {
        maybe(r.currency("cpu_per_request").and_then(|c| c.lo))
    }),
    cell("cpu_per_request_ratio_hi", "1", "upper end of its interval", INTERVAL, |r| {
        maybe(r.currency("cpu_per_request").and_then(|c| c.hi))
    }),
    cell("allocated_per_request_ratio", "1", "bytes allocated per request relative to the baseline", FORKS, |r| {
        maybe(r.currency("allocated_per_request").map(|c| c.ratio))
    }),
    cell("allocated_per_request_ratio_lo", "1", "lower end of its interval", INTERVAL, |r| {
        maybe(r.currency("allocated_per_request").and_then(|c| c.lo))
    }),
    cell("allocated_per_request_ratio_hi", "1", "upper end of its interval", INTERVAL, |r| {
        maybe(r.currency("allocated_per_request").and_then(|c| c.hi))
    }),
    cell("latency_p50_ratio", "1", "median response time relative to the baseline", FORKS, |r| {
        maybe(r.currency("latency_p50").map(|c| c.ratio))
    }),
    cell("latency_p50_ratio_lo", "1", "lower end of its interval", INTERVAL, |r| {
        maybe(r.currency("latency_p50").and_then(|c| c.lo))
    }),
    cell("latency_p50_ratio_hi", "1", "upper end of its interval", INTERVAL, |r| {
        maybe(r.currency("latency_p50").and_then(|c| c.hi))
    }),
    cell("latency_p99_ratio", "1", "p99 of response time relative to the baseline", FORKS, |r| {
        maybe(r.currency("latency_p99").map(|c| c.ratio))
    }),
    cell("latency_p99_ratio_lo", "1", "lower end of its interval", INTERVAL, |r| {
        maybe(r.currency("latency_p99").and_then(|c| c.lo))
    }),
    cell("latency_p99_ratio_hi", "1", "upper end of its interval", INTERVAL, |r| {
        maybe(r.currency("latency_p99").and_then(|c| c.hi))
    }),
];
