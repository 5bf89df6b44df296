//! A record says whether it is of a run or of a load. For one without a kind, of an older tare, the plan decides.

use std::path::Path;

use tare_plan::ServerClock;
use tare_plan::condition::Condition;
use tare_plan::contract::{Expect, Request, Scenario};
use tare_plan::load_plan::{Arrivals, LoadModel, LoadPlan, LoadProtocol, LoadStop, TlsTrust};
use tare_plan::plan::{Group, Mode, NamedScenario, Program, Role, Setting, Source, Variant, Warmup};
use tare_record::{AgentRecord, EndStatus, RunHeader};
use tare_record::{LoadHeader, Record, RecordError, RunWriter, open_record, open_run_record};
use tare_units::Span;

use crate::common;

const URL: &str = "https://127.0.0.1:8443/users";

fn load_plan() -> LoadPlan {
    LoadPlan {
        url: URL.to_owned(),
        request: "GET /users".to_owned(),
        requests: 2,
        checks: 1,
        feeds: vec!["users.csv".to_owned()],
        model: LoadModel::Open { per_s: 0.1 + 0.2, stages: Vec::new(), arrivals: Arrivals::Poisson, tick: None },
        stop: LoadStop::Requests { count: u64::MAX, at_most: Span::from_secs(60) },
        warmup: Span::from_secs(1),
        connections: 64,
        protocol: LoadProtocol::Http1 { pipeline: 1 },
        tls: Some(TlsTrust::Authorities { file: "ca.pem".to_owned() }),
        timeout: Span::from_secs(10),
        connect_timeout: Span::from_secs(5),
        load_cpus: "1".to_owned(),
        server_clock: ServerClock::Auto,
        interval: Span::from_secs(1),
        seed: 7,
        conditions: vec!["p99>5ms".parse::<Condition>().unwrap()],
        settings: vec![setting("poller", "epoll")],
    }
}

fn setting(key: &str, value: &str) -> Setting {
    let (section, key, value) = ("load".to_owned(), key.to_owned(), value.to_owned());
    Setting { section, key, value, source: Source::Flag, meaning: String::new() }
}

fn load_header() -> LoadHeader {
    let run = common::header("load");
    let plan = load_plan();
    RunHeader {
        id: run.id,
        started_unix_ns: run.started_unix_ns,
        command: run.command,
        tare_version: run.tare_version,
        git_revision: None,
        plan_hash: plan.hash(),
        plan,
        environment: run.environment,
    }
}

/// A record of `tare load` before records had a kind: a run of one cell with an external server.
fn old_header() -> RunHeader {
    let mut header = common::header("load");
    let plan = &mut header.plan;
    plan.suite = "load".to_owned();
    plan.question = "closed loop, 8 users for 10 s".to_owned();
    plan.mode = Mode::Sequential;
    plan.warmup = Warmup::Fixed { span: Span::from_secs(2), users: 8 };
    plan.slices.length = Span::from_secs(12);
    plan.settings = vec![setting("requests", "3"), setting("connect-timeout", "5s")];
    let request = Request { method: "GET".into(), path: "/users".into(), headers: Default::default(), body: None };
    let scenario = Scenario { title: String::new(), routes: 1, request, expect: Expect::default(), push: None };
    plan.groups = vec![Group {
        id: URL.to_owned(),
        variants: vec![Variant {
            name: URL.to_owned(),
            server: URL.to_owned(),
            family: URL.to_owned(),
            kind: String::new(),
            version: None,
            routes: 1,
            role: Role::Baseline,
            program: Program::External { url: URL.to_owned() },
        }],
        scenarios: vec![NamedScenario { name: "GET /users".to_owned(), scenario }],
        ladder: false,
    }];
    header
}

/// Takes the kind out of a record's header, as an older tare would have written it.
fn remove_kind(file: &Path) {
    let record = rusqlite::Connection::open(file).unwrap();
    record.execute("ALTER TABLE run DROP COLUMN checksum", []).unwrap();
    let removed = record.execute("UPDATE run SET json = json_remove(json, '$.kind') WHERE key = 'header'", []).unwrap();
    assert_eq!(removed, 1);
    record.pragma_update(None, "user_version", 4).unwrap();
}

#[test]
fn a_load_is_read_as_a_load() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("load.sqlite");
    let mut writer = RunWriter::create_load_file(&file, &load_header()).unwrap();
    writer.append_slice(&common::slice(0).pack()).unwrap();
    let agent = AgentRecord { name: "ssh://a".to_owned(), ok: 7, clock_offset_ns: Some(-3), ..AgentRecord::default() };
    writer.append_agent(&agent).unwrap();
    writer.append_event(&common::event()).unwrap();
    assert!(matches!(writer.append_profile(&common::profile()), Err(RecordError::Scored { .. })));
    writer.finish(EndStatus::Interrupted, 5).unwrap();
    let Record::Load(record) = open_record(&file).unwrap() else { panic!("read as a run") };
    assert_eq!((record.header, record.agents), (load_header(), vec![agent]));
    assert_eq!(record.intervals, [common::slice(0).pack()]);
    assert_eq!((record.events, record.end), (vec![common::event()], Some((EndStatus::Interrupted, 5))));
    assert!(matches!(open_run_record(&file), Err(RecordError::OtherKind { .. })));
}

#[test]
fn the_header_has_the_kind() {
    let root = tempfile::tempdir().unwrap();
    let (run, load) = (root.path().join("run.sqlite"), root.path().join("load.sqlite"));
    drop(RunWriter::create_file(&run, &common::header("r")).unwrap());
    drop(RunWriter::create_load_file(&load, &load_header()).unwrap());
    for (file, kind) in [(run, "weighed"), (load, "load")] {
        let record = rusqlite::Connection::open(&file).unwrap();
        let query = "SELECT json_extract(json, '$.kind') FROM run WHERE key = 'header'";
        assert_eq!(record.query_row(query, [], |row| row.get::<_, String>(0)).unwrap(), kind);
    }
}

#[test]
fn an_old_record_of_a_load_becomes_one_of_this_kind() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("old.sqlite");
    drop(RunWriter::create_file(&file, &old_header()).unwrap());
    remove_kind(&file);
    let Record::Load(record) = open_record(&file).unwrap() else { panic!("read as a run") };
    let plan = &record.header.plan;
    assert_eq!((plan.url.as_str(), plan.request.as_str(), plan.requests), (URL, "GET /users", 3));
    assert_eq!(plan.model, LoadModel::Described { text: "closed loop, 8 users for 10 s".to_owned() });
    assert_eq!(plan.stop, LoadStop::Duration { span: Span::from_secs(10) });
    assert_eq!((plan.warmup, plan.connect_timeout), (Span::from_secs(2), Span::from_secs(5)));
    assert_eq!((plan.connections, plan.load_cpus.as_str(), plan.seed), (8, "1", 7));
    assert_eq!(plan.settings, old_header().plan.settings);
}

#[test]
fn an_old_record_of_a_run_stays_one() {
    let root = tempfile::tempdir().unwrap();
    // The name of the suite alone does not make it a load.
    let mut header = common::header("r");
    header.plan.suite = "load".to_owned();
    let file = root.path().join("old.sqlite");
    drop(RunWriter::create_file(&file, &header).unwrap());
    remove_kind(&file);
    assert_eq!(open_run_record(&file).unwrap().header, header);
}
