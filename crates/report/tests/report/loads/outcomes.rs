//! What became of a load: its conditions in every form, and whether it made the load that its plan implies.

use tare_analysis::load::{LoadSummary, Requests, describe, summarize};
use tare_analysis::summary::{Validity, ValidityState};
use tare_plan::load_plan::{Arrivals, LoadModel, LoadStage, LoadStop, Protocol};
use tare_record::{
    EndStatus, ErrorClass, ErrorTally, EventKind, EventRecord, LoadRecord, MessageTally, PackedHistogram,
};
use tare_report::ci;
use tare_report::load::{render, summary_as_run};
use tare_report::text::Style;
use tare_stats::Polarity;
use tare_stats::histogram::LatencyHistogram;
use tare_units::Span;

use crate::loads::{load_record, record, summary};

#[test]
fn a_condition_that_was_met_is_a_failure_in_every_form() {
    let of = |conditions: &[&str]| summary_as_run(record(), &summary(conditions));
    let run = of(&["p50>1us", "p99>1s"]);
    let junit = ci::junit::render(&run);
    assert!(
        junit.contains(r#"tests="3" failures="1" errors="0""#) && junit.contains(r#"name="p50&gt;1us""#),
        "{junit}"
    );
    assert!(ci::comment::render(&run).contains("**Failed: p50&gt;1us: measured "));
    assert!(tare_report::markdown::render(&run).starts_with("**Failed: p50&gt;1us: measured "));
    let openmetrics = ci::openmetrics::render(&run);
    for (condition, value) in [("p50>1us", 1), ("p99>1s", 0)] {
        let line = format!("tare_condition_failed{{condition=\"{condition}\",subject=\"http4s.Vanilla\"}} {value}\n");
        assert!(openmetrics.contains(&line), "{openmetrics}");
    }
    assert!(ci::otlp::render(&run, 0).unwrap().contains("tare_condition_failed"));
    assert!(ci::bencher::render(&run).unwrap().contains("failed-conditions"));
    let smaller = ci::github_benchmark::render(&run, Polarity::LowerIsBetter).unwrap();
    assert!(smaller.contains("failed conditions") && smaller.contains("p50>1us: measured"), "{smaller}");
    let passed = of(&["p99>1s"]);
    assert!(ci::junit::render(&passed).contains(r#"failures="0""#) && !passed.headline.text.contains("Failed"));
    assert!(!ci::openmetrics::render(&of(&[])).contains("condition"), "nothing was asked");
}

/// A load of streams with so many events each; the last interval is the drain, in which some of them end.
fn streams(events: u64, read: u64, failed: u64) -> LoadRecord {
    let mut record = load_record();
    record.header.plan.protocol = Protocol::Events { messages: None, streams: None };
    record.header.plan.conditions = vec!["errors>20%".parse().unwrap()];
    record.intervals.truncate(2);
    let received = events * (read + failed);
    let tallies = [(received, failed, 0), (0, 0, read)];
    for (interval, (received, failed, subscriptions)) in record.intervals.iter_mut().zip(tallies) {
        let load = &mut interval.load;
        (load.offered, load.ok, load.failed) = (received + failed, received, failed);
        load.messages = MessageTally { received, subscriptions, ..MessageTally::default() };
        load.errors = [(ErrorClass::Read, ErrorTally { count: failed, example: "connection closed".to_owned() })]
            .into_iter()
            .filter(|_| failed > 0)
            .collect();
    }
    record
}

#[test]
fn the_share_of_failures_is_one_of_streams_and_not_of_events() {
    for (read, failed, has_failed) in [(0, 56, true), (9, 1, false), (3, 1, true)] {
        let load = summarize(&streams(7, read, failed));
        let Requests { offered, ok, failed: failures, failed_share } = load.requests;
        assert_eq!((offered, ok, failures), (read + failed, read, failed));
        assert_eq!((failed_share, load.thresholds[0].failed), (failed as f64 / offered as f64, has_failed));
        assert_eq!(load.verdict.state == ValidityState::Void, has_failed, "{:?}", load.verdict);
        let text = render(&load, &Style { colored: false, width: 200 });
        let says = format!("{} events of {offered} streams, none missing; {failed} failed", 7 * offered);
        assert!(text.contains(&says), "{says}: {text}");
    }
}

#[test]
fn streams_that_had_stalled_at_the_end_are_in_a_note() {
    let mut record = streams(5, 4, 0);
    assert_eq!(summarize(&record).notes, [""; 0]);
    let messages = &mut record.intervals[1].load.messages;
    (messages.silent, messages.silent_ns) = (4, 3_900_000_000);
    let says = "4 streams had sent no event for up to 3.90 s when the load ended, much longer than their events had been apart";
    assert_eq!(summarize(&record).notes, [says]);
}

#[test]
fn streams_whose_first_event_comes_after_the_end_say_why_nothing_was_measured() {
    let load = summarize(&streams(0, 4, 0));
    let says = "nothing was measured: the load ended before the server had sent the first event or message; load for longer (-d)";
    assert_eq!((load.verdict.state, load.verdict.reasons[0].text.as_str()), (ValidityState::Void, says));
}

/// A complete closed loop of 2 s with this many requests, which take a hundredth of the users' time.
fn almost_idle(model: LoadModel, think: Option<Span>) -> LoadRecord {
    let mut record = load_record();
    record.header.plan.model = model;
    record.header.plan.think = think;
    record.end = Some((EndStatus::Complete, 2_000_000_000));
    record.intervals.truncate(1);
    record.intervals[0].load.window_ns = 2_000_000_000;
    let mut times = LatencyHistogram::new();
    (0..256).for_each(|_| times.record_ns(10_000_000));
    let load = &mut record.intervals[0].load;
    load.response = PackedHistogram::from(&times);
    (load.offered, load.sent, load.ok, load.failed, load.completed) = (256, 256, 256, 0, 256);
    record
}

#[test]
fn fewer_requests_than_the_plan_implies_make_a_load_suspect_in_every_model() {
    let shortfall = |record: &LoadRecord| {
        let reasons = summarize(record).verdict.reasons.into_iter().map(|reason| reason.text);
        reasons.filter(|text| text.contains(" left, ")).collect::<Vec<_>>()
    };
    let stages = vec![LoadStage { to: 128.0, over: Span::default() }];
    let open = |arrivals| LoadModel::Open { per_s: 1000.0, stages: Vec::new(), arrivals, tick: None };
    for (model, says) in [
        (LoadModel::Closed, "256 requests left, 1.0 % of the 25,6"),
        (LoadModel::ClosedStages { stages }, "256 requests left, 1.0 % of the 25,6"),
        (open(Arrivals::Even), "256 requests left, 13 % of the 2,000 requests that the rate implies"),
        (open(Arrivals::Poisson), "256 requests left, 13 % of the 2,000 requests that the rate implies"),
    ] {
        let found = shortfall(&almost_idle(model.clone(), None));
        assert!(found.len() == 1 && found[0].starts_with(says), "{model:?}: {found:?}");
    }
    // Two rounds of each of 128 users in 2 s.
    assert_eq!(shortfall(&almost_idle(LoadModel::Closed, Some(Span::from_millis(990)))), [""; 0]);
    let mut counted = almost_idle(LoadModel::Closed, None);
    counted.header.plan.stop = LoadStop::Requests { count: 300, at_most: Span::from_secs(60) };
    assert!(shortfall(&counted)[0].starts_with("256 requests left, 85 % of the 300 requests that were asked for"));
    counted.header.plan.stop = LoadStop::Requests { count: 300, at_most: Span::from_secs(2) };
    assert_eq!(shortfall(&counted), [""; 0], "its time was over");
    counted.end = Some((EndStatus::Interrupted, 0));
    assert_eq!(shortfall(&counted), [""; 0]);
}

#[test]
fn requests_that_no_figure_has_make_a_load_suspect() {
    let reasons = |record: &LoadRecord| {
        let all = summarize(record).verdict.reasons.into_iter().map(|reason| reason.text);
        all.filter(|text| text.contains("no figure") || text.contains("too low")).collect::<Vec<_>>()
    };
    let stopped = |requests| {
        let mut record = almost_idle(LoadModel::Closed, Some(Span::from_millis(990)));
        record.end = Some((EndStatus::Interrupted, 0));
        record.events = vec![EventRecord::new(EventKind::RequestsCutOff { requests })];
        reasons(&record)
    };
    assert_eq!(stopped(2), [""; 0], "0.8 % do not reach p99");
    assert!(stopped(4)[0].starts_with("1.5 % of the requests (4) had no answer when the load was stopped"));
    let late = |model, within| {
        let mut record = almost_idle(model, Some(Span::from_millis(990)));
        record.intervals[0].load.completed = within;
        reasons(&record)
    };
    assert_eq!(late(LoadModel::Closed, 250), [""; 0]);
    let says = "only 128 of 256 answers came within the window: the throughput is too low";
    assert_eq!(late(LoadModel::Closed, 128), [says]);
    let open = LoadModel::Open { per_s: 128.0, stages: Vec::new(), arrivals: Arrivals::Even, tick: None };
    assert_eq!(late(open, 128), [""; 0], "a server that cannot follow has that throughput");
}

#[test]
fn a_load_that_ends_within_its_warm_up_says_so_with_a_remedy() {
    let mut record = record().clone();
    record.intervals.clear();
    record.header.plan.warmup = Span::from_secs(5);
    let reasons = summarize(&record).verdict.reasons;
    let [nothing, why] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!(nothing.text, "nothing was measured");
    assert_eq!(why.text, "the load had ended before its warm-up of 5s was over");
    assert!(why.remedy.as_ref().is_some_and(|remedy| remedy.contains("--warmup")), "{why:?}");
    record.end = Some((EndStatus::Interrupted, 0));
    assert_eq!(summarize(&record).verdict.reasons.len(), 1, "whoever stopped it knows why");
}

#[test]
fn a_load_ends_with_its_requests_or_its_time_and_says_so() {
    let mut plan = load_record().header.plan;
    for (at_most, says) in [(Span::from_secs(2), "300 requests, 2 s at most"), (LoadStop::NO_LIMIT, "300 requests")] {
        plan.stop = LoadStop::Requests { count: 300, at_most };
        assert_eq!(describe(&plan), format!("closed loop, 128 users until {says}"));
    }
}

#[test]
fn comments_on_different_loads_have_different_marks() {
    let mark = |record: &LoadRecord| {
        let comment = ci::comment::render(&summary_as_run(record, &summarize(record)));
        comment.lines().next().unwrap().to_owned()
    };
    let (one, mut other) = (load_record(), load_record());
    other.header.plan.url += "cart";
    assert_ne!(mark(&one), mark(&other));
    assert_eq!(mark(&one), mark(&load_record()));
    assert!(mark(&one).starts_with("<!-- tare report of load"), "{}", mark(&one));
}

#[test]
fn a_load_with_notes_is_not_said_to_be_beyond_doubt() {
    let mut quiet = summary(&[]);
    let said = |summary: &LoadSummary| {
        let text = render(summary, &Style { colored: false, width: 80 });
        text.lines().find(|line| line.contains("VALID")).unwrap().trim().to_owned()
    };
    quiet.verdict = Validity { state: ValidityState::Valid, reasons: Vec::new() };
    quiet.notes.clear();
    assert_eq!(said(&quiet), "VALID        nothing speaks against these numbers");
    quiet.notes.push("Busy machine: tasks waited for a CPU 47 % of the time".to_owned());
    assert_eq!(said(&quiet), "VALID        see the notes below");
}
