//! What the requests of a window of latency met: shares, percentiles without stops, and words.

use tare_analysis::summarize;
use tare_analysis::summary::{CurrencyRatio, LatencyDivision, Summary};
use tare_plan::Currency;
use tare_plan::plan::SliceKind;
use tare_record::{ErrorClass, ErrorTally, LatencyParts, PackedHistogram, RunRecord, StoredSlice};
use tare_stats::histogram::LatencyHistogram;

use crate::synthetic::{self, baseline, variant};

const LAYER: &str = "http4s.Tapir";

fn histogram(count: u64, ns: u64) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    (0..count).for_each(|_| histogram.record_ns(ns));
    histogram
}

/// Of 1,000 requests of each window of the layer, so many met a stop of 13 ms, and two a stall.
fn record(stopped: u64) -> RunRecord {
    let mut record =
        synthetic::run(&[baseline(), variant(LAYER, 0.9)], 3, &[SliceKind::Saturating, SliceKind::Poisson]);
    let windows = record.slices.iter_mut().filter(|s| s.key.kind == SliceKind::Poisson && s.key.variant == LAYER);
    windows.for_each(|slice| divide(slice, stopped, 310_000));
    record
}

/// So many requests of a window met a stop, two a stall, and the others took this time.
fn divide(slice: &mut StoredSlice, stopped: u64, others_ns: u64) {
    let parts = [histogram(stopped, 13_000_000), histogram(2, 5_000_000), histogram(998 - stopped, others_ns)];
    set_parts(slice, parts);
}

fn set_parts(slice: &mut StoredSlice, parts: [LatencyHistogram; 3]) {
    let mut whole = LatencyHistogram::new();
    parts.iter().for_each(|part| whole.merge(part));
    slice.load.response = (&whole).into();
    let [met_stop, met_stall, met_none] = parts.map(|part| PackedHistogram::from(&part));
    slice.server.parts = Some(LatencyParts { met_stop, met_stall, met_none });
}

fn division<'s>(summary: &'s Summary, variant: &str) -> Option<&'s LatencyDivision> {
    let cell = summary.cells.iter().find(|cell| cell.variant == variant).unwrap();
    cell.latency.iter().find(|latency| latency.slice_kind == SliceKind::Poisson).unwrap().division.as_ref()
}

fn tail(summary: &Summary, variant: &str) -> String {
    summary.cells.iter().find(|cell| cell.variant == variant).unwrap().tail.join("\n")
}

#[test]
fn a_baseline_that_could_not_follow_the_load_has_no_figure_beside_those_under_it() {
    let mut record = record(15);
    for slice in record.slices.iter_mut().filter(|s| s.key.kind == SliceKind::Poisson && s.key.variant != LAYER) {
        let late = ErrorTally { count: 900, example: "late".to_owned() };
        slice.load.failed = late.count;
        slice.load.errors = [(ErrorClass::Timeout, late)].into_iter().collect();
    }
    let text = tail(&summarize(&record), LAYER);
    assert!(text.starts_with("p99 is 13.0 ms: 1.5 % of the requests met a stop"), "{text}");
}

#[test]
fn the_parts_have_shares_and_p99_is_stated_without_stops() {
    let summary = summarize(&record(15));
    let layer = division(&summary, LAYER).unwrap();
    // Of the 1.7 % that are slower than 310 µs, 15 of 17 met a stop, and beyond the stalls of 5 ms all.
    let beyond = |least: f64| layer.slower.iter().find(|part| part.percentile >= least).unwrap();
    assert!(
        (beyond(0.0).met_stop_share - 0.015).abs() < 1e-9 && (beyond(50.0).met_stop_share - 15.0 / 17.0).abs() < 1e-3
    );
    assert!((beyond(50.0).met_stall_share - 2.0 / 17.0).abs() < 1e-3, "{:?}", layer.slower);
    assert!((layer.met_stop_share - 0.015).abs() < 1e-9 && (layer.met_stall_share - 0.002).abs() < 1e-9);
    let without = layer.met_none.percentile_ns(99.0).unwrap();
    assert!(without.abs_diff(310_000) <= 310, "{without}");
    let text = tail(&summary, LAYER);
    assert!(layer.p99_is_at_cliff && text.contains("differs by chance from start to start"), "{text}");
    for expected in [
        "p99 is 13.0 ms (http4s.Vanilla: 2.87 ms)",
        "1.5 % of the requests met a stop",
        "0.2 % a stall",
        "without these it is 310 µs",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(text.contains("\nthe server stood still for 1.1 % of the time, "), "{text}");
    assert!(text.contains(" per request, inconclusive +9.1 %; 24 collections of 4.50 ms"), "{text}");
    assert_eq!(division(&summary, "http4s.Vanilla"), None, "its stops are not known");
    assert_eq!(tail(&summary, "http4s.Vanilla"), "");
}

#[test]
fn far_from_the_cliff_nothing_is_said_of_it() {
    let summary = summarize(&record(100));
    assert!(!division(&summary, LAYER).unwrap().p99_is_at_cliff && !tail(&summary, LAYER).contains("chance"));
}

/// Both sides are divided: of the layer's windows so many requests met a stop, of the baseline's 20.
fn both(stopped: u64) -> RunRecord {
    let mut record = record(stopped);
    for slice in record.slices.iter_mut().filter(|s| s.key.kind == SliceKind::Poisson && s.key.variant != LAYER) {
        divide(slice, 20, 300_000);
    }
    record
}

fn ratio(summary: &Summary, currency: Currency) -> Option<&CurrencyRatio> {
    summary.comparisons[0].currencies.iter().find(|ratio| ratio.name == currency)
}

#[test]
fn the_parts_of_two_servers_are_compared() {
    let mut record = both(40);
    let summary = summarize(&record);
    let value = |currency| ratio(&summary, currency).map(|ratio| ratio.ratio);
    assert!((value(Currency::LatencyMetStop).unwrap() - 160.5 / 80.5).abs() < 1e-3, "four windows a start");
    assert!((value(Currency::LatencyP99NoStops).unwrap() - 310.0 / 300.0).abs() < 1e-2);
    assert!(value(Currency::StoppedPerRequest).unwrap() > 1.0, "the slower server answers fewer between equal stops");
    assert_eq!((value(Currency::LatencySlower), value(Currency::LatencyP999)), (None, None), "no limit asks for them");
    let text = tail(&summary, LAYER);
    assert!(text.contains("(http4s.Vanilla: 13.0 ms): 4 % (2 %) of the requests met a stop"), "{text}");
    assert!(text.contains("without these it is 310 µs (300 µs), "), "{text}");
    assert_eq!(tail(&summary, "http4s.Vanilla"), "", "its figures stand in brackets");
    record.header.plan.stop.limits =
        ["slower(4ms) > +50%", "slower(20ms) > +50%"].map(|text| text.parse().unwrap()).to_vec();
    let slow = summarize(&record);
    let found = ratio(&slow, Currency::LatencySlower).unwrap();
    assert!(
        (found.ratio - 168.5 / 88.5).abs() < 1e-3 && found.label == "requests slower than 4ms at half load",
        "{found:?}"
    );
    assert!((found.baseline_value - 0.022).abs() < 1e-9 && found.unit == "share");
}

#[test]
fn a_start_in_which_no_request_met_a_stop_counts_too() {
    let mut record = both(40);
    for slice in record.slices.iter_mut().filter(|s| s.key.fork == 1 && s.key.variant == LAYER) {
        if let Some(parts) = &mut slice.server.parts {
            parts.met_stop = PackedHistogram::default();
        }
    }
    let found = summarize(&record);
    let found = ratio(&found, Currency::LatencyMetStop).unwrap();
    assert_eq!(found.forks, 3);
    assert!(found.fork_ratios[0] < 0.01, "{:?}", found.fork_ratios);
}

#[test]
fn shares_of_too_few_requests_and_stops_that_a_start_lacks_are_not_compared() {
    let mut record = both(40);
    for slice in &mut record.slices {
        if let Some(parts) = &mut slice.server.parts {
            parts.met_stop = PackedHistogram::default();
        }
        if let Some(runtime) = slice.server.runtime.as_mut().filter(|_| slice.key.fork == 2) {
            runtime.safepoint_ns = Some(0);
        }
    }
    let summary = summarize(&record);
    assert_eq!(ratio(&summary, Currency::LatencyMetStop), None);
    assert_eq!(ratio(&summary, Currency::StoppedPerRequest), None, "a start without stops has no ratio");
}

#[test]
fn a_server_whose_every_request_meets_a_stop_and_one_that_never_stops_have_their_words() {
    let every = summarize(&record(998));
    let text = tail(&every, LAYER);
    assert!(
        text.contains("99.8 % of the requests met a stop") && text.contains("the others are too few for a p99"),
        "{text}"
    );
    let never = summarize(&record(0));
    let text = tail(&never, LAYER);
    assert!(text.contains(": 0 % of the requests met a stop") && text.contains("without these it is 310 µs"), "{text}");
}

#[test]
fn a_p99_that_is_higher_without_the_requests_that_met_a_stop_is_not_stated() {
    let mut record = record(15);
    for slice in record.slices.iter_mut().filter(|s| s.key.kind == SliceKind::Poisson && s.key.variant == LAYER) {
        let mut others = histogram(293, 1_000_000);
        others.merge(&histogram(5, 20_000_000));
        set_parts(slice, [histogram(700, 300_000), histogram(2, 300_000), others]);
    }
    let text = tail(&summarize(&record), LAYER);
    assert!(text.starts_with("p99 is 1.00 ms") && text.contains("; without these it is no lower\n"), "{text}");
}

#[test]
fn stops_that_no_runtime_told_are_named_so_and_compared_by_nothing() {
    let mut record = both(15);
    record.slices.iter_mut().for_each(|slice| slice.server.stops_are_seen = slice.server.parts.is_some());
    let summary = summarize(&record);
    let text = tail(&summary, LAYER);
    let expected = "1.5 % (2 %) of the requests met a time in which the server answered nothing while requests waited";
    assert!(text.contains(expected) && text.contains("compare p50 and p99.9 instead"), "{text}");
    for currency in [Currency::LatencyMetStop, Currency::LatencyP99NoStops] {
        assert_eq!(ratio(&summary, currency), None);
    }
}

#[test]
fn one_window_without_its_parts_leaves_the_cell_undivided() {
    let mut record = record(15);
    let last = record.slices.iter_mut().rev().find(|slice| slice.server.parts.is_some()).unwrap();
    last.server.parts = None;
    assert_eq!(division(&summarize(&record), LAYER), None);
}

#[test]
fn a_limit_on_a_percentile_at_a_cliff_says_what_to_limit_instead() {
    let mut record = both(15);
    record.header.plan.stop.limits = ["p99 > +10%", "p50 > +10%"].map(|text| text.parse().unwrap()).to_vec();
    // Starts that differ: every other one has twice as slow stops.
    for slice in record.slices.iter_mut().filter(|s| s.key.fork % 2 == 0 && s.key.kind == SliceKind::Poisson) {
        let factor = if slice.key.variant == LAYER { 50_000_000 } else { 2_000_000 };
        let mut whole = histogram(20, factor);
        whole.merge(&histogram(980, 310_000));
        slice.load.response = (&whole).into();
    }
    let check = summarize(&record).check.unwrap();
    let reason = |limit: &str| {
        let found = check.limits.iter().find(|found| found.limit == limit).unwrap();
        found.reason.clone().unwrap_or_default()
    };
    assert!(reason("p99 > +10%").contains("limit p99(no stops) and stopped instead"), "{}", reason("p99 > +10%"));
    assert!(!reason("p50 > +10%").contains("no stops"), "{}", reason("p50 > +10%"));
}
