//! Answers of a load by status and by URL, in every form.

use tare_analysis::load::{LoadSummary, summarize};
use tare_record::{LoadRecord, PackedHistogram, RequestTally, StatusTallies, StatusTally};
use tare_report::ci;
use tare_report::json::render as json;
use tare_report::load::{csv, render, summary_as_run};
use tare_report::text::Style;
use tare_stats::histogram::LatencyHistogram;

use crate::loads::load_record;

fn tally(name: &str, ms: u64, failed: u64) -> RequestTally {
    let mut times = LatencyHistogram::new();
    (0..2_000).for_each(|_| times.record_ns(ms * 1_000_000));
    RequestTally {
        name: name.to_owned(),
        ok: 2_000,
        failed,
        messages: 0,
        example: if failed > 0 { "status 503 instead of 200 to 299".to_owned() } else { String::new() },
        response: PackedHistogram::from(&times),
    }
}

fn status(count: u64, failed: u64) -> StatusTally {
    StatusTally { count, failed, example: if failed > 0 { "GET /bad: status 503".to_owned() } else { String::new() } }
}

/// Two URLs; both agents or intervals of it report the same.
pub fn record(conditions: &[&str]) -> LoadRecord {
    let mut record = load_record();
    record.header.plan.conditions = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
    record.intervals.truncate(2);
    for interval in &mut record.intervals {
        interval.load.statuses = StatusTallies([(200, status(3_000, 0)), (503, status(10, 10))].into());
        interval.load.by_request = vec![tally("GET /fast", 1, 0), tally("GET /bad", 30, 10)];
    }
    record
}

#[test]
fn every_form_tells_answers_apart_by_status_and_by_url() {
    let record = record(&[]);
    let summary = summarize(&record);
    let read: LoadSummary = serde_json::from_str(&json(&summary).unwrap()).unwrap();
    assert_eq!(read, summary);
    let statuses: Vec<_> = read.statuses.iter().map(|one| (one.status, one.count, one.failed)).collect();
    assert_eq!(statuses, [(200, 6_000, 0), (503, 20, 20)]);
    let urls: Vec<_> = read.urls.iter().map(|url| (&*url.url, url.offered, url.failed)).collect();
    assert_eq!(urls, [("GET /fast", 4_000, 0), ("GET /bad", 4_020, 20)]);
    assert!(read.urls[1].p99_ns.unwrap() > 29_000_000 && read.urls[0].p99_ns.unwrap() < 1_100_000);

    let text = render(&summary, &Style { colored: false, width: 100 });
    for line in ["statuses     200: 6,000, 503: 20 (failed)", "GET /bad   4,020     20 (0.5 %)  30.0 ms"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let csv = csv(&summary);
    let begins = |of: &str| csv.lines().filter(|line| line.starts_with(of)).count();
    assert_eq!((begins("whole,"), begins("url,"), begins("status,"), begins("interval,")), (1, 2, 2, 2), "{csv}");
    assert!(
        csv.lines().any(|line| line.ends_with(",GET /bad"))
            && csv.lines().any(|line| line == "status,,,0,20,,,,,,,,,503")
    );

    let run = summary_as_run(&record, &summary);
    let page = serde_json::to_string(&run).unwrap();
    assert!(page.contains(r#""url":"GET /bad""#) && page.contains(r#""status":503"#));
    let openmetrics = ci::openmetrics::render(&run);
    for says in [
        "tare_responses{status=\"503\"",
        "tare_url_requests{url=\"GET /bad\",outcome=\"failed\"",
        "tare_url_response_time_seconds{url=\"GET /bad\",quantile=\"0.99\"",
    ] {
        assert!(openmetrics.contains(says), "{says}: {openmetrics}");
    }

    let mut void = record;
    void.intervals.iter_mut().for_each(|interval| interval.load.failed = interval.load.ok);
    let openmetrics = ci::openmetrics::render(&summary_as_run(&void, &summarize(&void)));
    assert!(openmetrics.contains("tare_responses{") && !openmetrics.contains("_seconds{"), "{openmetrics}");
}

#[test]
fn a_condition_may_be_about_one_url_or_one_status() {
    let conditions = [
        "p99(/bad)>20ms",
        "p99(/fast)>20ms",
        "errors(GET /bad)>0.1%",
        "errors(/fast)>0",
        "status 503>1%",
        "status 5xx>10",
    ];
    let outcomes = summarize(&record(&conditions)).thresholds;
    let failed: Vec<bool> = outcomes.iter().map(|outcome| outcome.failed).collect();
    assert_eq!(failed, [true, false, true, false, false, true], "{outcomes:?}");
}

#[test]
fn a_load_that_was_cut_short_tells_nothing_of_one_url() {
    let mut record = record(&["p99(/bad)>20s", "errors(/fast)>50%", "errors>50%"]);
    record.header.plan.requests = 2;
    // What each URL showed stands in the last part of a load.
    record.intervals.iter_mut().for_each(|interval| interval.load.by_request.clear());
    record.end = None;
    let outcomes = summarize(&record).thresholds;
    let failed: Vec<bool> = outcomes.iter().map(|outcome| outcome.failed).collect();
    assert_eq!(failed, [true, true, false], "{outcomes:?}");
    assert!(outcomes[0].text().ends_with(": the record was cut short before its URLs were told apart"), "{outcomes:?}");
}

#[test]
fn of_many_urls_a_terminal_shows_those_that_failed_and_the_slowest() {
    let mut record = record(&[]);
    let name = |number: u64| format!("GET /a/rather/long/path/of/a/browser/with/an/end/{number}");
    let tallies = (0..30).map(|number| tally(&name(number), 1 + number, u64::from(number == 3)));
    record.intervals[0].load.by_request = tallies.collect();
    record.intervals[1].load.by_request.clear();
    let text = render(&summarize(&record), &Style { colored: false, width: 200 });
    let shown: Vec<&str> = text.lines().filter(|line| line.contains("GET /a/rather/long/path/of/a/")).collect();
    assert_eq!(shown.len(), 20, "{text}");
    assert!(shown[0].contains("…") && shown[0].contains("/end/3 ") && shown[1].contains("/end/29 "), "{text}");
    assert!(text.contains("20 of 30 URLs"), "{text}");
}
