//! How the response times of windows of latency divide: what the server's own stops explain, and what machine and generator do.

use tare_plan::plan::SliceKind;

use crate::cell::latency::merged::merged;
use crate::evidence::Evidence;
use crate::summary::{Distribution, LatencyDivision, SlowerPart, StartLatency};
use tare_stats::histogram::LatencyHistogram;
use tare_stats::quantile::printable;

/// With the percentiles of each fork without stops and stalls; `None` where the stops of a slice are not known.
pub(super) fn divide(cell: &Evidence<'_>, kind: SliceKind, alpha: f64) -> Option<(LatencyDivision, Vec<StartLatency>)> {
    if !cell.of_kind(kind).filter(|slice| slice.load.ok > 0).all(|slice| slice.server.parts.is_some()) {
        return None;
    }
    let met_stop = merged(cell, kind, |slice| Some(&slice.server.parts.as_ref()?.met_stop)).all;
    let met_stall = merged(cell, kind, |slice| Some(&slice.server.parts.as_ref()?.met_stall)).all;
    let met_none = merged(cell, kind, |slice| Some(&slice.server.parts.as_ref()?.met_none));
    let all = met_stop.len() + met_stall.len() + met_none.all.len();
    if all == 0 {
        return None;
    }
    let of_all = |part: &LatencyHistogram| part.len() as f64 / all as f64;
    let division = LatencyDivision {
        met_stop_share: of_all(&met_stop),
        met_stall_share: of_all(&met_stall),
        slower: slower([&met_stop, &met_stall, &met_none.all]),
        // A curve takes the most room of a summary, and no report draws this one.
        met_none: Distribution { curve: Vec::new(), ..met_none.distribution(alpha) },
        p99_is_at_cliff: false,
        stops_are_seen: cell.of_kind(kind).any(|slice| slice.server.stops_are_seen),
    };
    let p99_is_at_cliff = division.is_at_cliff(99.0);
    // What is found in the answers themselves is no ground for a comparison.
    let starts = if division.stops_are_seen { Vec::new() } else { met_none.starts };
    Some((LatencyDivision { p99_is_at_cliff, ..division }, starts))
}

/// What those requests met that are slower than each percentile, in steps of a quarter of a nine, as far as ten are slower.
fn slower(parts: [&LatencyHistogram; 3]) -> Vec<SlowerPart> {
    let mut whole = LatencyHistogram::new();
    parts.into_iter().for_each(|part| whole.merge(part));
    let at = |step: u32| {
        let quantile = 1.0 - 10_f64.powf(f64::from(step) / -4.0);
        // The last bits are rounding errors, and would fill the JSON.
        let rounded = |value: f64, digits: f64| (value * digits).round() / digits;
        let percentile = rounded(quantile * 100.0, 1e9);
        let value_ns = whole.value_at_quantile_ns(quantile).filter(|_| printable(whole.len(), percentile))?;
        let above = parts.map(|part| if step == 0 { part.len() } else { part.count_above_ns(value_ns) });
        let all = above.into_iter().sum::<u64>().max(1) as f64;
        let [met_stop_share, met_stall_share, _] = above.map(|count| rounded(count as f64 / all, 1e4));
        Some(SlowerPart { percentile, met_stop_share, met_stall_share })
    };
    (0..).map_while(at).collect()
}
