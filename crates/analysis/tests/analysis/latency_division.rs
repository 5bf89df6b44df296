//! What the requests of a window of latency met: shares, percentiles without stops, and words.

use tare_analysis::summarize;
use tare_analysis::summary::{LatencyDivision, Summary};
use tare_plan::plan::SliceKind;
use tare_record::{LatencyParts, RunRecord};
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
    for slice in windows {
        let parts = LatencyParts {
            met_stop: histogram(stopped, 13_000_000),
            met_stall: histogram(2, 5_000_000),
            met_none: histogram(998 - stopped, 310_000),
        };
        let mut whole = LatencyHistogram::new();
        [&parts.met_stop, &parts.met_stall, &parts.met_none].into_iter().for_each(|part| whole.merge(part));
        slice.load.response = (&whole).into();
        slice.server.parts = Some(parts.map(|part| (&part).into()));
    }
    record
}

fn division<'s>(summary: &'s Summary, variant: &str) -> Option<&'s LatencyDivision> {
    let cell = summary.cells.iter().find(|cell| cell.variant == variant).unwrap();
    cell.latency.iter().find(|latency| latency.slice_kind == SliceKind::Poisson).unwrap().division.as_ref()
}

#[test]
fn the_parts_have_shares_and_p99_is_stated_without_stops() {
    let summary = summarize(&record(15));
    let layer = division(&summary, LAYER).unwrap();
    assert!((layer.met_stop_share - 0.015).abs() < 1e-9 && (layer.met_stall_share - 0.002).abs() < 1e-9);
    let without = layer.met_none.percentile_ns(99.0).unwrap();
    assert!(without.abs_diff(310_000) <= 310, "{without}");
    assert!(layer.p99_is_at_cliff && layer.text.contains("differs by chance from start to start"), "{}", layer.text);
    for expected in ["p99 is 13.0 ms", "1.5 % of the requests met a stop", "0.2 % a stall", "p99 is 310 µs"] {
        assert!(layer.text.contains(expected), "{expected}: {}", layer.text);
    }
    assert_eq!(division(&summary, "http4s.Vanilla"), None, "its stops are not known");
}

#[test]
fn far_from_the_cliff_nothing_is_said_of_it() {
    let summary = summarize(&record(100));
    assert!(!division(&summary, LAYER).unwrap().p99_is_at_cliff);
}

#[test]
fn one_window_without_its_parts_leaves_the_cell_undivided() {
    let mut record = record(15);
    let last = record.slices.iter_mut().rev().find(|slice| slice.server.parts.is_some()).unwrap();
    last.server.parts = None;
    assert_eq!(division(&summarize(&record), LAYER), None);
}
