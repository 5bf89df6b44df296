//! Ratios of the figures of response times: percentiles, percentiles without stops, and shares of requests.

use tare_plan::plan::{Rate, SliceKind};
use tare_plan::{Currency, LatencyFigure};
use tare_record::StoredSlice;
use tare_stats::ForkRatio;

use super::{MeasuredRatio, Sides, measure_ratio, ratios_of_single_pairs};
use crate::cell::{CellAnalysis, level};
use crate::format;
use crate::summary::Latency;

/// Fewer requests of a kind than this, on both sides of a start together, say nothing of its share.
const FEWEST_OF_SHARE: u64 = 10;

/// All figures of response times that both sides have under this load, and that this plan compares.
pub(super) fn latencies<'a>(
    sides: Sides<'a>,
    kind: SliceKind,
) -> impl Iterator<Item = Option<MeasuredRatio>> + use<'a> {
    let limits = &sides.plan.stop.limits;
    let is_limited = |currency: Currency| limits.iter().any(|limit| limit.currency == currency);
    let is_asked = move |currency: &&Currency| !currency.facts().by_limit_alone || is_limited(**currency);
    Currency::ALL.iter().filter(is_asked).map(move |currency| latency(sides, kind, *currency))
}

fn latency(sides: Sides<'_>, kind: SliceKind, currency: Currency) -> Option<MeasuredRatio> {
    let slower_than = sides.plan.stop.limits.iter().find_map(|limit| limit.slower_than);
    let measured_ratio = match currency.facts().latency? {
        LatencyFigure::Percentile(_) | LatencyFigure::WithoutStops(_) => percentile(sides, kind, currency),
        LatencyFigure::MetStopShare => share(sides, kind, currency, &|slice| {
            let parts = slice.server.parts.as_ref().filter(|_| !slice.server.stops_are_seen)?;
            let met_stop = parts.met_stop.samples();
            Some((met_stop, met_stop + parts.met_stall.samples() + parts.met_none.samples()))
        }),
        LatencyFigure::SlowerShare => {
            let limit_ns = slower_than?.0.as_nanos() as u64;
            share(sides, kind, currency, &|slice| {
                let response = slice.load.response.unpack();
                Some((response.count_above_ns(limit_ns), response.len()))
            })
        }
    }?;
    let label = match slower_than.filter(|_| currency == Currency::LatencySlower) {
        Some(limit) => format!("requests slower than {limit}"),
        None => measured_ratio.label,
    };
    Some(MeasuredRatio { label: format!("{label} {}", load_label(sides, kind)), ..measured_ratio })
}

/// A percentile of each fork that both sides can state.
fn percentile(sides: Sides<'_>, kind: SliceKind, currency: Currency) -> Option<MeasuredRatio> {
    let figure = currency.facts().latency?;
    let (mine, theirs) = (sides.variant.cell.latency_under(kind)?, sides.baseline.cell.latency_under(kind)?);
    let levels = (mine.level(figure)?.value, theirs.level(figure)?.value);
    let of_fork = |side: &Latency, fork: u32| {
        let (starts, percentile) = match figure {
            LatencyFigure::WithoutStops(percentile) => (&side.starts_without_stops, percentile),
            LatencyFigure::Percentile(percentile) => (&side.starts, percentile),
            _ => return None,
        };
        Some(starts.iter().find(|start| start.fork == fork)?.percentile_ns(percentile)? as f64)
    };
    let pair = |fork: u32| Some((of_fork(mine, fork)?, of_fork(theirs, fork)?));
    measure_ratio(sides, ratios_of_single_pairs(sides, pair), (currency, kind), levels)
}

/// The share of requests of one kind in each fork. `count` has those of a slice, and all of it. Each number has half a
/// request more, so that a fork without any counts too: to leave it out would select by results.
fn share(
    sides: Sides<'_>,
    kind: SliceKind,
    currency: Currency,
    count: &dyn Fn(&StoredSlice) -> Option<(u64, u64)>,
) -> Option<MeasuredRatio> {
    let of_fork = |side: &CellAnalysis<'_>, fork: u32| -> Option<(u64, u64)> {
        let slices = side.evidence.in_fork(kind, fork).filter(|slice| slice.load.ok > 0);
        let counts: Option<Vec<(u64, u64)>> = slices.map(count).collect();
        let sum = counts?.into_iter().fold((0, 0), |(part, all), (of_part, of_all)| (part + of_part, all + of_all));
        (sum.1 > 0).then_some(sum)
    };
    let pairs: Vec<(u32, [(u64, u64); 2])> = sides
        .forks
        .iter()
        .filter_map(|fork| Some((*fork, [of_fork(sides.variant, *fork)?, of_fork(sides.baseline, *fork)?])))
        .collect();
    let found: u64 = pairs.iter().flat_map(|(_, both)| both).map(|(part, _)| part).sum();
    if pairs.is_empty() || found < FEWEST_OF_SHARE * pairs.len() as u64 {
        return None;
    }
    let smooth = |(part, all): (u64, u64)| (part as f64 + 0.5) / (all as f64 + 1.0);
    let ratio = |(fork, [mine, theirs]): &(u32, [(u64, u64); 2])| {
        Some((*fork, ForkRatio::from_pairs(&[(smooth(*mine), smooth(*theirs))]).ok()?))
    };
    let level = |side: usize| level::quotient(pairs.iter().map(|(_, both)| both[side]));
    measure_ratio(sides, pairs.iter().filter_map(ratio).collect(), (currency, kind), (level(0)?, level(1)?))
}

fn load_label(sides: Sides<'_>, kind: SliceKind) -> String {
    match (kind, sides.plan.load.rate) {
        (SliceKind::Saturating, _) => "at full load".to_owned(),
        (SliceKind::Push, _) if sides.variant.evidence.subject.sends_events => "to the first event".to_owned(),
        (SliceKind::Push, _) => "of pushes".to_owned(),
        (SliceKind::Capacity, _) => "of tries".to_owned(),
        (_, Rate::OfCapacity { share: 0.5 }) => "at half load".to_owned(),
        (_, Rate::OfCapacity { share }) => format!("at {} load", format::share(share)),
        (_, Rate::PerSecond { per_s }) => format!("at {}", format::rate(per_s)),
    }
}
