//! Fleets of simulated agents over pipes, and an agent whose coordinator misbehaves. No process, no socket, no sleep.

use std::io::{Read, Write, pipe};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use tare_load::{Cancel, RequestSpec, SessionSpec, SliceSample, Target, Watched};
use tare_plan::load_plan::{Arrivals, LoadModel, LoadStop, Protocol};
use tare_plan::{LoadPlan, ServerClock};
use tare_record::EventKind;
use tare_run::RunError;
use tare_run::load::{Equipment, LoadJob, LoadSource, MadeLoad, Observed};
use tare_sys::clock;
use tare_units::Span;

use super::AgentFleet;
use crate::link::tests::{FakeAgent, greeting, other_version, send, started};
use crate::load::agents::share_load;
use crate::load::tests::answer_all;
use crate::protocol::{
    AgentCores, AgentShare, Answer, ClockReading, Equipped, LONGEST_ORDER, LONGEST_REPORT, LoadCommand, LoadTask,
    LoadTotals, Order, Report, Task, Version, encode_frame, pack_sample, read_frame,
};
use crate::serve::serve_agent;

/// A load of ten seconds at 1,000 requests per second.
fn job() -> LoadJob {
    let plan = LoadPlan {
        url: "http://127.0.0.1:80/".to_owned(),
        request: "GET /".to_owned(),
        requests: 1,
        checks: 0,
        feeds: Vec::new(),
        setup: None,
        model: LoadModel::Open { per_s: 1000.0, stages: Vec::new(), arrivals: Arrivals::Even, tick: None },
        think: None,
        stop: LoadStop::Duration { span: Span::from_secs(10) },
        warmup: Span::from_secs(2),
        connections: 8,
        protocol: Protocol::Http1 { pipeline: 1 },
        tls: None,
        timeout: Span::from_secs(10),
        connect_timeout: Span::from_secs(5),
        load_cpus: "1".to_owned(),
        server: None,
        server_clock: ServerClock::Same,
        interval: Span::from_secs(1),
        seed: 7,
        conditions: Vec::new(),
        settings: Vec::new(),
    };
    let target = Target::Tcp("127.0.0.1:80".parse().unwrap());
    LoadJob::new(plan, SessionSpec::new(target, vec![RequestSpec::get("/")]), true)
}

/// How a simulated agent behaves.
#[derive(Clone, Copy)]
struct Behaviour {
    has_other_version: bool,
    /// What it answers to the command, unless that suits it.
    refusal: Option<&'static str>,
    /// Bytes that it sends before everything else.
    noise: &'static [u8],
    /// Samples of ten requests that it sends.
    samples: u64,
    /// Whether its pipes break after them.
    dies: bool,
    /// Whether it goes on to send samples for as long as anybody reads.
    floods: bool,
    /// Whether it waits for a Stop before it ends.
    goes_on: bool,
    /// How far its clock is ahead.
    ahead_ns: u64,
}

const GOOD: Behaviour = Behaviour {
    has_other_version: false,
    refusal: None,
    noise: b"",
    samples: 3,
    dies: false,
    floods: false,
    goes_on: false,
    ahead_ns: 0,
};

/// Length of the periods.
const EVERY_NS: u64 = 1_000_000_000;

fn sample(ok: u64) -> SliceSample {
    let mut sample = SliceSample {
        window_ns: EVERY_NS,
        workers: 1,
        offered: ok,
        sent: ok,
        ok,
        completed: ok,
        completed_in_slice: ok,
        ..SliceSample::default()
    };
    (0..ok).for_each(|_| {
        sample.response.record_ns(1_000_000);
        sample.send_lag.record_ns(50);
    });
    sample
}

impl Behaviour {
    /// Follows orders until they end.
    fn live(self) -> FakeAgent {
        Box::new(move |mut orders, mut reports| {
            let _ = reports.write_all(self.noise);
            let mut task = 0;
            while let Ok(Some(order)) = read_frame(&mut orders, LONGEST_ORDER) {
                if let Order::Task { number, .. } = &order {
                    task = *number;
                }
                self.reports(&order, task).iter().for_each(|report| send(&mut reports, report));
                let begins = matches!(order, Order::Begin { .. });
                if begins && self.dies {
                    return;
                }
                if begins && self.floods {
                    let more = encode_frame(&Report::Sample(pack_sample(sample(10), 0)), LONGEST_REPORT).unwrap();
                    while reports.write_all(&more).is_ok() {}
                    return;
                }
            }
        })
    }

    /// What it reports to an order; `number` is that of its latest task.
    fn reports(self, order: &Order, number: u64) -> Vec<Report> {
        let answer = |answer| Report::Answer { number, answer };
        let ok = 10 * self.samples;
        let done = || answer(Ok(Answer::Ended(LoadTotals { offered: ok, ok, completed: ok, ..LoadTotals::default() })));
        match order {
            Order::Hello(_) => {
                vec![greeting(if self.has_other_version { other_version() } else { Version::own() })]
            }
            Order::Task { task: Task::Load(LoadTask::OpenCommand(_)), .. } => vec![answer(match self.refusal {
                Some(reason) => Err(reason.to_owned()),
                None => {
                    let equipment = Equipment { load_cpus: "1".to_owned(), ..Equipment::default() };
                    Ok(Answer::Equipped(Equipped { equipment, shares_cpus: false }))
                }
            })],
            Order::Task { task: Task::Load(LoadTask::DriveCommand { .. }), .. } => vec![Report::Ready],
            Order::Task { .. } => vec![answer(Ok(Answer::Done))],
            Order::Ping { number } => {
                let (monotonic_ns, unix_ns) = (clock::now().0 + self.ahead_ns, clock::wall_unix_ns() + self.ahead_ns);
                vec![Report::Clock(ClockReading { number: *number, monotonic_ns, unix_ns })]
            }
            Order::Begin { .. } => {
                let samples = (0..self.samples).map(|_| Report::Sample(pack_sample(sample(10), 0)));
                samples.chain((!self.dies && !self.goes_on).then(done)).collect()
            }
            Order::Stop => vec![done()],
        }
    }
}

fn fleet(behaviours: &[Behaviour], cancel: &Cancel) -> Result<AgentFleet, RunError> {
    let mut group = started(behaviours.iter().map(|behaviour| behaviour.live()).collect());
    share_load(&mut group, vec![AgentCores::default(); behaviours.len()], cancel)?;
    AgentFleet::prepare(group, LoadCommand::default(), cancel).map(|(fleet, _)| fleet)
}

/// The load of a fleet at 3,000 requests per second, and the answers of each part that was shown.
fn load(fleet: &mut AgentFleet, cancel: &Cancel) -> (MadeLoad, Vec<u64>) {
    let mut parts = Vec::new();
    let made = fleet.make_load(&job(), cancel, &mut |observed| {
        if let Observed::Load(Watched::Interval(part)) = observed {
            assert_eq!((part.response.len(), u64::from(part.workers)), (part.ok, part.ok / 10), "of each agent");
            parts.push(part.ok);
        }
    });
    (made.unwrap(), parts)
}

#[test]
fn the_whole_is_the_sum_of_all_agents() {
    let cancel = Cancel::new();
    let mut fleet = fleet(&[GOOD; 3], &cancel).unwrap();
    assert_eq!(fleet.equipment(&job()).load_cpus, "1");
    let (made, parts) = load(&mut fleet, &cancel);
    assert_eq!(parts, [30, 30, 30]);
    assert_eq!(made.agents.iter().map(|agent| agent.ok).collect::<Vec<_>>(), [30, 30, 30]);
    assert!(made.events.is_empty() && !made.is_cut_short);
}

#[test]
fn a_lost_agent_leaves_the_rest_and_what_it_had_reported() {
    let cancel = Cancel::new();
    let lost = Behaviour { samples: 1, dies: true, ..GOOD };
    let (made, parts) = load(&mut fleet(&[GOOD, lost, GOOD], &cancel).unwrap(), &cancel);
    assert_eq!(parts, [30, 20, 20], "its share goes to nobody");
    assert_eq!(made.agents.iter().map(|agent| agent.ok).collect::<Vec<_>>(), [30, 10, 30]);
    let [event] = &made.events[..] else { panic!("{:?}", made.events) };
    let EventKind::AgentLost { agent, left, of, .. } = &event.kind else { panic!("{event:?}") };
    assert_eq!((agent.as_str(), left, of), ("agent 2", &2, &3));
    assert!(event.text.contains("2 of 3 agents are left: offered 667 of 1,000/s from second 1 on"), "{}", event.text);
}

#[test]
fn an_agent_that_floods_the_fleet_is_lost() {
    let cancel = Cancel::new();
    let flood = Behaviour { goes_on: true, floods: true, ..GOOD };
    let mut fleet = fleet(&[GOOD, flood], &cancel).unwrap();
    let (made, parts) = load(&mut fleet, &cancel);
    let [event] = &made.events[..] else { panic!("{:?}", made.events) };
    assert!(event.text.starts_with("agent 2: a sample that cannot be true: more samples came"), "{}", event.text);
    // The longer the machine was busy, the more periods had ended.
    assert_eq!((&parts[..3], made.agents[0].ok), (&[20, 20, 20][..], 30), "the other one is not disturbed");
}

#[test]
fn a_load_without_any_agent_left_ends_early() {
    let cancel = Cancel::new();
    let (made, parts) = load(&mut fleet(&[Behaviour { samples: 2, dies: true, ..GOOD }], &cancel).unwrap(), &cancel);
    assert_eq!((parts, made.is_cut_short, made.events.len()), (vec![10, 10], true, 1));
}

#[test]
fn a_clock_that_is_three_seconds_off_is_stated() {
    let cancel = Cancel::new();
    let ahead_ns = 3_000_000_000;
    let (made, _) = load(&mut fleet(&[GOOD, Behaviour { ahead_ns, ..GOOD }], &cancel).unwrap(), &cancel);
    let [here, ahead] = &made.agents[..] else { panic!("{:?}", made.agents) };
    let off_ns = ahead.clock_offset_ns.unwrap().abs_diff(ahead_ns as i64);
    assert!(off_ns <= ahead.round_trip_ns.unwrap(), "{ahead:?}");
    assert!(here.clock_offset_ns.unwrap().unsigned_abs() <= here.round_trip_ns.unwrap(), "{here:?}");
}

#[test]
fn a_fleet_that_is_not_whole_does_not_begin() {
    for (bad, says) in [
        (Behaviour { has_other_version: true, ..GOOD }, "agent 2: it speaks protocol 7 of tare 0.9.0"),
        (
            Behaviour { refusal: Some("nothing listens on 10.0.0.1:80"), ..GOOD },
            "agent 2: nothing listens on 10.0.0.1:80",
        ),
        (Behaviour { noise: b"Last login: Mon", ..GOOD }, "is it text that a shell prints at login?"),
        (Behaviour { noise: &[0, 0, 0, 2, 255, 255], ..GOOD }, "agent 2: bytes that are no message"),
    ] {
        let why = fleet(&[GOOD, bad], &Cancel::new()).unwrap_err().to_string();
        assert!(why.contains(says), "{says}: {why}");
    }
}

#[test]
fn ctrl_c_stops_all_agents_and_what_they_have_is_kept() {
    let cancel = Cancel::new();
    let mut fleet = fleet(&[Behaviour { goes_on: true, samples: 1, ..GOOD }; 2], &cancel).unwrap();
    let job = job();
    let mut answers = 0;
    let made = fleet.make_load(&job, &cancel, &mut |observed| {
        if let Observed::Load(Watched::Interval(part)) = observed {
            answers += part.ok;
            cancel.cancel();
        }
    });
    let made = made.unwrap();
    assert_eq!((answers, made.is_cut_short, made.events.len()), (20, true, 0));
}

/// What an agent reports to these orders, which then end.
fn reports_to(orders: &[Order]) -> Vec<Report> {
    let (mut reports, to_coordinator) = pipe().unwrap();
    let bytes: Vec<u8> = orders.iter().flat_map(|order| encode_frame(order, LONGEST_ORDER).unwrap()).collect();
    let (ended, end) = channel();
    let mut build = |command: &LoadCommand, _: &AgentShare| Err(format!("{} is no load", command.command.join(" ")));
    let _ = serve_agent(std::io::Cursor::new(bytes), to_coordinator, "bench", &mut build, move |_| {
        ended.send(()).unwrap();
    });
    end.recv().unwrap();
    let mut all = Vec::new();
    while let Ok(Some(report)) = read_frame(&mut reports, LONGEST_REPORT) {
        all.push(report);
    }
    let mut rest = Vec::new();
    assert_eq!(reports.read_to_end(&mut rest).unwrap(), 0, "an agent writes nothing but reports");
    all
}

fn hello() -> Order {
    Order::Hello(Version::own())
}

fn other_hello() -> Order {
    Order::Hello(other_version())
}

#[test]
fn an_agent_ends_with_its_orders_at_any_point() {
    assert!(reports_to(&[]).is_empty());
    let greeted = reports_to(&[hello()]);
    assert!(matches!(&greeted[..], [Report::Greeting(greeting)] if greeting.host == "bench"), "{greeted:?}");
    assert!(reports_to(&[Order::Begin { start_ns: 1 }]).is_empty(), "the first order is a greeting");
}

#[test]
fn an_agent_says_why_it_cannot_do_its_share() {
    let of_other = reports_to(&[other_hello()]);
    let [Report::Greeting(_), Report::Failed(why)] = &of_other[..] else { panic!("{of_other:?}") };
    let says = format!("it speaks protocol 7 of tare 0.9.0, and this is {};", Version::own());
    assert!(why.contains(&says), "{why}");
    let command = vec!["tare".to_owned(), "run".to_owned()];
    let open = LoadTask::OpenCommand(LoadCommand { command, ..LoadCommand::default() });
    let tasks = [(5, open), (6, LoadTask::DriveCommand { every_ns: 1 })];
    let orders = tasks.map(|(number, task)| Order::Task { number, task: Task::Load(task) });
    let reports = reports_to(&[&[hello()][..], &orders].concat());
    let [
        Report::Greeting(_),
        Report::Answer { number: 5, answer: Err(refused) },
        Report::Answer { number: 6, answer: Err(unprepared) },
    ] = &reports[..]
    else {
        panic!("{reports:?}")
    };
    assert_eq!(refused, "tare run is no load");
    assert!(unprepared.contains("no launch was prepared for the load of a command line"), "{unprepared}");
}

#[test]
fn an_agent_stays_after_its_last_report_until_its_orders_end() {
    let ((orders, mut to_agent), (mut from_agent, reports)) = (pipe().unwrap(), pipe().unwrap());
    let has_closed = Arc::new(AtomicBool::new(false));
    let closes = Arc::clone(&has_closed);
    let coordinator = thread::spawn(move || {
        to_agent.write_all(&encode_frame(&other_hello(), LONGEST_ORDER).unwrap()).unwrap();
        while let Ok(Some(report)) = read_frame(&mut from_agent, LONGEST_REPORT) {
            if matches!(report, Report::Failed(_)) {
                // An agent that does not wait has time to end.
                thread::yield_now();
                closes.store(true, Ordering::SeqCst);
                return;
            }
        }
    });
    serve_agent(orders, reports, "bench", &mut |_, _| unreachable!(), |_| {}).unwrap();
    assert!(has_closed.load(Ordering::SeqCst), "it ended before its coordinator had read the last report");
    coordinator.join().unwrap();
}

#[test]
fn an_agent_answers_pings_while_it_waits() {
    let reports = reports_to(&[Order::Ping { number: 7 }]);
    assert!(matches!(&reports[..], [Report::Clock(ClockReading { number: 7, .. })]), "{reports:?}");
}

/// A load of twenty requests, one after the other.
fn short_job(address: SocketAddr) -> LoadJob {
    let plan = LoadPlan {
        model: LoadModel::Closed,
        stop: LoadStop::Requests { count: 20, at_most: Span::from_secs(30) },
        warmup: Span::default(),
        connections: 1,
        ..job().plan
    };
    LoadJob::new(plan, SessionSpec::new(Target::Tcp(address), vec![RequestSpec::get("/")]), false)
}

#[test]
fn an_agent_closes_its_connections_with_its_load() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (closed, is_closed) = channel();
    thread::spawn(move || {
        let (connection, answers) = (listener.accept().unwrap().0, AtomicU64::new(0));
        answer_all(connection, &answers);
        closed.send(answers.into_inner()).unwrap();
    });
    let ((orders, mut to_agent), (mut from_agent, reports)) = (pipe().unwrap(), pipe().unwrap());
    thread::spawn(move || {
        let mut build = |_: &LoadCommand, _: &AgentShare| Ok(short_job(address));
        let _ = serve_agent(orders, reports, "bench", &mut build, |_| {});
    });
    let mut order = |order: Order| to_agent.write_all(&encode_frame(&order, LONGEST_ORDER).unwrap()).unwrap();
    order(hello());
    let tasks = [LoadTask::OpenCommand(LoadCommand::default()), LoadTask::DriveCommand { every_ns: EVERY_NS }];
    for (number, task) in (1..).zip(tasks) {
        order(Order::Task { number, task: Task::Load(task) });
    }
    let driven = loop {
        match read_frame(&mut from_agent, LONGEST_REPORT).unwrap().unwrap() {
            Report::Ready => order(Order::Begin { start_ns: clock::now().0 }),
            Report::Answer { number: 2, answer } => break answer,
            _ => {}
        }
    };
    assert!(matches!(driven, Ok(Answer::Ended(LoadTotals { ok: 20, .. }))), "{driven:?}");
    // Its orders go on, and so does the agent.
    assert_eq!(is_closed.recv_timeout(Duration::from_secs(60)), Ok(20));
    order(Order::Stop);
}
