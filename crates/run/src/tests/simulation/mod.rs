//! The simulated test bed: servers with planted behaviour, and a clock that moves only as starts, slices and pauses last.

mod queue;
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use tare_load::SliceSample;
use tare_plan::Engine;
use tare_plan::plan::{NamedScenario, SliceKind, Variant};
use tare_record::cross_check::{CrossCheckOutcome, CrossCheckRecord};
use tare_record::profile::Weight;
use tare_record::{IdleSpan, KnownStops, Phase, RuntimeUse, ServerCpu, ServerUse};
use tare_sut::SutError;
use tare_sut::contract::{CheckOutcome, GivenAnswer};
use tare_sut::launch::ProgramFacts;
use tare_sut::sampler::Sampled;
use tare_sut::server::Status;
use tare_sys::affinity::CpuSet;
use tare_sys::child::How;

pub(crate) use self::world::{Action, Planted, PlantedStops, Told, World};
use crate::error::RunError;
use crate::progress::RunPosition;
use crate::server_host::{SamplingOrder, StartFailure, StartedServers};
use crate::test_bed::slice::SliceLoad;
use crate::test_bed::{DriveStage, OnStage, ServerId, ServerStart, TestBed};

/// The file of the servers' program in this state.
pub(crate) fn program(state: &str) -> (String, String) {
    ("/app.jar".to_owned(), state.to_owned())
}

/// A server that was started.
#[derive(Debug, Clone)]
struct Running {
    name: String,
    /// 1-based, over the whole run.
    start: u32,
    is_dead: bool,
}

pub(crate) struct SimulatedBed {
    world: Rc<RefCell<World>>,
    running: BTreeMap<ServerId, Running>,
    starts: BTreeMap<String, u32>,
    scenario: String,
    watched: Vec<ServerId>,
    watched_from_ns: u64,
    /// Requests answered and time spent by each server in the watch under way.
    answered: BTreeMap<ServerId, (u64, Duration)>,
    /// Requests that each server has answered before that watch.
    answered_before: BTreeMap<ServerId, u64>,
}

impl SimulatedBed {
    pub fn new(world: Rc<RefCell<World>>) -> Self {
        Self {
            world,
            running: BTreeMap::new(),
            starts: BTreeMap::new(),
            scenario: String::new(),
            watched: Vec::new(),
            watched_from_ns: 0,
            answered: BTreeMap::new(),
            answered_before: BTreeMap::new(),
        }
    }

    fn planted(&self, name: &str) -> Planted {
        self.world.borrow().planted.get(name).cloned().unwrap_or_default()
    }

    fn record_action(&self, action: Action) {
        self.world.borrow_mut().actions.push(action);
    }

    fn advance_clock(&self, span: Duration) {
        self.world.borrow_mut().now += span;
    }

    /// The stops of a server during a watch.
    fn stops(&self, planted: PlantedStops) -> Vec<IdleSpan> {
        let next = |stop: &IdleSpan| Some(planted.at(stop.end_ns));
        let all = std::iter::successors(Some(planted.at(self.watched_from_ns)), next);
        all.take_while(|stop| stop.begin_ns < self.elapsed_ns()).collect()
    }

    /// What its log tells of them.
    fn known_stops(&self, planted: PlantedStops) -> KnownStops {
        match planted.told {
            Told::Each => KnownStops::Spans(self.stops(planted)),
            Told::Nonsense => KnownStops::Unreadable,
            Told::Nothing => KnownStops::Untold,
        }
    }

    /// How long they last within the watch.
    fn stopped_ns(&self, planted: PlantedStops) -> u64 {
        let (from_ns, until_ns) = (self.watched_from_ns, self.elapsed_ns());
        let within = |stop: &IdleSpan| stop.end_ns.min(until_ns).saturating_sub(stop.begin_ns.max(from_ns));
        self.stops(planted).iter().map(within).sum()
    }

    /// Whether a server answers this load, and dies of it if that is planted.
    fn answers(&mut self, server: ServerId, load: &SliceLoad) -> bool {
        let Some(running) = self.running.get(&server).cloned() else { return false };
        let planted = self.planted(&running.name);
        let is_deadly = match load.phase {
            Phase::Measure => {
                planted.deaths.iter().any(|(start, scenario)| *start == running.start && *scenario == self.scenario)
            }
            Phase::Warmup => planted.dies_warming_up_in == Some(load.round),
            Phase::Profile => false,
        };
        if is_deadly {
            self.running.insert(server, Running { is_dead: true, ..running.clone() });
        }
        !running.is_dead && !is_deadly && !planted.mute_in.contains(&self.scenario.as_str())
    }
}

impl TestBed for SimulatedBed {
    fn elapsed_ns(&self) -> u64 {
        self.world.borrow().now.as_nanos() as u64
    }

    fn is_interrupted(&self) -> bool {
        let world = self.world.borrow();
        world.interrupted_at.is_some_and(|at| world.now >= at)
    }

    fn unavailable_reason(&self, variant: &Variant) -> Option<String> {
        self.planted(&variant.name).unavailable
    }

    fn program_facts(&self, variant: &Variant) -> Result<ProgramFacts, RunError> {
        Ok(ProgramFacts { command: vec![variant.name.clone()], ..ProgramFacts::default() })
    }

    fn program_files(&self) -> BTreeMap<String, String> {
        let World { now, rebuilt_at, .. } = &*self.world.borrow();
        BTreeMap::from([if rebuilt_at.is_some_and(|at| at <= *now) { program("2") } else { program("1") }])
    }

    fn start(
        &mut self,
        starts: &[ServerStart<'_>],
        _cpus: &CpuSet,
    ) -> Result<Vec<Result<u64, StartFailure>>, RunError> {
        let startup = self.world.borrow().startup;
        self.advance_clock(startup);
        let mut results = Vec::new();
        for ServerStart { id, variant, log_name } in starts {
            self.world.borrow_mut().files.push(log_name.clone());
            self.record_action(Action::Start(variant.name.clone()));
            let start = self.starts.entry(variant.name.clone()).or_default();
            *start += 1;
            let start = *start;
            if self.planted(&variant.name).failing_starts.contains(&start) {
                results.push(Err(SutError::NoCommand { server: variant.name.clone() }.into()));
            } else if self.planted(&variant.name).starts_without_port.contains(&start) {
                let (server, owner) = (variant.name.clone(), "PID 1 (other)".to_owned());
                results.push(Err(SutError::PortLost { server, port: 40_000, owner, tries: 5 }.into()));
            } else {
                self.running.insert(*id, Running { name: variant.name.clone(), start, is_dead: false });
                results.push(Ok(startup.as_nanos() as u64));
            }
        }
        Ok(results)
    }

    fn servers(&mut self) -> &mut dyn StartedServers {
        self
    }

    fn verify(&mut self, server: ServerId, scenarios: &[&str]) -> Result<Vec<CheckOutcome>, RunError> {
        let Running { name, start, .. } = self.running[&server].clone();
        let Planted { lying_starts, starts_that_die_verified, body, .. } = self.planted(&name);
        let is_dead = starts_that_die_verified.contains(&start);
        let difference = match is_dead {
            true => Some("connection refused"),
            false => lying_starts.contains(&start).then_some("status 500, not 200"),
        };
        self.record_action(Action::Verify(name.clone()));
        self.running.insert(server, Running { name, start, is_dead });
        let outcome = |check: &&str| CheckOutcome {
            check: (*check).to_owned(),
            passed: difference.is_none(),
            difference: difference.map(str::to_owned),
            because: None,
            answer: (!is_dead).then(|| given_answer(body)),
        };
        Ok(scenarios.iter().map(outcome).collect())
    }

    fn open_sessions(
        &mut self,
        _servers: &[ServerId],
        named: &NamedScenario,
        agreed: Option<&GivenAnswer>,
    ) -> Result<(), RunError> {
        self.world.borrow_mut().agreed = agreed.cloned();
        self.scenario.clone_from(&named.name);
        Ok(())
    }

    fn least_users(&self) -> u32 {
        self.world.borrow().workers.max(1)
    }

    fn close_sessions(&mut self) {
        self.record_action(Action::CloseSessions);
    }

    fn drive(&mut self, server: ServerId, load: &SliceLoad, on_stage: OnStage<'_>) -> Result<SliceSample, RunError> {
        on_stage(DriveStage::Begun);
        let name = self.running[&server].name.clone();
        let SliceLoad { phase, kind, round, users, rate_per_s, .. } = *load;
        assert!(users >= self.least_users(), "a slice of {users} connections over {} workers", self.least_users());
        self.record_action(Action::Drive { variant: name.clone(), scenario: self.scenario.clone(), load: *load });
        let start_ns = self.elapsed_ns();
        self.advance_clock(load.length);
        let window = load.length - load.discard;
        let mut sample = SliceSample {
            start_ns,
            discarded_head_ns: load.discard.as_nanos() as u64,
            window_ns: window.as_nanos() as u64,
            workers: 1,
            cancelled: self.is_interrupted(),
            ..SliceSample::default()
        };
        if !self.answers(server, load) {
            sample.failed = 1;
            return Ok(sample);
        }
        let planted = self.planted(&name);
        if phase == Phase::Warmup && planted.starved_warming_up_in == Some(round) {
            return Ok(sample);
        }
        let per_s = if rate_per_s > 0.0 { rate_per_s.min(planted.per_s) } else { planted.per_s };
        let is_quick = rate_per_s <= planted.per_s && users <= planted.quick_users;
        sample.completed = (per_s * window.as_secs_f64()).round() as u64;
        sample.completed_in_slice = (per_s * load.length.as_secs_f64()).round() as u64;
        sample.ok = sample.completed;
        let is_window = (phase, kind) == (Phase::Measure, SliceKind::Poisson);
        match planted.stops.filter(|_| is_window) {
            Some(stops) => {
                let met = queue::answer_in_order(&mut sample, rate_per_s, stops);
                self.world.borrow_mut().met_stop.push(met);
            }
            None => sample.response.record_ns(if is_quick { 1_000_000 } else { 100_000_000 }),
        }
        let (requests, span) = self.answered.entry(server).or_default();
        *requests += sample.completed_in_slice;
        *span += load.length;
        Ok(sample)
    }

    fn begin_watch(&mut self, servers: &[ServerId], _phase: Phase) {
        self.record_action(Action::BeginWatch(servers.len()));
        self.watched = servers.to_vec();
        self.watched_from_ns = self.elapsed_ns();
        for (id, (requests, _)) in std::mem::take(&mut self.answered) {
            *self.answered_before.entry(id).or_default() += requests;
        }
    }

    fn end_watch(&mut self, _scored_from_ns: u64) -> Vec<ServerUse> {
        let readings = |id: &ServerId| {
            let planted = self.planted(&self.running[id].name);
            let (requests, span) = self.answered.get(id).copied().unwrap_or_default();
            let of_span = |share: f64| (span.as_nanos() as f64 * share) as u64;
            let (compiling_ns, waiting_ns) = (of_span(planted.compiler_share), of_span(planted.compiler_waiting_share));
            // 10 µs of CPU for each request.
            let serving_ns = requests * 10_000;
            let cpu = ServerCpu {
                wall_ns: span.as_nanos() as u64,
                total_ns: serving_ns + compiling_ns,
                by_kind: [("application".to_owned(), serving_ns), ("jit".to_owned(), compiling_ns)].into(),
                waiting_by_kind: [("jit".to_owned(), waiting_ns)].into(),
                ..ServerCpu::default()
            };
            let collections = planted.requests_per_collection.map(|each| {
                let before = self.answered_before.get(id).copied().unwrap_or(0);
                (before + requests) / each - before / each
            });
            let safepoint_ns = planted.stops.map(|stops| self.stopped_ns(stops));
            let runtime = (collections.is_some() || safepoint_ns.is_some()).then(|| RuntimeUse {
                collections,
                safepoint_ns,
                ..RuntimeUse::default()
            });
            let stops = planted.stops.map_or(KnownStops::Untold, |stops| self.known_stops(stops));
            ServerUse {
                cpu: Some(cpu),
                runtime,
                stops,
                others_share: Some(planted.others_share),
                ..ServerUse::default()
            }
        };
        self.watched.iter().map(readings).collect()
    }

    fn cross_check(
        &mut self,
        server: ServerId,
        engine: Engine,
        named: &NamedScenario,
        place: &RunPosition<'_>,
    ) -> Result<CrossCheckRecord, RunError> {
        let variant = self.running[&server].name.clone();
        self.record_action(Action::CrossCheck(variant.clone()));
        self.advance_clock(Duration::from_secs(1));
        Ok(CrossCheckRecord {
            engine,
            version: "1".to_owned(),
            fork: place.fork,
            group: place.group.to_owned(),
            scenario: named.name.clone(),
            variant,
            command: Vec::new(),
            users: 1,
            outcome: CrossCheckOutcome::NotPossible { because: "simulated".to_owned() },
            output: String::new(),
        })
    }
}

impl StartedServers for SimulatedBed {
    fn observe_rest(&mut self, servers: &[ServerId], span: Duration) -> Vec<Option<f64>> {
        self.advance_clock(span);
        self.record_action(Action::ObserveRest);
        servers.iter().map(|id| Some(self.planted(&self.running[id].name).rest_cpu_share)).collect()
    }

    fn move_to(&mut self, server: ServerId, cpus: &CpuSet) {
        self.record_action(Action::MoveTo(self.running[&server].name.clone(), cpus.to_string()));
    }

    fn status(&self, server: ServerId) -> Status {
        match self.running.get(&server) {
            Some(running) if !running.is_dead => Status::Running,
            _ => Status::Exited(How::Signal(9)),
        }
    }

    fn log_tail(&self, _server: ServerId) -> Option<String> {
        None
    }

    fn begin_sampling(&mut self, sampling: &SamplingOrder) -> Result<(), SutError> {
        let running = self.running[&sampling.server].clone();
        if self.planted(&running.name).starts_that_die_sampled.contains(&running.start) {
            self.running.insert(sampling.server, Running { is_dead: true, ..running });
            return Err(SutError::sampler("attach a sampler", "the server ended", "see its log"));
        }
        self.world.borrow_mut().files.push(sampling.file_name.clone());
        Ok(())
    }

    fn end_sampling(&mut self) -> Result<Sampled, SutError> {
        self.record_action(Action::ReadSampled);
        Ok(Sampled {
            sampler: "simulated".to_owned(),
            weight: Weight::Ns,
            stacks: "main 1\n".to_owned(),
            file: "profile".into(),
        })
    }

    fn stop(&mut self, servers: &[ServerId]) -> Vec<String> {
        let stopped: Vec<Running> = servers.iter().filter_map(|id| self.running.remove(id)).collect();
        let stop = |running: Running| {
            self.record_action(Action::Stop(running.name));
            if running.is_dead { "killed by signal 9" } else { "stopped" }.to_owned()
        };
        stopped.into_iter().map(stop).collect()
    }
}

/// An answer with this body, of which no body is stated, and with a header of its own.
fn given_answer(body: &str) -> GivenAnswer {
    let compared = serde_json::json!({ "body": body.as_bytes(), "may_differ": [] });
    let written = serde_json::json!({ "headers": { "x-body": body }, "compared": compared });
    serde_json::from_value(written).expect("an answer as it is sent between machines")
}
