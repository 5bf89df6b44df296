//! Both ends of the conversation about servers over pipes: the real agent, and agents that misbehave.

use std::io::Write;
use std::sync::Arc;

use crate::{Failure, Greeting, Report, ReportKind, RunReport, encode_frame};
use tare_plan::profile::ProfileEvent;
use tare_record::{Hiccups, Pause, PauseCause, RuntimeUse, ServerUse};
use tare_stats::histogram::LatencyHistogram;
use tare_sut::server::Status;
use tare_sys::child::How;

use super::message::{HostOrder, HostReport, PackedUse, ServerStatus};
use super::remote_servers::RemoteServers;
use super::{HostChoice, RemoteHost};
use crate::link::client::AgentTask;
use crate::link::tests::{FakeAgent, agent_that_answers, fake_client};
use crate::serve::serve_agent;
use tare_run::server_host::{SamplingOrder, ServerHost, ServerId, ServerMachine};

const LOCAL: HostChoice<'static> = HostChoice { place: "local:", address: None, java: None };

/// A machine whose agent behaves so.
fn host_of(agent: FakeAgent) -> Result<RemoteHost, String> {
    RemoteHost::with_client(LOCAL, None, fake_client(AgentTask::Servers, agent)).map_err(|error| error.to_string())
}

fn real_agent() -> FakeAgent {
    Box::new(|orders, reports| {
        let mut build = |_: &_| Err("no load".to_owned());
        serve_agent(orders, reports, "bench", &mut build, |_| ()).unwrap();
    })
}

#[test]
fn the_real_agent_describes_its_machine_and_answers_for_servers() {
    let host = host_of(real_agent()).unwrap();
    assert_eq!(host.cpus(), tare_sys::affinity::allowed_cpus().unwrap());
    let sections = host.sections();
    let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(titles, ["Server host", "Machine", "Kernel"]);
    assert!(sections[0].facts[2].1.ends_with("ms (median of 16 TCP connects)"), "{:?}", sections[0]);
    let bandwidth = &sections[0].facts[3].1;
    assert!(bandwidth.contains("bit/s to the servers, ") && bandwidth.contains("bit/s back ("), "{bandwidth}");
    let status = |report| match report {
        HostReport::Status(status) => Some(Status::from(status)),
        _ => None,
    };
    assert_eq!(host.ask(&HostOrder::Status(ServerId(0)), status).unwrap(), Status::Stopped);
    let keep = HostOrder::Keep { hash: "../x".to_owned(), path: "a".to_owned(), is_executable: false, is_first: true };
    assert_eq!(host.call(&keep, Vec::new(), None).unwrap_err().to_string(), "agent local: it has no hash");
    host.send_order(&HostOrder::LookAtJvm(ServerId(7)));
    assert_eq!(
        host.ask(&HostOrder::Status(ServerId(1)), status).unwrap(),
        Status::Stopped,
        "the right answer is taken"
    );
    host.check().unwrap();
}

#[test]
fn what_a_sampler_says_there_names_the_machine() {
    let (host, folder) = (host_of(real_agent()).unwrap(), tempfile::tempdir().unwrap());
    let mut servers = RemoteServers::new(&host, folder.path(), folder.path(), Arc::default());
    let order = |file_name: &str| SamplingOrder {
        server: ServerId(3),
        event: ProfileEvent::Cpu,
        file_name: file_name.to_owned(),
    };
    let why = servers.begin_sampling(&order("a")).unwrap_err().to_string();
    assert_eq!(
        why,
        "on local: cannot profile a server that runs elsewhere: its process cannot be seen; let tare start it, with a \
         command in a suite file"
    );
    let why = servers.begin_sampling(&order("../a")).unwrap_err().to_string();
    assert_eq!(why, "agent local: \"../a\" is no file name");
    assert!(servers.end_sampling().unwrap_err().to_string().contains("no sampler was attached"));
    let ended = host.ask(&HostOrder::EndSampling, |report| match report {
        HostReport::SamplerFailed(reason) => Some(reason),
        _ => None,
    });
    assert!(ended.unwrap().contains("no sampler was attached"));
    host.check().unwrap();
}

#[test]
fn an_agent_that_misbehaves_is_given_up_with_the_reason() {
    for (answer, says) in [
        (
            (|number| Some(ReportKind::Run(RunReport { number, report: "{".to_owned(), ..RunReport::default() })))
                as fn(u64) -> _,
            "an answer that cannot be read",
        ),
        (
            |number| Some(ReportKind::Run(RunReport { number, report: "\"Done\"".to_owned(), ..RunReport::default() })),
            "its answer belongs to another order",
        ),
        (|_| Some(ReportKind::Failed(Failure { reason: "the disk is full".to_owned() })), "the disk is full"),
        (|_| None, "its process ended"),
    ] {
        let why = host_of(agent_that_answers(answer)).unwrap_err();
        assert!(why.starts_with("agent local: ") && why.contains(says), "{says}: {why}");
    }
    let other = host_of(Box::new(|_, mut reports| {
        let greeting = Greeting { protocol: 7, version: "0.9.0".to_owned(), host: String::new() };
        let _ = reports.write_all(&encode_frame(&Report::from(ReportKind::Greeting(greeting))).unwrap());
    }));
    assert!(other.unwrap_err().contains("it speaks protocol 7 of tare 0.9.0"));
}

#[test]
fn what_a_server_used_arrives_with_its_histograms() {
    let mut machine = LatencyHistogram::new();
    machine.record_ns(7_000_000);
    let pauses = vec![Pause { at_ns: 5, length_ns: 7_000_000, cause: PauseCause::Machine }];
    let hiccups = Hiccups { machine: machine.clone(), jvm: Some(machine), pauses };
    let runtime = Some(RuntimeUse { collections: Some(3), ..RuntimeUse::default() });
    let used = ServerUse { rss_bytes: Some(9), runtime, hiccups: Some(hiccups), ..ServerUse::default() };
    for used in [used, ServerUse::default()] {
        let text = serde_json::to_string(&PackedUse::pack(used.clone())).unwrap();
        assert_eq!(serde_json::from_str::<PackedUse>(&text).unwrap().unpack().unwrap(), used);
    }
    let broken = r#"{"usage": {"hiccups": {"pauses": []}}, "hiccups": [[1, 2, 3], null]}"#;
    assert!(serde_json::from_str::<PackedUse>(broken).unwrap().unpack().is_err());
}

#[test]
fn a_status_arrives_as_it_was_sent() {
    for status in [
        Status::Running,
        Status::Stopped,
        Status::Exited(How::Code(3)),
        Status::Exited(How::Signal(9)),
        Status::Exited(How::SupervisorKilled),
    ] {
        assert_eq!(Status::from(ServerStatus::from(status)), status);
    }
}
