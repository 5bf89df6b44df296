//! How the response times of windows of latency divide: what the server's own stops explain, and what machine and generator do.

use tare_plan::plan::SliceKind;
use tare_record::{LatencyParts, PackedHistogram, StoredSlice};

use crate::cell::latency::merged::merged;
use crate::evidence::Evidence;
use crate::format::{Unit, share, single};
use crate::summary::{Distribution, LatencyDivision};

/// The percentile that the text is about.
const PERCENTILE: f64 = 99.0;

/// The division of the latencies under one load; `None` where the stops of a slice are not known. `response` is the whole.
pub(super) fn divide(
    cell: &Evidence<'_>,
    kind: SliceKind,
    response: &Distribution,
    alpha: f64,
) -> Option<LatencyDivision> {
    if !cell.of_kind(kind).filter(|slice| slice.load.ok > 0).all(|slice| slice.server.parts.is_some()) {
        return None;
    }
    let count = |part: fn(&StoredSlice) -> Option<&PackedHistogram>| merged(cell, kind, part).all.len();
    let stopped = count(|slice| Some(&parts(slice)?.met_stop));
    let stalled = count(|slice| Some(&parts(slice)?.met_stall));
    let met_none = merged(cell, kind, |slice| Some(&parts(slice)?.met_none));
    let all = stopped + stalled + met_none.all.len();
    if all == 0 {
        return None;
    }
    let of_all = |part: u64| part as f64 / all as f64;
    let (stopped_ns_per_request, stopped_time_share) = stopped_time(cell.measured()).unzip();
    let division = LatencyDivision {
        met_stop_share: of_all(stopped),
        met_stall_share: of_all(stalled),
        // The page has no picture of it, and a curve takes the most room of a summary.
        met_none: Distribution { curve: Vec::new(), ..met_none.distribution(alpha) },
        stopped_ns_per_request,
        stopped_time_share,
        p99_is_at_cliff: is_at_cliff(of_all(stopped)),
        text: String::new(),
    };
    Some(LatencyDivision { text: in_words(&division, response)?, ..division })
}

fn parts(slice: &StoredSlice) -> Option<&LatencyParts<PackedHistogram>> {
    slice.server.parts.as_ref()
}

/// Whether about as many requests meet a stop as are slower than p99. Then some more of them or some less put p99 among those
/// that met a stop, or among the others.
fn is_at_cliff(met_stop_share: f64) -> bool {
    let slower = 1.0 - PERCENTILE / 100.0;
    (slower / 2.0..=slower * 2.0).contains(&met_stop_share)
}

/// How long the server stood still for each request, and as a share of the time: over all scored slices, from the counters of
/// its runtime. A JVM counts all its stops, other runtimes their collections.
fn stopped_time<'s>(slices: impl Iterator<Item = &'s StoredSlice>) -> Option<(f64, f64)> {
    let (mut stopped_ns, mut wall_ns, mut requests) = (0, 0, 0);
    for slice in slices {
        let (Some(runtime), Some(cpu)) = (&slice.server.runtime, &slice.server.cpu) else { continue };
        stopped_ns += runtime.safepoint_ns.or(runtime.collecting_ns)?;
        wall_ns += cpu.wall_ns;
        requests += runtime.requests;
    }
    (wall_ns > 0 && requests > 0).then(|| (stopped_ns as f64 / requests as f64, stopped_ns as f64 / wall_ns as f64))
}

/// `p99 is 4.1 ms: 0.6 % of the requests met a stop of the server, 0.02 % a stall of the machine or of the generator; without
/// these, p99 is 0.31 ms`.
fn in_words(division: &LatencyDivision, response: &Distribution) -> Option<String> {
    let p99 = |of: &Distribution| of.percentile_ns(PERCENTILE).map(|ns| single(Unit::Nanos, ns as f64));
    let LatencyDivision { met_stop_share, met_stall_share, met_none, stopped_ns_per_request, .. } = division;
    let without = match p99(met_none) {
        Some(without) => format!("without these, p99 is {without}"),
        None => "the others are too few for a p99".to_owned(),
    };
    let stopped = stopped_ns_per_request.zip(division.stopped_time_share);
    let stopped = stopped.map_or(String::new(), |(ns, of_time)| {
        format!("; it stood still for {} of the time, {} per request", share(of_time), single(Unit::Nanos, ns))
    });
    let cliff = if division.p99_is_at_cliff {
        "; p99 stands where requests that met a stop begin, so it differs by chance from start to start"
    } else {
        ""
    };
    Some(format!(
        "p99 is {}: {} of the requests met a stop of the server, {} a stall of the machine or of the generator; \
         {without}{stopped}{cliff}",
        p99(response)?,
        share(*met_stop_share),
        share(*met_stall_share)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p99_is_at_a_cliff_where_about_one_request_in_a_hundred_meets_a_stop() {
        for (share, expected) in [(0.0, false), (0.004, false), (0.006, true), (0.02, true), (0.021, false)] {
            assert_eq!(is_at_cliff(share), expected, "{share}");
        }
    }
}
