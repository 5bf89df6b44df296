//! The page: what it holds, and how large it is.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::Value;
use tare_analysis::load::{LoadSummary, Model, Requests};
use tare_analysis::summarize;
use tare_analysis::summary::{Cell, Distribution, MessageSummary, Summary};
use tare_plan::plan::SliceKind;
use tare_record::MessageTally;
use tare_report::html;
use tare_report::load::summary_as_run;

use crate::loads;
use crate::outputs::{HOSTILE, hostile};
use crate::synthetic::{self, Truth, baseline, standard_summary, variant};

/// A page of 1,000 cells must stay below 10 MB: this is the share of each cell beside 1 MB for the page itself.
const MOST_BYTES_PER_CELL: usize = 9_000;
/// What is rendered: cells in ten scenarios, each with as many slices as a start of a long run has.
const CELLS: usize = 100;
const SLICES: usize = 200;

/// The text of an element of a page.
fn element<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, after) = page.split_once(&format!("id=\"{id}\"")).unwrap();
    let (_, after) = after.split_once('>').unwrap();
    after.split_once("</script>").unwrap().0.trim()
}

fn unpack(packed: &str) -> Value {
    let mut json = Vec::new();
    ZlibDecoder::new(STANDARD.decode(packed).unwrap().as_slice()).read_to_end(&mut json).unwrap();
    serde_json::from_slice(&json).unwrap()
}

/// The summary of a page without what only charts show.
fn summary_of(page: &str) -> Value {
    unpack(element(page, "tare-summary"))
}

#[test]
fn a_page_holds_the_whole_summary_and_what_charts_show() {
    let summary = standard_summary();
    let page = html::render(&summary).unwrap();
    let held: Summary = serde_json::from_value(summary_of(&page)).unwrap();
    let ratios = |of: &Summary| of.comparisons.iter().flat_map(|c| c.currencies.clone()).collect::<Vec<_>>();
    for (full, held) in ratios(&summary).into_iter().zip(ratios(&held)) {
        assert!((full.ratio / held.ratio - 1.0).abs() < 1e-5);
        assert_eq!((full.name, full.verdict, full.forks), (held.name, held.verdict, held.forks));
    }
    assert_eq!((held.headline.text, held.cells.len()), (summary.headline.text.clone(), summary.cells.len()));
    assert_eq!(held.findings, summary.findings);
    let details = unpack(element(&page, "tare-details"));
    for cell in &summary.cells {
        let (detail, points) = (&details[&cell.id], &cell.timeline);
        for column in ["after_cs", "fork", "phase", "throughput_per_s", "p99_ns", "rss_bytes"] {
            assert_eq!(detail["timeline"][column].as_array().unwrap().len(), points.len(), "{column}");
        }
        assert_eq!(detail["timeline"]["p99_ns"][0].as_u64().is_some(), points[0].p99_ns.is_some());
        let curve = &cell.latency[0].response.curve;
        assert_eq!(detail["curves"][0]["response"][0].as_array().unwrap().len(), curve.len());
        assert_eq!(detail["command"], cell.command.as_str());
    }
}

#[test]
fn the_headline_of_a_load_is_a_sentence_with_its_unit() {
    let said = |load: &LoadSummary| summary_as_run(loads::record(), load).headline.text;
    let load = loads::summary(&[]);
    assert_eq!(said(&load), "The server answered 19,983 requests/s with a p99 of 2.82 ms and 3 errors (0.008 %).");
    let response = Distribution { percentiles: Vec::new(), ..load.response.clone() };
    let few = LoadSummary { response, requests: Requests { failed: 0, ..load.requests }, ..load.clone() };
    assert_eq!(said(&few), "The server answered 19,983 requests/s with no errors.");
    let messages = MessageSummary { tally: MessageTally::default(), jitter: load.service.clone(), gap: None };
    let pushed = LoadSummary { messages: Some(messages), ..few.clone() };
    assert_eq!(said(&pushed), "The server pushed 19,983 messages/s with no errors.");
    let gap = Some(load.service.clone());
    let events = pushed.messages.map(|messages| MessageSummary { gap, ..messages });
    let streamed = LoadSummary { messages: events, ..few.clone() };
    assert_eq!(said(&streamed), "The server sent 19,983 events/s with no errors.");
    let open = |offered_per_s: f64, load: &LoadSummary| {
        let model = Model { offered_per_s: Some(offered_per_s), ..load.model.clone() };
        said(&LoadSummary { model, ..load.clone() })
    };
    assert_eq!(open(20_000.0, &load), "At 20,000 requests/s the p99 is 2.82 ms, with 3 errors (0.008 %).");
    assert_eq!(open(20_000.0, &few), "At 20,000 requests/s the server answered with no errors.");
    assert_eq!(
        open(30_000.0, &load),
        "The server answered 19,983 of 30,000 requests/s with a p99 of 2.82 ms and 3 errors (0.008 %)."
    );
    let ramp = Model { loop_kind: "open".to_owned(), offered_per_s: None, ..load.model.clone() };
    let ramped = said(&LoadSummary { model: ramp, ..few.clone() });
    assert_eq!(ramped, "The server answered 19,983 requests/s on average with no errors.");
    let model = Model { offered_per_s: Some(30_000.0), ..load.model.clone() };
    let overloaded = summary_as_run(loads::record(), &LoadSummary { model, ..load.clone() });
    assert_eq!(overloaded.load.unwrap().rows[0].value, "19,983/s of 30,000/s offered over 1.8 s");
    let failing = LoadSummary { throughput_per_s: 0.0, ..load };
    assert_eq!(said(&failing), "The server gave no expected answer: 3 errors (0.008 %).");
}

#[test]
fn nothing_that_a_server_says_becomes_markup_in_the_page() {
    let page = html::render(&summarize(&hostile())).unwrap();
    assert!(!page.contains("<img src=x"), "markup got through");
    assert_eq!(summary_of(&page)["run"]["question"], HOSTILE);
}

#[test]
fn a_server_called_like_a_placeholder_harms_nothing() {
    for name in ["__TARE_SUMMARY__", "__TARE_DETAILS__"] {
        let record = synthetic::run(&[baseline(), variant(name, 0.9)], 1, &[SliceKind::Saturating]);
        let summary = summary_of(&html::render(&summarize(&record)).unwrap());
        assert_eq!(summary["schema"], "tare-summary/1");
    }
}

#[test]
fn a_page_of_a_thousand_cells_stays_below_ten_megabytes() {
    let page = html::render(&repeated(CELLS, SLICES)).unwrap();
    let without_cells = html::render(&repeated(0, 0)).unwrap().len();
    let per_cell = (page.len() - without_cells) / CELLS;
    assert!(
        per_cell < MOST_BYTES_PER_CELL && without_cells < 1_000_000,
        "{per_cell} per cell, {without_cells} besides"
    );
    assert_eq!(element(&page, "tare-details").lines().count(), 10, "a part for each scenario");
}

/// A run of ten scenarios: cells of a synthetic run again and again, each with slices of its own.
fn repeated(cells: usize, slices: usize) -> Summary {
    let quiet = |truth: Truth| Truth { fork_sd: 0.002, ..truth };
    let truths = [baseline(), variant("http4s.Tapir", 0.95)].map(quiet);
    let one = summarize(&synthetic::run(&truths, 5, &[SliceKind::Saturating, SliceKind::Poisson]));
    let mut many = Summary { cells: Vec::new(), comparisons: Vec::new(), sentences: Vec::new(), ..one.clone() };
    for i in 0..cells {
        let (scenario, variant) = (format!("Scenario{}", i / (cells / 10)), format!("http4s.Tapir@1.{i}"));
        let source = &one.cells[1];
        let id = format!("g1/{scenario}/{variant}");
        // Noise of every slice, so that nothing compresses that would not compress in a real run.
        let point = |k: usize| {
            let mut point = source.timeline[k % source.timeline.len()].clone();
            let noise = ((i * slices + k) as f64 * 0.618_033_988_749_895).fract();
            point.t_s += k as f64;
            point.throughput_per_s *= 1.0 + 0.1 * noise;
            point.cpu_ns_per_request = point.cpu_ns_per_request.map(|ns| ns * (1.0 + 0.07 * noise));
            point.cpu.iter_mut().for_each(|kind| kind.cores *= 1.0 + 0.05 * noise);
            point.p50_ns = point.p50_ns.map(|ns| ns + (1e4 * noise) as u64);
            point.p99_ns = point.p99_ns.map(|ns| ns + (1e6 * noise) as u64);
            point.rss_bytes = point.rss_bytes.map(|bytes| bytes + 4096 * (1e3 * noise) as u64);
            point
        };
        let timeline = (0..slices).map(point).collect();
        many.cells.push(Cell { id: id.clone(), scenario: scenario.clone(), variant, timeline, ..source.clone() });
        let comparison = one.comparisons[0].clone();
        many.comparisons.push(tare_analysis::summary::Comparison { id: id.clone(), cell: id, scenario, ..comparison });
    }
    many
}
