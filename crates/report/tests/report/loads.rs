//! One load: its summary, conditions, and the forms it is shown in.

use std::sync::OnceLock;

use tare_plan::condition::Condition;
use tare_record::PackedHistogram;
use tare_record::sample::{EndStatus, ErrorTally, MessageTally, Messages, RunRecord};
use tare_report::load::{LoadSummary, csv, html, json, render, summarize, wrk};
use tare_report::text::Style;

use crate::synthetic::{baseline, sequential};

/// A closed loop with a few failures, as `tare load` would record it.
fn record() -> &'static RunRecord {
    static RECORD: OnceLock<RunRecord> = OnceLock::new();
    RECORD.get_or_init(|| {
        let mut record = sequential(&[baseline()]);
        record.header.plan.question = "closed loop, 128 users for 2 s".to_owned();
        let slice = &mut record.slices[1];
        slice.failed = 3;
        slice.errors.insert("timeout".to_owned(), ErrorTally { count: 2, example: "no complete answer".to_owned() });
        slice.errors.insert("read".to_owned(), ErrorTally { count: 1, example: "reset\u{1b}[31m".to_owned() });
        record
    })
}

fn summary(conditions: &[&str]) -> LoadSummary {
    let thresholds: Vec<Condition> = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
    summarize(record(), &thresholds)
}

#[test]
fn the_summary_of_a_load() {
    let text = render(&summary(&["p99>1s", "errors>0"]), &Style { colored: false, width: 100 });
    insta::assert_snapshot!(text);
}

/// The same load, as if its answers had been pushed.
fn pushed(tally: MessageTally) -> LoadSummary {
    let mut record = record().clone();
    for slice in &mut record.slices {
        let jitter = slice.service.clone();
        slice.service = PackedHistogram::default();
        slice.messages = Some(Messages { tally, jitter });
    }
    summarize(&record, &[])
}

#[test]
fn pushed_messages_are_told_by_what_became_of_them_with_jitter_beside_latency() {
    let clock = MessageTally { stamp_unit_ns: 1, clock_within_ns: 132, ..MessageTally::default() };
    let summary = pushed(MessageTally { received: 1000, missing: 2, late: 1, subscriptions: 64, ..clock });
    let slices = record().slices.len() as u64;
    let tally = summary.messages.as_ref().unwrap().tally;
    assert_eq!((tally.received, tally.clock_within_ns), (1000 * slices, 132), "counts add up, uncertainties do not");
    let text = render(&summary, &Style { colored: false, width: 120 });
    for says in [
        " missing, ",
        " late; ",
        " read to the end, 3 broke off",
        "push       jitter",
        "a message · stamps to 1.00 ns; the",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert!(!text.contains("send lag") && !text.contains(" loop "), "{text}");
    assert_eq!(summary.model.loop_kind, "push");
    let read: LoadSummary = serde_json::from_str(&json(&summary).unwrap()).unwrap();
    assert_eq!(read, summary);
}

#[test]
fn what_a_server_says_moves_no_cursor() {
    for colored in [false, true] {
        let text = render(&summary(&[]), &Style { colored, width: 60 });
        assert!(!text.contains("\u{1b}[31m["), "{text:?}");
        assert!(text.contains("reset\u{FFFD}[31m"), "{text:?}");
    }
}

#[test]
fn an_interrupted_load_says_so() {
    let mut record = record().clone();
    record.end = Some((EndStatus::Interrupted, 2_000_000_000));
    let summary = summarize(&record, &[]);
    assert!(summary.interrupted);
    assert!(render(&summary, &Style { colored: false, width: 100 }).contains("for 2 s · interrupted"));
}

#[test]
fn a_load_without_any_answer_is_void_and_still_shown() {
    let mut record = record().clone();
    record.slices.clear();
    let summary = summarize(&record, &["p99>1s".parse().unwrap()]);
    let text = render(&summary, &Style { colored: false, width: 100 });
    assert!(text.contains("VOID") && text.contains("nothing was measured"), "{text}");
    assert!(summary.thresholds[0].failed);
    for form in [json(&summary).unwrap(), csv(&summary)] {
        assert!(!form.contains("NaN"), "{form}");
    }
}

#[test]
fn the_intervals_add_up_to_the_whole() {
    let summary = summary(&[]);
    let ok: u64 = summary.intervals.iter().map(|interval| interval.ok).sum();
    assert_eq!(ok, summary.requests.ok);
    let bars: u64 = summary.response.histogram.iter().map(|bin| bin.count).sum();
    assert_eq!(bars, summary.response.count);
}

#[test]
fn wrk_s_text_counts_errors_as_wrk_does() {
    let text = wrk(record(), &summary(&[]));
    assert!(text.contains("\n  Socket errors: connect 0, read 1, write 0, timeout 2\n"), "{text}");
    assert!(text.starts_with("Running 2s test @ http4s.Vanilla\n"), "{text}");
}

#[test]
fn the_page_of_a_load_speaks_of_the_load() {
    let page = html(record(), &summary(&[])).unwrap();
    for part in ["\"mode\":\"load\"", "\"question\":\"http4s.Vanilla\"", "throughput 19,983/s over 1.8 s"] {
        assert!(page.contains(part), "no {part}");
    }
    assert!(!page.contains("One fork, no interval"));
}
