//! Both ends of the conversation about servers over pipes: the real agent, and agents that misbehave.

use std::sync::Arc;

use tare_plan::profile::ProfileEvent;
use tare_run::server_host::{
    SamplingOrder, ServerId, ServerMachine, StartFailure, StartOrder, StartOrigin, StartedServers,
};
use tare_sut::SutError;
use tare_sut::server::Status;

use super::remote_servers::RemoteServers;
use super::{HostChoice, RemoteHost};
use crate::link::tests::{FakeAgent, agent_that_answers, greeting, group_of, other_version, send};
use crate::protocol::{Answer, Bytes, FilePart, Report, ServersTask, Task, answer_of};
use crate::serve::serve_agent;

const LOCAL: HostChoice<'static> = HostChoice { place: "local:", address: None, java: None };

/// A machine whose agent behaves so.
fn host_of(agent: FakeAgent) -> Result<RemoteHost, String> {
    let host = group_of(agent).and_then(|group| RemoteHost::with_agent(LOCAL, group));
    host.map_err(|error| error.to_string())
}

fn real_agent() -> FakeAgent {
    Box::new(|orders, reports| {
        let mut build = |_: &_, _: &_| Err("no load".to_owned());
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
    assert_eq!(host.ask(ServersTask::Status(ServerId(0)), answer_of!(Status)).unwrap(), Status::Stopped);
    let part = FilePart { path: "a".to_owned(), is_executable: false, is_first: true, contents: Bytes::default() };
    let keep = ServersTask::Keep { hash: "../x".to_owned(), part };
    assert_eq!(host.ask(keep, Some).unwrap_err().to_string(), "agent agent 1: it has no hash");
    host.agent().send_task(0, Task::Servers(ServersTask::LookAtJvm(ServerId(7))), false);
    let status = host.ask(ServersTask::Status(ServerId(1)), answer_of!(Status)).unwrap();
    assert_eq!(status, Status::Stopped, "the right answer is taken");
    host.agent().check().unwrap();
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
    assert_eq!(why, "on local: \"../a\" is no file name");
    assert!(servers.end_sampling().unwrap_err().to_string().contains("no sampler was attached"));
    let ended = host.ask(ServersTask::EndSampling, answer_of!(Sampled));
    assert!(ended.unwrap_err().to_string().contains("no sampler was attached"));
    host.agent().check().unwrap();
}

#[test]
fn a_start_there_whose_ports_others_took_is_told_from_a_server_that_failed() {
    let (host, folder) = (host_of(real_agent()).unwrap(), tempfile::tempdir().unwrap());
    let servers = RemoteServers::new(&host, folder.path(), folder.path(), Arc::default());
    let origin = StartOrigin::External("127.0.0.1:80".parse().unwrap());
    let address = "127.0.0.1".parse().unwrap();
    let start = StartOrder { id: ServerId(0), origin, open_files: 0, meter: None, logs_stops: false, address };
    let (server, owner) = ("app".to_owned(), "PID 1 (other)".to_owned());
    let lost = StartFailure::from(SutError::PortLost { server, port: 40_000, owner, tries: 5 });
    let sent = serde_json::to_string(&Err::<(), _>(lost)).unwrap();
    let error = servers.check_started(&start, serde_json::from_str(&sent).unwrap()).unwrap_err();
    assert!(error.is_port_lost, "a run voids no server for it: {error:?}");
    assert!(error.text.starts_with("on local: app: port 40000 was free when tare chose it"), "{error:?}");
}

#[test]
fn an_agent_that_misbehaves_is_given_up_with_the_reason() {
    for (answer, says) in [
        (
            (|number| Some(Report::Answer { number, answer: Ok(Answer::Done) })) as fn(u64) -> _,
            "its answer belongs to another order",
        ),
        (|number| Some(Report::Answer { number, answer: Err("no room".to_owned()) }), "no room"),
        (|_| Some(Report::Failed("the disk is full".to_owned())), "the disk is full"),
        (|_| None, "its process ended"),
    ] {
        let why = host_of(agent_that_answers(move |number, _| answer(number))).unwrap_err();
        assert!(why.starts_with("agent agent 1: ") && why.contains(says), "{says}: {why}");
    }
    let other = host_of(Box::new(|_, mut reports| send(&mut reports, &greeting(other_version()))));
    assert!(other.unwrap_err().contains("it speaks protocol 7 of tare 0.9.0"));
}
