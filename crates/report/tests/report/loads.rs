//! One load: its summary, conditions, and the forms it is shown in.

use std::sync::OnceLock;

use tare_analysis::load::{LoadSummary, describe, summarize};
use tare_analysis::summary::{RunStatus, ValidityState};
use tare_plan::ServerClock;
use tare_plan::load_plan::{Arrivals, LoadModel, LoadPlan, LoadStage, LoadStop, Protocol};
use tare_record::LoadRecord;
use tare_record::{AgentRecord, EndStatus, ErrorClass, ErrorTally, EventKind, EventRecord, MessageTally, RunHeader};
use tare_report::json::render as json;
use tare_report::load::{csv, render, summary_as_run, wrk};
use tare_report::text::Style;
use tare_units::Span;

use crate::synthetic::{baseline, sequential};

/// A closed loop with a few failures, as `tare load` would record it.
pub fn record() -> &'static LoadRecord {
    static RECORD: OnceLock<LoadRecord> = OnceLock::new();
    RECORD.get_or_init(|| {
        let mut record = load_record();
        let slice = &mut record.intervals[1];
        slice.load.failed = 3;
        let errors = [(ErrorClass::Timeout, 2, "no complete answer"), (ErrorClass::Read, 1, "reset\u{1b}[31m")];
        let tally = |(class, count, example): (_, _, &str)| (class, ErrorTally { count, example: example.to_owned() });
        slice.load.errors = errors.into_iter().map(tally).collect();
        record
    })
}

/// The slices of a run as the intervals of a load.
pub fn load_record() -> LoadRecord {
    let run = sequential(&[baseline()]);
    let old = run.header;
    let plan = plan(LoadModel::Closed, Protocol::Http1 { pipeline: 1 });
    let header = RunHeader {
        id: old.id,
        started_unix_ns: old.started_unix_ns,
        command: old.command,
        tare_version: old.tare_version,
        git_revision: old.git_revision,
        plan_hash: plan.hash(),
        plan,
        environment: old.environment,
    };
    LoadRecord { header, intervals: run.slices, agents: Vec::new(), events: run.events, end: run.end }
}

fn plan(model: LoadModel, protocol: Protocol) -> LoadPlan {
    LoadPlan {
        url: "http4s.Vanilla".to_owned(),
        request: "SimpleGet".to_owned(),
        requests: 1,
        checks: 0,
        feeds: Vec::new(),
        setup: None,
        model,
        think: None,
        stop: LoadStop::Duration { span: Span::from_secs(2) },
        warmup: Span::default(),
        connections: 128,
        protocol,
        tls: None,
        timeout: Span::from_secs(10),
        connect_timeout: Span::from_secs(5),
        load_cpus: "1".to_owned(),
        server: None,
        server_clock: ServerClock::Auto,
        interval: Span::from_secs(1),
        seed: 8_127,
        conditions: Vec::new(),
        settings: Vec::new(),
    }
}

#[test]
fn a_load_is_described_from_its_plan() {
    let http = Protocol::Http1 { pipeline: 1 };
    let stages = |list: &[(f64, u64)]| -> Vec<LoadStage> {
        list.iter().map(|(to, secs)| LoadStage { to: *to, over: Span::from_secs(*secs) }).collect()
    };
    let open = |per_s, list: &[(f64, u64)], arrivals, tick| {
        let tick: Option<u64> = tick;
        LoadModel::Open { per_s, stages: stages(list), arrivals, tick: tick.map(Span::from_millis) }
    };
    let push = |messages| Protocol::Push { period: Span::from_millis(100), messages };
    for (model, protocol, says) in [
        (LoadModel::Closed, http, "closed loop, 128 users for 2 s"),
        (
            LoadModel::Closed,
            Protocol::Http1 { pipeline: 4 },
            "closed loop, 512 users on 128 connections, 4 requests deep for 2 s",
        ),
        (
            LoadModel::Closed,
            Protocol::Http2 { streams: 2 },
            "closed loop, 256 users on 128 connections of HTTP/2, 2 streams for 2 s",
        ),
        (LoadModel::Closed, Protocol::Exchange, "closed loop, 128 users on 128 WebSockets for 2 s"),
        (
            LoadModel::ClosedStages { stages: stages(&[(64.0, 10), (0.0, 5)]) },
            http,
            "closed loop, 0 users to 64 in 10 s, to 0 in 5 s over 128 connections for 2 s",
        ),
        (
            open(20_000.0, &[], Arrivals::Poisson, None),
            http,
            "open loop, Poisson, 20,000/s over 128 connections for 2 s",
        ),
        (
            open(500.0, &[], Arrivals::Even, Some(1)),
            http,
            "open loop, constant, 500/s over 128 connections, sent in ticks of 1 ms for 2 s",
        ),
        (
            open(0.0, &[(1000.0, 10)], Arrivals::Even, None),
            http,
            "open loop, evenly spaced, 0/s to 1,000/s in 10 s over 128 connections for 2 s",
        ),
        (
            LoadModel::Closed,
            push(Some(600)),
            "128 users; the server pushes a message to each every 100 ms, until each has 600",
        ),
        (LoadModel::Closed, push(None), "128 users; the server pushes a message to each every 100 ms, for 2 s"),
    ] {
        assert_eq!(describe(&plan(model, protocol)), says);
    }
}

pub fn summary(conditions: &[&str]) -> LoadSummary {
    let mut record = record().clone();
    record.header.plan.conditions = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
    summarize(&record)
}

#[test]
fn a_load_bears_the_share_of_errors_that_its_condition_allows() {
    let with_errors = |conditions: &[&str]| {
        let mut record = record().clone();
        record.header.plan.conditions = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
        // 5 % of all requests.
        record.intervals.iter_mut().for_each(|interval| interval.load.failed = interval.load.ok / 19);
        let summary = summarize(&record);
        (summary.verdict.state, summary.thresholds.iter().any(|threshold| threshold.failed))
    };
    assert_eq!(with_errors(&[]), (ValidityState::Void, false));
    assert_eq!(with_errors(&["errors>1%"]), (ValidityState::Void, true));
    assert_eq!(with_errors(&["errors>10%"]), (ValidityState::Suspect, false));
}

#[test]
fn the_summary_of_a_load() {
    let text = render(&summary(&["p99>1s", "errors>0"]), &Style { colored: false, width: 100 });
    insta::assert_snapshot!(text);
}

#[test]
fn the_summary_of_a_load_fits_eighty_columns() {
    let text = render(&summary(&[]), &Style { colored: false, width: 80 });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("▇ 327"), "the longest bar keeps its count: {text}");
}

/// The same load, as if its answers had been pushed.
fn pushed(tally: MessageTally) -> LoadSummary {
    let mut record = record().clone();
    for slice in &mut record.intervals {
        slice.load.jitter = std::mem::take(&mut slice.load.service);
        (slice.load.ok, slice.load.messages) = (tally.received, tally);
    }
    summarize(&record)
}

#[test]
fn pushed_messages_are_told_by_what_became_of_them_with_jitter_beside_latency() {
    let clock = MessageTally { stamp_unit_ns: 1, clock_within_ns: 132, ..MessageTally::default() };
    let summary = pushed(MessageTally { received: 1000, missing: 2, late: 1, subscriptions: 18, ..clock });
    let slices = record().intervals.len() as u64;
    let tally = summary.messages.as_ref().unwrap().tally;
    assert_eq!((tally.received, tally.clock_within_ns), (1000 * slices, 132), "counts add up, uncertainties do not");
    let text = render(&summary, &Style { colored: false, width: 120 });
    for says in [" missing, ", " late; 3 disconnected early", "push       jitter", "a message · stamps to 1.00 ns; the"]
    {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert!(!text.contains("send lag") && !text.contains(" loop "), "{text}");
    assert_eq!(summary.model.loop_kind, "push");
    let read: LoadSummary = serde_json::from_str(&json(&summary).unwrap()).unwrap();
    assert_eq!(read, summary);
}

#[test]
fn a_wall_clock_that_jumped_makes_push_latency_suspect() {
    let tally = MessageTally {
        received: 1000,
        subscriptions: 1000,
        stamp_unit_ns: 1,
        clock_within_ns: 3_600_000_000_000,
        ..MessageTally::default()
    };
    let summary = pushed(tally);
    assert_eq!(summary.verdict.state, ValidityState::Suspect);
    let says = |reason: &tare_analysis::summary::Reason| {
        reason.text.contains("the wall clock may have jumped by up to 3600 s")
    };
    assert!(summary.verdict.reasons.iter().any(says), "{:?}", summary.verdict.reasons);
    let calm = pushed(MessageTally { clock_within_ns: 132, ..tally });
    assert!(!calm.verdict.reasons.iter().any(says), "{:?}", calm.verdict.reasons);
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
    let summary = summarize(&record);
    assert!(summary.interrupted);
    assert!(render(&summary, &Style { colored: false, width: 100 }).contains("for 2 s · interrupted"));
}

#[test]
fn a_record_that_was_cut_short_says_so_and_from_when_to_when_it_holds() {
    let mut record = record().clone();
    record.intervals.truncate(1);
    record.end = None;
    let summary = summarize(&record);
    assert_eq!((summary.status, summary.verdict.state), (RunStatus::Partial, ValidityState::Suspect));
    let reason = &summary.verdict.reasons.last().unwrap().text;
    assert!(
        reason.starts_with("the record was cut short: it holds ") && reason.contains(" s, which is 20"),
        "{reason}"
    );
    let text = render(&summary, &Style { colored: false, width: 200 });
    assert!(text.contains("· cut short") && text.contains("SUSPECT") && text.contains("it holds "), "{text}");
    let page = serde_json::to_string(&summary_as_run(&record, &summary)).unwrap();
    assert!(page.contains("\"state\":\"suspect\"") && page.contains("record_unfinished"));
}

#[test]
fn bytes_that_nobody_asked_for_are_no_failed_requests_and_make_a_load_suspect() {
    let mut record = load_record();
    assert_eq!(summarize(&record).connection_events, []);
    let tally = ErrorTally { count: 20, example: "57 bytes without a request".to_owned() };
    record.intervals[0].load.connection_events = [(ErrorClass::Protocol, tally)].into_iter().collect();
    let conditions = ["errors>0", "connection-events>0", "connection-events>20"];
    record.header.plan.conditions = conditions.map(|condition| condition.parse().unwrap()).to_vec();
    let summary = summarize(&record);
    assert_eq!((summary.requests.failed, summary.errors.len(), summary.connection_events[0].count), (0, 0, 20));
    assert_eq!(summary.verdict.state, ValidityState::Suspect);
    assert_eq!(summary.thresholds.iter().map(|one| one.failed).collect::<Vec<_>>(), [false, true, false]);
    let text = render(&summary, &Style { colored: false, width: 200 });
    for says in [
        "20 connection events outside of requests, most often by protocol",
        "connection   20 protocol: 57 bytes without a request",
        "measured 20 connection events",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
}

/// An agent of two: half of the load, on a core that was half busy.
fn agent(name: &str) -> AgentRecord {
    AgentRecord {
        name: name.to_owned(),
        host: "bench\u{1b}1".to_owned(),
        load_cpus: "1".to_owned(),
        workers: 1,
        offered: 1_000,
        ok: 1_000,
        completed: 1_000,
        window_ns: 2_000_000_000,
        generator_cpu_ns: 1_000_000_000,
        clock_offset_ns: Some(3_000_123_456),
        round_trip_ns: Some(80_000),
        ..AgentRecord::default()
    }
}

#[test]
fn each_agent_has_a_line_and_a_lost_one_makes_the_load_suspect() {
    let mut record = record().clone();
    let lost = AgentRecord { lost: Some("ssh ended".to_owned()), lost_at_ns: Some(12_400_000_000), ..agent("ssh://b") };
    record.agents = vec![agent("ssh://a"), lost];
    record.events.push(EventRecord::new(EventKind::AgentLost {
        agent: "ssh://b".to_owned(),
        reason: "ssh ended".to_owned(),
        from_s: 2,
        noticed_s: Some(12),
        left: 1,
        of: 2,
        asked_per_s: Some(20_000.0),
    }));
    let summary = summarize(&record);
    assert_eq!(summary.verdict.state, ValidityState::Suspect);
    let text = render(&summary, &Style { colored: false, width: 400 });
    for says in [
        "1 of 2 agents are left: offered 10,000 of 20,000/s from second 2 on (noticed in second 12)",
        "1 of 2 agents reported to the end; they started within 80.0 µs of one another",
        "ssh://a on bench\u{FFFD}1: 500/s · 1,000 answered as expected, 0 failed · cores 1, 50 % busy · clock 3.00012 s ahead",
        "lost at 12.4 s: ssh ended",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let read: LoadSummary = serde_json::from_str(&json(&summary).unwrap()).unwrap();
    assert_eq!(read, summary);
}

#[test]
fn an_agent_that_is_busy_or_late_makes_the_load_suspect() {
    let open = LoadModel::Open { per_s: 1_000.0, stages: Vec::new(), arrivals: Arrivals::Even, tick: None };
    for (agent, model, says) in [
        (
            AgentRecord { generator_cpu_ns: 1_900_000_000, ..agent("a") },
            LoadModel::Closed,
            Some("agent a used 95 % of its cores"),
        ),
        (AgentRecord { generator_cpu_ns: 1_400_000_000, ..agent("a") }, LoadModel::Closed, None),
        (
            AgentRecord { generator_cpu_ns: 1_400_000_000, ..agent("a") },
            open.clone(),
            Some("agent a used 70 % of its cores"),
        ),
        (
            AgentRecord { late: 30, ..agent("a") },
            open.clone(),
            Some("agent a sent 3 % of its requests more than 1 ms late"),
        ),
        (AgentRecord { late: 5, ..agent("a") }, open, None),
    ] {
        let mut record = load_record();
        record.header.plan.model = model;
        record.agents = vec![agent];
        let verdict = summarize(&record).verdict;
        let found = verdict.reasons.iter().any(|reason| says.is_some_and(|says| reason.text.contains(says)));
        assert!(found == says.is_some() && (found || verdict.state == ValidityState::Valid), "{says:?}: {verdict:?}");
    }
}

#[test]
fn a_load_without_any_answer_is_void_and_still_shown() {
    let mut record = record().clone();
    record.intervals.clear();
    record.header.plan.model = LoadModel::Open { per_s: 1.0, stages: vec![], arrivals: Arrivals::Even, tick: None };
    record.header.plan.conditions = vec!["p99>1s".parse().unwrap()];
    let summary = summarize(&record);
    let text = render(&summary, &Style { colored: false, width: 100 });
    assert!(text.contains("VOID") && text.contains("nothing was measured"), "{text}");
    assert_eq!(summary.model.loop_kind, "open", "what was planned, not what was measured");
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
fn the_page_of_a_load_says_what_the_terminal_says() {
    let load = summary(&["p99>1s"]);
    let page = serde_json::to_string(&summary_as_run(record(), &load)).unwrap();
    let plain = Style { colored: false, width: 400 };
    let terminal = render(&load, &plain);
    let lines = |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let (said, facts): (Vec<String>, _) = (lines(&terminal), summary_as_run(record(), &load).load.unwrap());
    for row in &facts.rows {
        let line = format!("{} {}", row.key, row.value);
        assert!(said.contains(&line), "the terminal does not say {line}");
    }
    let keys: Vec<&str> = facts.rows.iter().map(|row| row.key.as_str()).collect();
    for key in ["throughput", "requests", "bytes", "connections", "generator", "passed", "closed loop"] {
        assert!(keys.contains(&key), "no {key}");
    }
    assert_eq!(facts.histogram, load.response.histogram);
    assert!(page.contains("\"mode\":\"load\"") && !page.contains("One start, no interval"));
}
