//! What the slow requests of a cell met, and how long its server stood still, in two lines. All reports print these.

use tare_plan::Currency;

use crate::format::{Unit, count, share, single};
use crate::summary::{Cell, Comparison, Latency, LatencyDivision, VerdictKind};

/// The lines of a cell, each beside its baseline where it has one. Where latency has no windows, none: the time stopped has a figure
/// of its own.
pub(crate) fn tail(cell: &Cell, comparisons: &[Comparison]) -> Vec<String> {
    let comparison = comparisons.iter().find(|comparison| comparison.cell == cell.id);
    let division = cell.shown_latency().and_then(|latency| Some((latency, latency.division.as_ref()?)));
    let Some((latency, division)) = division else { return Vec::new() };
    divided(latency, division, comparison).into_iter().chain(stopped(cell, comparison)).collect()
}

/// `p99 is 4.1 ms: 0.6 % of the requests met a stop of the server, 0.02 % a stall of the machine or of the generator; without
/// these it is 0.31 ms, 9 % [4, 14] higher than that of http4s.Vanilla`.
fn divided(latency: &Latency, division: &LatencyDivision, comparison: Option<&Comparison>) -> Option<String> {
    let p99 = latency.response.percentile_ns(99.0)?;
    let without = match division.met_none.percentile_ns(99.0) {
        Some(ns) => {
            let beside = beside(comparison, Currency::LatencyP99NoStops, ["lower", "higher"]);
            format!("without these it is {}{beside}", single(Unit::Nanos, ns as f64))
        }
        None => "the others are too few for a p99".to_owned(),
    };
    let cliff = match (division.is_at_cliff(99.0), division.stops_are_seen) {
        (false, _) => "",
        (true, false) => {
            ". It stands where the requests that met a stop begin, so it differs by chance from start to start: compare p99 without \
             stops and the stopped time instead"
        }
        (true, true) => {
            ". It stands where these begin, so it differs by chance from start to start: compare p50 and p99.9 instead"
        }
    };
    let met = if division.stops_are_seen {
        "a time in which the server answered nothing while requests waited"
    } else {
        "a stop of the server"
    };
    Some(format!(
        "p99 is {}: {} of the requests met {met}, {} a stall of the machine or of the generator; {without}{cliff}",
        single(Unit::Nanos, p99 as f64),
        share(division.met_stop_share),
        share(division.met_stall_share)
    ))
}

/// `the server stood still for 0.6 % of the time, 1.2 µs per request, 14 % [8, 20] more than that of http4s.Vanilla (31
/// collections of 13 ms)`.
fn stopped(cell: &Cell, comparison: Option<&Comparison>) -> Option<String> {
    let (per_request, of_time) = (cell.stopped_ns_per_request?.value, cell.stopped_time_share?);
    let beside = beside(comparison, Currency::StoppedPerRequest, ["less", "more"]);
    let all = cell.probes.collectors.iter().fold((0, 0), |(count, ns), one| (count + one.pauses, ns + one.pause_ns));
    let collections = match all {
        (0, _) => String::new(),
        (pauses, ns) => {
            format!(" ({}, {} on average)", count(pauses, "collection"), single(Unit::Nanos, ns as f64 / pauses as f64))
        }
    };
    let per_request = single(Unit::Nanos, per_request);
    Some(format!(
        "the server stood still for {} of the time, {per_request} per request{beside}{collections}",
        share(of_time)
    ))
}

/// `, 9 % [4, 14] higher than that of http4s.Vanilla`, or what is known so far; nothing where it is not compared.
fn beside(comparison: Option<&Comparison>, currency: Currency, words: [&str; 2]) -> String {
    let found = comparison.and_then(|comparison| {
        let ratio = comparison.currencies.iter().find(|ratio| ratio.name == currency)?;
        (ratio.is_known() && comparison.is_told(ratio)).then_some((comparison, ratio))
    });
    let Some((Comparison { baseline, .. }, ratio)) = found else { return String::new() };
    let change = ratio.change();
    match ratio.verdict {
        VerdictKind::Worse | VerdictKind::Better if change.size().0.starts_with('×') => {
            format!(", {} that of {baseline}", change.magnitude())
        }
        VerdictKind::Worse | VerdictKind::Better => {
            let word = words[usize::from(ratio.ratio > 1.0)];
            format!(", {} {word} than that of {baseline}", change.magnitude())
        }
        VerdictKind::NoMaterialDifference => format!(", as that of {baseline}: {}", change.signed_interval()),
        VerdictKind::NoInterval => format!(", {} beside {baseline} in one start", change.short()),
        VerdictKind::Inconclusive | VerdictKind::Void => {
            format!(", not decided beside {baseline}: {}", change.signed_interval())
        }
    }
}
