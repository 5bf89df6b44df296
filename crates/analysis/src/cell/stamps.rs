//! Were answers stamped when they arrived? The generator knows how late it woke up, and how long it did other work.

use tare_plan::plan::SliceKind;
use tare_stats::histogram::LatencyHistogram;

use crate::cell::latency::LoadLatency;
use crate::evidence::Evidence;
use crate::format::{self, share};

/// Percentiles of the stamp lag and what each may be in nanoseconds, or, if that is more, as a share of the same percentile
/// of the latency. Both servers have the same generator, and the p99 of starts differs by far more than a twentieth.
const LIMITS: [(f64, u64, f64); 2] = [(50.0, 3_000, 0.02), (99.0, 15_000, 0.05)];

/// Why the latencies of an open load are suspect: their answers were stamped too late.
pub(crate) fn late(cell: &Evidence<'_>, loads: &[LoadLatency]) -> Option<String> {
    loads.iter().filter(|load| load.kind != SliceKind::Saturating).find_map(|load| {
        let mut lag = LatencyHistogram::new();
        cell.of_kind(load.kind).for_each(|slice| slice.load.stamp_lag.merge_into(&mut lag));
        LIMITS.into_iter().find_map(|(percentile, limit_ns, limit_share)| {
            let lag_ns = lag.value_at_quantile_ns(percentile / 100.0)?;
            let latency_ns = load.latency.response.percentile_ns(percentile)?;
            let limit_ns = limit_ns.max((latency_ns as f64 * limit_share) as u64);
            (lag_ns > limit_ns).then(|| words(load.kind, percentile, lag_ns, latency_ns))
        })
    })
}

fn words(kind: SliceKind, percentile: f64, lag_ns: u64, latency_ns: u64) -> String {
    let lag = format::single(format::Unit::Nanos, lag_ns as f64);
    let part = share((lag_ns as f64 / latency_ns as f64).min(1.0));
    format!(
        "the generator may have read answers late: by up to {lag} at p{percentile} under {}, {part} of the response time",
        kind.load_name()
    )
}
