//! Whole runs on the simulated test bed: what is decided, without a process.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod forks;
mod latency;
mod progress;
mod resumed;
mod scenarios;
mod servers;
mod simulation;
mod warmup;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_plan::Plan;
use tare_plan::contract::Push;
use tare_plan::contract::{Expect, Request, Scenario};
use tare_plan::plan::{
    Forks, Group, Load, Machine, Mode, NamedScenario, Program, Rate, Role, Slices, Stop, Variant, Warmup,
};
use tare_plan::turn::TurnLength;
use tare_record::checkpoint::{ComparisonState, ReasonToStop};
use tare_record::environment::{Environment, FactSection, NetworkBandwidth};
use tare_record::{EndStatus, EventKind, EventLevel, EventName, EventRecord, Phase, RunHeader, RunRecord, StoredSlice};
use tare_sut::contract::GivenAnswer;
use tare_sut::jdk::Jdk;
use tare_sys::affinity::CpuSet;
use tare_units::Span;

use crate::context::cores::Cores;
use crate::context::journal::Journal;
use crate::context::{ReasonsToStop, RunContext};
use crate::error::RunError;
use crate::progress::Progress;
use crate::server_host::{ServerHost, ServerMachine};
use crate::test_bed::slice::SliceLoad;
use simulation::{Action, Planted, PlantedStops, SimulatedBed, Told, World};

const SECOND: Duration = Duration::from_secs(1);

/// A place for servers beside an agent, with one core and every file.
pub(crate) struct ServersElsewhere {
    pub is_another_machine: bool,
}

impl ServersElsewhere {
    pub const CORE: usize = 1_000;
}

impl fmt::Display for ServersElsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("elsewhere")
    }
}

impl ServerMachine for ServersElsewhere {
    fn address(&self) -> IpAddr {
        [192, 0, 2, 1].into()
    }

    fn cpus(&self) -> CpuSet {
        CpuSet::from_indices([Self::CORE])
    }

    fn is_another_machine(&self) -> bool {
        self.is_another_machine
    }

    fn bandwidth(&self) -> NetworkBandwidth {
        NetworkBandwidth::default()
    }

    fn sections(&self) -> Vec<FactSection> {
        Vec::new()
    }

    fn find_java(&self, _: u32, _: Option<&Path>) -> Result<Jdk, RunError> {
        unreachable!("no server is of the catalog")
    }

    fn disturbances(&self, _: &CpuSet) -> Result<Vec<EventRecord>, RunError> {
        Ok(Vec::new())
    }

    fn send_if_missing(&self, path: &Path) -> Result<PathBuf, RunError> {
        Ok(Path::new("/there").join(path.file_name().unwrap()))
    }

    fn servers<'a>(&'a self, _: &'a Path, _: &'a Path, _: Arc<AtomicBool>) -> Box<dyn ServerHost + 'a> {
        unreachable!("none is started")
    }
}

/// A run on the simulated bed, and what was seen of it.
struct Simulation {
    plan: Plan,
    world: Rc<RefCell<World>>,
}

/// What a simulated run left behind.
struct Outcome {
    record: RunRecord,
    status: EndStatus,
    actions: Vec<Action>,
    /// Variant, kind and rate of each line about a slice to come.
    announced: Vec<(String, String, Option<String>)>,
    /// Everything that was shown, in short.
    shown: Vec<String>,
    /// What the servers of the last scenario had to answer.
    agreed: Option<GivenAnswer>,
}

impl Simulation {
    fn new(plan: Plan) -> Self {
        let world = World { startup: SECOND, ..World::default() };
        Self { plan, world: Rc::new(RefCell::new(world)) }
    }

    fn plant(self, variant: &str, planted: Planted) -> Self {
        self.world.borrow_mut().planted.insert(variant.to_owned(), planted);
        self
    }

    /// The generator has this many workers.
    fn with_workers(self, workers: u32) -> Self {
        self.world.borrow_mut().workers = workers;
        self
    }

    fn rebuild_at(self, at: Duration) -> Self {
        self.world.borrow_mut().rebuilt_at = Some(at);
        self
    }

    fn interrupt_at(self, at: Duration) -> Self {
        self.world.borrow_mut().interrupted_at = Some(at);
        self
    }

    fn run(self) -> Outcome {
        self.run_with(&|_| Vec::new())
    }

    fn run_with(self, reasons_to_stop: &ReasonsToStop<'_>) -> Outcome {
        self.go_on(None, reasons_to_stop)
    }

    /// Goes on with an interrupted run.
    fn resume(self, mut interrupted: RunRecord, reasons_to_stop: &ReasonsToStop<'_>) -> Outcome {
        let whole = interrupted.checkpoint.as_ref().unwrap().entries;
        interrupted.slices.truncate(whole.slices);
        interrupted.forks.truncate(whole.forks);
        interrupted.warmups.truncate(whole.warmups);
        interrupted.cross_checks.truncate(whole.cross_checks);
        interrupted.events.truncate(whole.events);
        interrupted.profiles.truncate(whole.profiles);
        interrupted.end = None;
        self.go_on(Some(interrupted), reasons_to_stop)
    }

    fn go_on(self, went_before: Option<RunRecord>, reasons_to_stop: &ReasonsToStop<'_>) -> Outcome {
        let Self { plan, world } = self;
        let (mut announced, mut shown) = (Vec::new(), Vec::new());
        let mut observer = |progress: &Progress<'_>| {
            shown.push(in_short(progress));
            if let Progress::At(_, text) = progress
                && let [_, variant, kind, slice, rate @ ..] = text.split("  ").collect::<Vec<_>>().as_slice()
                && slice.contains('/')
            {
                let rate = rate.first().map(|rate| (*rate).to_owned());
                announced.push(((*variant).to_owned(), (*kind).to_owned(), rate));
            }
        };
        let cpus = |list: &str| list.parse().unwrap();
        let cores = Cores {
            server: cpus("0"),
            load: cpus("1"),
            warmup: cpus("0-1"),
            are_apart: false,
            has_host: false,
            has_agents: false,
        };
        let record = went_before.unwrap_or_else(|| RunRecord::begin(header(&plan)));
        world.borrow_mut().now = record.checkpoint.as_ref().map_or(Duration::ZERO, |c| Duration::from_nanos(c.at_ns));
        let journal = Journal::begin(record, None, &mut observer);
        let bed = Box::new(SimulatedBed::new(Rc::clone(&world)));
        let mut context = RunContext::new(&plan, cores, bed, journal, reasons_to_stop);
        context.checkpoint.files = BTreeMap::from([simulation::program("1")]);
        let status = crate::measure(&mut context).unwrap();
        let record = context.finish(status).unwrap();
        let World { actions, agreed, .. } = &*world.borrow();
        Outcome { record, status, actions: actions.clone(), announced, shown, agreed: agreed.clone() }
    }
}

impl Outcome {
    fn scored(&self) -> impl Iterator<Item = &StoredSlice> {
        self.record.slices.iter().filter(|slice| slice.key.phase == Phase::Measure)
    }

    /// Scored slices of a cell, over all forks.
    fn count(&self, scenario: &str, variant: &str) -> usize {
        self.scored().filter(|slice| slice.key.scenario == scenario && slice.key.variant == variant).count()
    }

    /// Group and number of each fork, in the order in which they were measured.
    fn forks(&self) -> Vec<(String, u32)> {
        let mut forks: Vec<(String, u32)> =
            self.record.slices.iter().map(|slice| (slice.key.group.clone(), slice.key.fork)).collect();
        forks.dedup();
        forks
    }

    fn event(&self, name: EventName) -> &EventRecord {
        let found = self.record.events.iter().find(|event| event.kind.name() == name);
        found.unwrap_or_else(|| panic!("no event: {name:?}"))
    }

    fn driven(&self) -> Vec<(String, String, SliceLoad)> {
        let driven = |action: &Action| match action {
            Action::Drive { variant, scenario, load } => Some((variant.clone(), scenario.clone(), *load)),
            _ => None,
        };
        self.actions.iter().filter_map(driven).collect()
    }

    fn acted(&self, wanted: &Action) -> usize {
        self.actions.iter().filter(|action| *action == wanted).count()
    }
}

/// One group of servers under one or more scenarios: two rounds of saturating slices, at most 4 s of latency in two windows,
/// short caps.
pub(crate) fn plan(variants: &[&str], scenarios: &[&str]) -> Plan {
    Plan {
        suite: "simulated".to_owned(),
        groups: vec![group("g", variants, scenarios)],
        load: Load {
            users: 16,
            rate: Rate::OfCapacity { share: 0.5 },
            timeout: Span(SECOND),
            congestion: "default".to_owned(),
            ..Load::default()
        },
        warmup: Warmup::UntilSteady { cap: Span::from_secs(20), first_cap: Span::from_secs(30), all_cpus: true },
        slices: Slices {
            length: Span::from_millis(400),
            discard: Span::from_millis(100),
            saturating: 2,
            fixed: 0,
            latency: Span::from_secs(4),
            push: 2,
            turn: TurnLength::Whole,
        },
        stop: Stop {
            forks: Forks::Fixed { count: 2 },
            region: 0.02,
            alpha: 0.05,
            floor: 0.005,
            half_width: 1.0,
            ..Stop::default()
        },
        machine: Machine {
            server_cpus: "0".to_owned(),
            load_cpus: "1".to_owned(),
            jvm_cpus: 1,
            java: "newest".to_owned(),
            startup_timeout: Span::from_secs(10),
            stop_grace: Span(SECOND),
            ..Machine::default()
        },
        seed: 7,
        ..Plan::default()
    }
}

pub(crate) fn group(id: &str, variants: &[&str], scenarios: &[&str]) -> Group {
    let variant = |(at, name): (usize, &&str)| Variant {
        name: (*name).to_owned(),
        server: (*name).to_owned(),
        family: "simulated".to_owned(),
        kind: String::new(),
        version: None,
        routes: 1,
        role: if at == 0 { Role::Baseline } else { Role::Compared },
        program: Program::Catalog,
        upstream: None,
    };
    Group {
        id: id.to_owned(),
        variants: variants.iter().enumerate().map(variant).collect(),
        scenarios: scenarios.iter().map(|name| scenario(name, None)).collect(),
        ladder: false,
    }
}

pub(crate) fn scenario(name: &str, push: Option<Push>) -> NamedScenario {
    let request =
        Request { method: "GET".to_owned(), path: "/".to_owned(), grpc: None, headers: BTreeMap::new(), body: None };
    // What is pushed comes over a WebSocket.
    let expect = Expect { status: if push.is_some() { 101 } else { 0 }, ..Expect::default() };
    let scenario = Scenario { routes: 1, request, expect, push, ..Scenario::default() };
    NamedScenario { name: name.to_owned(), scenario }
}

pub(crate) fn until_decided(budget_s: u64, at_least: u32) -> Forks {
    Forks::UntilDecided { budget: Span::from_secs(budget_s), at_least, max_forks: None }
}

fn standing(group: &str, scenario: &str, variant: &str, decided: bool) -> ComparisonState {
    let (group, scenario, variant) = (group.to_owned(), scenario.to_owned(), variant.to_owned());
    ComparisonState {
        group,
        scenario,
        variant,
        text: String::new(),
        forks: 0,
        has_verdict: decided,
        reason_to_stop: decided.then_some(ReasonToStop::Void),
        needed: None,
    }
}

pub(crate) fn header(plan: &Plan) -> RunHeader {
    RunHeader {
        id: "simulated".to_owned(),
        started_unix_ns: 0,
        command: Vec::new(),
        tare_version: String::new(),
        git_revision: None,
        plan_hash: String::new(),
        plan: plan.clone(),
        environment: Environment::default(),
    }
}

/// One line of progress in short.
fn in_short(progress: &Progress<'_>) -> String {
    match progress {
        Progress::At(_, text) => (*text).to_owned(),
        Progress::Standing { standings, .. } => {
            let scenarios: Vec<&str> = standings.iter().map(|standing| &*standing.scenario).collect();
            format!("standings {}", scenarios.join(" "))
        }
        Progress::Event(event) => format!("event {:?}", event.kind.name()),
        _ => String::new(),
    }
}
