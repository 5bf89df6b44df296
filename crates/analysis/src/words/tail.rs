//! What the slow requests of a cell met, and how long its server stood still, in two lines, and a third where p99 is a coin. All
//! reports print these.

use std::collections::{HashMap, HashSet};

use tare_plan::Currency;

use crate::format::{Unit, count, share, single};
use crate::summary::{Cell, Comparison, Latency, LatencyDivision};

/// The lines of each cell. A variant's have the figures of its baseline in brackets, so a baseline that is compared has none.
pub(crate) fn tails(cells: &[Cell], comparisons: &[Comparison]) -> Vec<Vec<String>> {
    let by_id: HashMap<&str, &Cell> = cells.iter().map(|cell| (cell.id.as_str(), cell)).collect();
    let of_variant: HashMap<&str, &Comparison> = comparisons.iter().map(|one| (one.cell.as_str(), one)).collect();
    let baselines: HashSet<&str> = comparisons.iter().map(|one| one.baseline_cell.as_str()).collect();
    let lines = |cell: &Cell| {
        let comparison = of_variant.get(cell.id.as_str()).copied();
        let baseline = comparison.and_then(|one| by_id.get(one.baseline_cell.as_str()).copied());
        if baselines.contains(cell.id.as_str()) { Vec::new() } else { Tail { cell, baseline, comparison }.lines() }
    };
    cells.iter().map(lines).collect()
}

struct Tail<'a> {
    cell: &'a Cell,
    baseline: Option<&'a Cell>,
    comparison: Option<&'a Comparison>,
}

impl Tail<'_> {
    /// Where latency has no windows, none: the time stopped has a figure of its own.
    fn lines(&self) -> Vec<String> {
        let Some(latency) = self.cell.shown_latency() else { return Vec::new() };
        let Some(division) = latency.division.as_ref() else { return Vec::new() };
        let lines = [self.divided(latency, division), self.stopped(), at_cliff(division)];
        lines.into_iter().flatten().collect()
    }

    /// `p99 is 4.1 ms (http4s.Vanilla: 3.2 ms): 0.6 % (0.5 %) of the requests met a stop of the server, 0.02 % (0.01 %) a stall of
    /// the machine or of the generator; without these it is 0.31 ms (0.28 ms), later 9 % [4, 14]`.
    fn divided(&self, latency: &Latency, division: &LatencyDivision) -> Option<String> {
        // A baseline that could not follow this load shows its latency under another one.
        let beneath = self.baseline.and_then(|cell| cell.shown_latency());
        let beneath = beneath.filter(|beneath| beneath.slice_kind == latency.slice_kind);
        let beneath_division = beneath.and_then(|latency| latency.division.as_ref());
        let p99 = |latency: &Latency| Some(single(Unit::Nanos, latency.response.percentile_ns(99.0)? as f64));
        let named = |figure: String| format!("{}: {figure}", self.baseline.map_or("", |cell| cell.variant.as_str()));
        let beside = |figure: fn(&LatencyDivision) -> f64| bracketed(beneath_division.map(|one| share(figure(one))));
        let without =
            |division: &LatencyDivision| Some(single(Unit::Nanos, division.met_none.percentile_ns(99.0)? as f64));
        let is_higher = division.met_none.percentile_ns(99.0) > latency.response.percentile_ns(99.0);
        let others = match without(division) {
            // Where most requests met one, these had the fast ones among them.
            Some(_) if is_higher => "without these it is no lower".to_owned(),
            Some(figure) => format!(
                "without these it is {figure}{}{}",
                bracketed(beneath_division.and_then(without)),
                self.change(Currency::LatencyP99NoStops)
            ),
            None => "the others are too few for a p99".to_owned(),
        };
        let met = if division.stops_are_seen {
            "a time in which the server answered nothing while requests waited"
        } else {
            "a stop of the server"
        };
        Some(format!(
            "p99 is {}{}: {}{} of the requests met {met}, {}{} a stall of the machine or of the generator; {others}",
            p99(latency)?,
            bracketed(beneath.and_then(p99).map(named)),
            share(division.met_stop_share),
            beside(|one| one.met_stop_share),
            share(division.met_stall_share),
            beside(|one| one.met_stall_share),
        ))
    }

    /// `the server stood still for 0.6 % of the time, 1.2 µs (1.1 µs) per request, longer stops 14 % [8, 20]; 31 collections
    /// of 13 ms`.
    fn stopped(&self) -> Option<String> {
        let per_request = |cell: &Cell| Some(single(Unit::Nanos, cell.stopped_ns_per_request?.value));
        let all = self.cell.probes.collectors.iter();
        let all = all.fold((0, 0), |(count, ns), one| (count + one.pauses, ns + one.pause_ns));
        let collections = match all {
            (0, _) => String::new(),
            (pauses, ns) => {
                format!("; {} of {}", count(pauses, "collection"), single(Unit::Nanos, ns as f64 / pauses as f64))
            }
        };
        Some(format!(
            "the server stood still for {} of the time, {}{} per request{}{collections}",
            share(self.cell.stopped_time_share?),
            per_request(self.cell)?,
            bracketed(self.baseline.and_then(per_request)),
            self.change(Currency::StoppedPerRequest),
        ))
    }

    /// `, later 9 % [4, 14]`, or what is known so far, as in the table; nothing where it is not compared.
    fn change(&self, currency: Currency) -> String {
        let ratio = self.comparison.and_then(|comparison| {
            comparison.ratio_in(currency).filter(|ratio| ratio.is_known() && comparison.untold(ratio).is_none())
        });
        ratio.map_or_else(String::new, |ratio| format!(", {}", ratio.short))
    }
}

/// ` (3.2 ms)`: the baseline's figure.
fn bracketed(figure: Option<String>) -> String {
    figure.map(|figure| format!(" ({figure})")).unwrap_or_default()
}

/// What to compare instead of a p99 that stands where the requests that met a stop begin.
fn at_cliff(division: &LatencyDivision) -> Option<String> {
    let instead = if division.stops_are_seen { "p50 and p99.9" } else { "p99 without stops and the stopped time" };
    division.is_at_cliff(99.0).then(|| {
        format!(
            "p99 stands where the requests that met a stop begin, so it differs by chance from start to start: compare {instead} \
             instead"
        )
    })
}
