//! Real agents over pipes with a real server, and agents that misbehave.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tare_load::SliceSample;
use tare_load::{Cancel, Sending};
use tare_plan::ServerClock;
use tare_plan::contract::{Expect, Request, Scenario};
use tare_plan::plan::NamedScenario;
use tare_plan::plan::{Protocol, SliceKind, Transport};
use tare_record::{EventKind, Phase};
use tare_run::RunError;
use tare_run::load_host::{Destination, DriveStage, LoadMachines, RunLoad, SessionOrder, SliceLoad};
use tare_run::server_host::ServerId;
use tare_sys::affinity::allowed_cpus;
use tare_sys::clock;
use tare_units::Span;

use super::agents::{AgentLoad, share_load};
use super::*;
use crate::link::tests::{FakeAgent, agent_that_answers, group_of, started};
use crate::protocol::{
    AgentCores, Answer, DrivenShare, LONGEST_ORDER, LONGEST_REPORT, LoadCommand, LoadTask, MachineFacts, Order, Report,
    Task, answer_of, encode_frame, pack_sample, read_frame,
};
use crate::serve::serve_agent;

const SERVER: ServerId = ServerId(0);

/// A session with a server at this address that answers 200 to everything.
fn session_to(address: SocketAddr, connections: u32) -> SessionOrder {
    let request =
        Request { method: "GET".to_owned(), path: "/".to_owned(), grpc: None, headers: BTreeMap::new(), body: None };
    let expect = Expect { status: 200, ..Expect::default() };
    let scenario = Scenario { routes: 1, request, expect, ..Scenario::default() };
    SessionOrder {
        server: SERVER,
        destination: Destination { address, host: None },
        named: NamedScenario { name: "Get".to_owned(), scenario },
        transport: Transport::default(),
        connections,
        timeout: Span::from_secs(1),
        congestion: None,
        server_clock: ServerClock::default(),
        is_search: false,
    }
}

/// A server that answers everything with 200, and how many answers it has given.
fn counting_server() -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, answers) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
    let counter = Arc::clone(&answers);
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let counter = Arc::clone(&counter);
            thread::spawn(move || answer_all(connection, &counter));
        }
    });
    (address, answers)
}

/// One request at a time comes on a connection.
pub(super) fn answer_all(mut connection: TcpStream, answers: &AtomicU64) {
    let (mut request, mut read) = (Vec::new(), [0; 4096]);
    while let Ok(bytes) = connection.read(&mut read) {
        request.extend_from_slice(&read[..bytes]);
        if request.ends_with(b"\r\n\r\n") {
            request.clear();
            answers.fetch_add(1, Ordering::SeqCst);
            if connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n4").is_err() {
                return;
            }
        }
        if bytes == 0 {
            return;
        }
    }
}

fn agents(behaviours: Vec<FakeAgent>) -> Result<LoadAgents, RunError> {
    let load_cpus = allowed_cpus().unwrap().to_string();
    let cores = vec![AgentCores { load_cpus, ..AgentCores::default() }; behaviours.len()];
    let mut group = started(behaviours);
    share_load(&mut group, cores, &Cancel::default())?;
    LoadAgents::of_run(group)
}

fn real_agent() -> FakeAgent {
    Box::new(|orders, reports| {
        let mut build = |_: &_, _: &_| Err("no load of its own".to_owned());
        let _ = serve_agent(orders, reports, "bench", &mut build, |_| ());
    })
}

fn load(kind: SliceKind, users: u32, rate_per_s: f64) -> SliceLoad {
    let (length, discard) = (Duration::from_millis(60), Duration::ZERO);
    let (phase, sending) = (Phase::Measure, Sending::Exact);
    SliceLoad { kind, phase, round: 0, users, rate_per_s, length, discard, seed: 3, sending }
}

#[test]
fn all_agents_are_greeted_before_one_is_waited_for() {
    let (greeted, other_was_greeted) = channel();
    let slow: FakeAgent = Box::new(move |orders, reports| {
        other_was_greeted.recv().unwrap();
        real_agent()(orders, reports);
    });
    let next: FakeAgent = Box::new(move |mut orders, reports| {
        let hello: Order = read_frame(&mut orders, LONGEST_ORDER).unwrap().unwrap();
        greeted.send(()).unwrap();
        let orders = Cursor::new(encode_frame(&hello, LONGEST_ORDER).unwrap()).chain(orders);
        let mut build = |_: &_, _: &_| Err("no load of its own".to_owned());
        let _ = serve_agent(orders, reports, "bench", &mut build, |_| ());
    });
    let all = agents(vec![slow, next]).unwrap().sections();
    assert_eq!(all[0].facts, [("agents".to_owned(), "agent 1, agent 2".to_owned())]);
}

/// An agent whose turn began `begun_ns_ago` before its answer, and that sent its one request late by `late_ns`.
fn agent_with_turn(begun_ns_ago: u64, late_ns: u64) -> FakeAgent {
    agent_with_requests(begun_ns_ago, late_ns, &[9])
}

/// An agent whose turn began `begun_ns_ago` before its answer. It sent each request late by `late_ns`, and the server answered
/// after `service_ns`.
fn agent_with_requests(begun_ns_ago: u64, late_ns: u64, service_ns: &'static [u64]) -> FakeAgent {
    let requests = service_ns.len() as u64;
    agent_that_answers(move |number, task| {
        let counts = SliceSample { offered: requests, sent: requests, ok: requests, ..SliceSample::default() };
        let mut sample = SliceSample { window_ns: 60_000_000, workers: 1, ..counts };
        for took_ns in service_ns {
            sample.response.record_ns(late_ns + took_ns);
            sample.service.record_ns(*took_ns);
            sample.send_lag.record_ns(late_ns);
        }
        let answer = match task {
            Task::Describe { .. } => Answer::Facts(MachineFacts::default()),
            Task::Load(LoadTask::Disturbances) => Answer::Disturbances(Vec::new()),
            Task::Load(LoadTask::DriveTurn { .. }) => {
                Answer::Driven(DrivenShare { sample: pack_sample(sample, 0), begun_ns_ago })
            }
            _ => Answer::Done,
        };
        Some(Report::Answer { number, answer: Ok(answer) })
    })
}

#[test]
fn an_agent_that_is_late_in_a_turn_is_named_once() {
    // A start at 0 of the clock (the largest age saturates), and a start just now.
    let (early, now) = (u64::MAX, 0);
    let agents =
        agents(vec![agent_with_turn(early, 5), agent_with_turn(now, 5), agent_with_turn(early, 4_000_000_000)])
            .unwrap();
    let mut generator = AgentLoad::new(&agents, Arc::new(AtomicBool::new(false)));
    let mut reported = Vec::new();
    for phase in [Phase::Warmup, Phase::Measure, Phase::Measure] {
        let turn = SliceLoad { phase, ..load(SliceKind::Poisson, 3, 50.0) };
        let mut on_stage = |stage| reported.extend(matches!(stage, DriveStage::Disturbed(_)).then_some(stage));
        assert_eq!(generator.drive(SERVER, &turn, &mut on_stage).unwrap().ok, 3);
    }
    let disturbed = |agent: &str, reason: &str| {
        DriveStage::Disturbed(EventKind::AgentDisturbed { agent: agent.to_owned(), reason: reason.to_owned() })
    };
    assert_eq!(reported[1..], [disturbed("agent 3", "it sent 100 % of the requests of a turn more than 1 ms late")]);
    let DriveStage::Disturbed(EventKind::AgentDisturbed { agent, reason }) = &reported[0] else {
        panic!("{reported:?}")
    };
    assert!(agent == "agent 2" && reason.ends_with(" ms after another agent"), "{reason}");
}

#[test]
fn an_agent_that_stands_still_in_a_closed_turn_is_named() {
    const PAUSE_NS: u64 = 400_000_000;
    // All began at 0 of the clock. The last answers came after the pause, to one user, and to both.
    let others_ended = u64::MAX - PAUSE_NS;
    let one_waited = agent_with_requests(u64::MAX, 0, &[9, PAUSE_NS + 9]);
    let reported =
        reported_disturbances(vec![agent_with_turn(others_ended, 0), agent_with_turn(others_ended, 0), one_waited]);
    assert_eq!(reported, []);
    let both_waited = agent_with_requests(u64::MAX, 0, &[9, PAUSE_NS + 9, PAUSE_NS + 30_000]);
    let reported =
        reported_disturbances(vec![agent_with_turn(others_ended, 0), agent_with_turn(others_ended, 0), both_waited]);
    assert_eq!(reported, [("agent 3".to_owned(), "it stood still for 400 ms in a turn".to_owned())]);
}

#[test]
fn an_agent_whose_slow_answers_end_last_has_not_stood_still() {
    let others_ended = u64::MAX - 100_000_000;
    let slow = || agent_with_requests(others_ended, 0, &[2_900_000_000, 3_300_000_000]);
    let last = agent_with_requests(u64::MAX, 0, &[3_000_000_000, 3_400_000_000]);
    assert_eq!(reported_disturbances(vec![slow(), slow(), last]), []);
}

/// The disturbances that one closed turn reports, with two users for each of three agents.
fn reported_disturbances(behaviours: Vec<FakeAgent>) -> Vec<(String, String)> {
    let agents = agents(behaviours).unwrap();
    let mut generator = AgentLoad::new(&agents, Arc::new(AtomicBool::new(false)));
    let mut reported = Vec::new();
    let turn = load(SliceKind::Saturating, 6, 0.0);
    generator
        .drive(SERVER, &turn, &mut |stage| {
            if let DriveStage::Disturbed(EventKind::AgentDisturbed { agent, reason }) = stage {
                reported.push((agent, reason));
            }
        })
        .unwrap();
    reported
}

#[test]
fn the_closing_event_says_how_far_apart_the_agents_began() {
    let agents = agents(vec![agent_with_turn(u64::MAX, 0), agent_with_turn(u64::MAX, 0)]).unwrap();
    let mut generator = AgentLoad::new(&agents, Arc::new(AtomicBool::new(false)));
    assert_eq!(generator.closing_event(), None);
    for phase in [Phase::Warmup, Phase::Measure, Phase::Measure] {
        let turn = SliceLoad { phase, ..load(SliceKind::Saturating, 2, 0.0) };
        generator.drive(SERVER, &turn, &mut |_| ()).unwrap();
    }
    let begun = generator.closing_event().unwrap();
    let EventKind::AgentsBegan { turns: 2, median_ns, p99_ns } = begun else { panic!("{begun:?}") };
    // Both began at 0 of the clock. A histogram has no 0.
    assert!(median_ns <= 1 && p99_ns <= 1, "{begun:?}");
}

#[test]
fn the_turns_of_two_agents_add_up_to_what_the_server_answered() {
    let (address, answers) = counting_server();
    let agents = agents(vec![real_agent(), real_agent()]).unwrap();
    let mut generator = AgentLoad::new(&agents, Arc::new(AtomicBool::new(false)));
    generator.open(vec![session_to(address, 6)]).unwrap();
    for (kind, rate_per_s) in [(SliceKind::Saturating, 0.0), (SliceKind::Poisson, 2_000.0)] {
        let (before, begun) = (answers.load(Ordering::SeqCst), clock::now());
        let sample = generator.drive(SERVER, &load(kind, 6, rate_per_s), &mut |_| {}).unwrap();
        let answered = answers.load(Ordering::SeqCst) - before;
        assert!(answered > 0 && sample.failed == 0, "{kind:?}: {sample:?}");
        assert_eq!(sample.completed_in_slice, answered, "{kind:?}");
        assert!((begun.0..=clock::now().0).contains(&sample.start_ns), "{kind:?} begins on the clock of this process");
        assert!(sample.workers >= 2, "each agent has its own: {sample:?}");
    }
    let least = generator.least_users();
    let fewest = generator.drive(SERVER, &load(SliceKind::Saturating, least, 0.0), &mut |_| {}).unwrap();
    assert!(fewest.ok > 0 && fewest.failed == 0 && least >= fewest.workers, "one user for each worker: {fewest:?}");
    let fewer = generator.drive(SERVER, &load(SliceKind::Saturating, least - 1, 0.0), &mut |_| {});
    assert!(fewer.unwrap_err().to_string().contains("a slice of"), "no other number is driven than was asked for");
    generator.open(vec![session_to(address, 3)]).unwrap();
    let uneven = generator.drive(SERVER, &load(SliceKind::Saturating, 3, 0.0), &mut |_| {}).unwrap();
    assert!(uneven.ok > 0 && uneven.failed == 0, "two users of one agent, and one of the other: {uneven:?}");
    generator.close();
    let gone = generator.drive(SERVER, &load(SliceKind::Saturating, 3, 0.0), &mut |_| {});
    assert!(gone.unwrap_err().to_string().starts_with("agent agent 1: "), "no session is open");
    let titles: Vec<String> = agents.sections().into_iter().map(|section| section.title).collect();
    assert_eq!(titles[..3], ["Agents of the load", "Machine of agent 1", "Kernel of agent 1"]);
}

#[test]
fn each_worker_of_an_agent_has_one_of_the_connections_that_carry_several_requests() {
    let (address, _) = counting_server();
    let agents = agents(vec![real_agent(), real_agent()]).unwrap();
    let mut generator = AgentLoad::new(&agents, Arc::new(AtomicBool::new(false)));
    let transport = Transport { protocol: Protocol::Http1 { pipeline: 8 }, ..Transport::default() };
    let session = SessionOrder { transport, timeout: Span::from_millis(100), ..session_to(address, 6) };
    generator.open(vec![session]).unwrap();
    let fewest = load(SliceKind::Saturating, generator.least_users(), 0.0);
    let driven = generator.drive(SERVER, &fewest, &mut |_| {});
    assert!(driven.is_ok_and(|sample| sample.workers >= 2), "{} users", fewest.users);
}

#[test]
fn an_agent_that_misbehaves_ends_the_run_with_the_reason() {
    let done = |number, _| Some(Report::Answer { number, answer: Ok(Answer::Done) });
    for (bad, says) in [
        (agent_that_answers(done), "agent 2: its answer belongs to another order"),
        (agent_that_answers(|_, _| Some(Report::Failed("no room".to_owned()))), "agent 2: no room"),
        (agent_that_answers(|_, _| None), "agent 2: its process ended"),
    ] {
        let why = agents(vec![real_agent(), bad]).unwrap_err().to_string();
        assert!(why.contains(says), "{says}: {why}");
    }
}

#[test]
fn an_answer_that_is_too_long_to_be_sent_is_an_error_and_not_the_end_of_the_agent() {
    let mut group = group_of(Box::new(|orders, reports| {
        let mut build = |_: &_, _: &_| Err("x".repeat(LONGEST_REPORT as usize));
        let _ = serve_agent(orders, reports, "bench", &mut build, |_| ());
    }))
    .unwrap();
    let long = Task::Load(LoadTask::OpenCommand(LoadCommand::default()));
    let why = group.call_first(long, None, answer_of!(Equipped)).unwrap_err().to_string();
    assert!(why.starts_with("agent agent 1: its answer takes 16777") && why.ends_with("{ bytes = N }"), "{why}");
    group.call_first(Task::Load(LoadTask::Close), None, Some).unwrap();
}

#[test]
fn a_task_has_the_time_that_it_names() {
    let long = SliceLoad { length: Duration::from_secs(600), ..load(SliceKind::Saturating, 2, 0.0) };
    assert_eq!(Task::Load(LoadTask::DriveTurn { server: SERVER, load: long }).named_time(), Duration::from_secs(600));
    assert_eq!(Task::Load(LoadTask::Close).named_time(), Duration::ZERO);
}

#[test]
fn ctrl_c_ends_a_turn_and_what_was_measured_is_kept() {
    let (address, _) = counting_server();
    let agents = agents(vec![real_agent()]).unwrap();
    let cancelled = Arc::new(AtomicBool::new(false));
    let mut generator = AgentLoad::new(&agents, Arc::clone(&cancelled));
    generator.open(vec![session_to(address, 2)]).unwrap();
    cancelled.store(true, Ordering::SeqCst);
    let long = SliceLoad { length: Duration::from_secs(600), ..load(SliceKind::Saturating, 2, 0.0) };
    let sample = generator.drive(SERVER, &long, &mut |_| {}).unwrap();
    assert!(sample.cancelled);
}
