//! What the server of a load used, and how its stops divide the latency: the same in every form.

use tare_analysis::load::{LoadSummary, summarize};
use tare_plan::load_plan::ServerProcess;
use tare_record::{LatencyParts, LoadRecord, PackedHistogram};
use tare_report::json::render as json;
use tare_report::load::{render, summary_as_run};
use tare_report::text::Style;
use tare_stats::histogram::LatencyHistogram;

use crate::loads::load_record;

/// A load on a JVM, in whose every interval 15 of 1,000 requests met a stop, and 2 a stall.
fn record() -> LoadRecord {
    let mut record = load_record();
    record.header.plan.server = Some(ServerProcess { name: "java\u{1b}[31m".to_owned(), pid: 4711 });
    let histogram = |count: u64, ns: u64| {
        let mut histogram = LatencyHistogram::new();
        (0..count).for_each(|_| histogram.record_ns(ns));
        histogram
    };
    for interval in &mut record.intervals {
        let parts = [histogram(15, 13_000_000), histogram(2, 5_000_000), histogram(983, 310_000)];
        let mut whole = LatencyHistogram::new();
        parts.iter().for_each(|part| whole.merge(part));
        interval.load.response = (&whole).into();
        let [met_stop, met_stall, met_none] = parts.map(|part| PackedHistogram::from(&part));
        interval.server.parts = Some(LatencyParts { met_stop, met_stall, met_none });
    }
    record
}

fn text(summary: &LoadSummary) -> String {
    render(summary, &Style { colored: false, width: 1_000 })
}

#[test]
fn every_form_says_what_the_server_used_and_what_its_stops_did() {
    let record = record();
    let summary = summarize(&record);
    let server = summary.server.as_ref().unwrap();
    assert_eq!((server.division.as_ref().unwrap().met_stop_share, server.tail.len()), (0.015, 3));
    assert!(server.cpu_ns_per_request.is_some() && server.cores.is_some() && server.rss_bytes.is_some(), "{server:?}");
    let (text, page) = (text(&summary), summary_as_run(&record, &summary));
    let rows = |name: &str| page.load.as_ref().unwrap().rows.iter().filter(|row| row.key == name).count();
    assert_eq!((rows("server"), rows("tail")), (1, 3));
    assert_eq!(page.cells[0].tail, server.tail);
    assert!(page.cells[0].latency[0].division.is_some(), "the chart shades its curve");
    assert!(text.contains("(process 4711): ") && text.contains(" of CPU a request, "), "{text}");
    assert!(!text.contains('\u{1b}'), "another program's name does not colour the terminal");
    for line in &server.tail {
        assert!(text.contains(&format!("tail         {line}")), "{text}");
        assert!(json(&summary).unwrap().contains(line.as_str()), "{line}");
    }
    assert!(
        server.tail[0].contains("1.5 % of the requests met a stop of the server, 0.2 % a stall"),
        "{}",
        server.tail[0]
    );
    assert!(server.tail[1].starts_with("the server stood still for "), "{}", server.tail[1]);
}

#[test]
fn a_load_whose_stops_are_not_known_has_no_division_and_one_that_watched_nothing_no_server() {
    let mut one = record();
    one.intervals[0].server.parts = None;
    let server = summarize(&one).server.unwrap();
    assert_eq!(server.division, None);
    assert!(server.cpu_ns_per_request.is_some());
    let mut unknown = record();
    unknown.intervals.iter_mut().for_each(|interval| interval.server = Default::default());
    assert!(text(&summarize(&unknown)).contains("(process 4711): its use is not known"));
    let watched_nothing = summarize(&load_record());
    assert!(watched_nothing.server.is_none() && !json(&watched_nothing).unwrap().contains("\"server\""));
}
