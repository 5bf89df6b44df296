//! A record says whether it is of a run or of a load.

use tare_plan::ServerClock;
use tare_plan::condition::Condition;
use tare_plan::load_plan::{Arrivals, LoadModel, LoadPlan, LoadStop, Protocol, TlsTrust};
use tare_plan::plan::{Setting, Source};
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
        setup: None,
        model: LoadModel::Open { per_s: 0.1 + 0.2, stages: Vec::new(), arrivals: Arrivals::Poisson, tick: None },
        think: None,
        stop: LoadStop::Requests { count: u64::MAX, at_most: Span::from_secs(60) },
        warmup: Span::from_secs(1),
        connections: 64,
        protocol: Protocol::Http1 { pipeline: 1 },
        tls: Some(TlsTrust::Authorities { file: "ca.pem".to_owned() }),
        timeout: Span::from_secs(10),
        connect_timeout: Span::from_secs(5),
        load_cpus: "1".to_owned(),
        server: None,
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

#[test]
fn a_load_is_read_as_a_load() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("load.sqlite");
    let mut writer = RunWriter::create_load_file(&file, &load_header()).unwrap();
    writer.append_slice(&common::slice(0)).unwrap();
    let agent = AgentRecord { name: "ssh://a".to_owned(), ok: 7, clock_offset_ns: Some(-3), ..AgentRecord::default() };
    writer.append_agent(&agent).unwrap();
    writer.append_event(&common::event()).unwrap();
    assert!(matches!(writer.append_profile(&common::profile()), Err(RecordError::Scored { .. })));
    writer.finish(EndStatus::Interrupted, 5).unwrap();
    let Record::Load(record) = open_record(&file).unwrap() else { panic!("read as a run") };
    assert_eq!((record.header, record.agents), (load_header(), vec![agent]));
    assert_eq!(record.intervals, [common::slice(0)]);
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
