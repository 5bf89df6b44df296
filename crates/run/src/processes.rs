//! The real test bed: servers as processes, load over sockets, probes of the kernel and of JVMs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_load::{Cancel, LoadSession, Sending, SliceSample, SliceSpec, Watched};
use tare_plan::Plan;
use tare_plan::contract::Contract;
use tare_plan::engine::Engine;
use tare_plan::plan::{NamedScenario, Variant};
use tare_plan::profile::ProfileEvent;
use tare_record::cross_check::CrossCheckRecord;
use tare_record::{Phase, ServerUse};
use tare_sut::SutError;
use tare_sut::contract::{CheckOutcome, verify_exchanges};
use tare_sut::sampler::{Sampled, Sampling};
use tare_sut::server::Status;
use tare_sys::affinity::CpuSet;
use tare_sys::clock::{self, Nanos};

use crate::engine::{ToolCell, drive_with_tool};
use crate::error::RunError;
use crate::inputs::RunInputs;
use crate::pause::pause;
use crate::prepare::Launches;
use crate::progress::Place;
use crate::running_server::{RunningServer, RunningServers};
use crate::session;
use crate::slice::SliceLoad;
use crate::test_bed::{DriveStage, ProgramFacts, ServerId, ServerStart, TestBed};
use crate::watch::Watch;

/// Lines of a server's log that an event holds.
const LOG_LINES: usize = 20;

/// Servers as processes of this machine, or elsewhere.
pub(crate) struct ProcessBed<'a> {
    plan: &'a Plan,
    launches: &'a Launches,
    contract: &'a Contract,
    logs: &'a Path,
    profiles: &'a Path,
    load_cpus: CpuSet,
    cancelled: Arc<AtomicBool>,
    cancel: Cancel,
    begin: Nanos,
    servers: RunningServers<'a>,
    sessions: BTreeMap<ServerId, LoadSession>,
    watch: Option<Watch>,
    sampling: Option<Sampling>,
}

impl<'a> ProcessBed<'a> {
    /// A bed without servers. The run's clock starts here, or goes on after `elapsed`.
    pub fn new(plan: &'a Plan, inputs: &RunInputs<'a>, load_cpus: CpuSet, elapsed: Duration) -> Self {
        Self {
            plan,
            launches: inputs.launches,
            contract: inputs.contract,
            logs: inputs.logs,
            profiles: inputs.profiles,
            load_cpus,
            cancel: Cancel::from(Arc::clone(&inputs.cancelled)),
            cancelled: Arc::clone(&inputs.cancelled),
            begin: clock::now() - elapsed,
            servers: BTreeMap::new(),
            sessions: BTreeMap::new(),
            watch: None,
            sampling: None,
        }
    }

    fn server(&self, id: ServerId) -> Result<&RunningServer<'a>, RunError> {
        self.servers.get(&id).ok_or_else(|| RunError::NotPrepared(format!("server {}", id.0)))
    }
}

impl TestBed for ProcessBed<'_> {
    fn elapsed_ns(&self) -> u64 {
        clock::now().since(self.begin)
    }

    fn is_interrupted(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn unavailable_reason(&self, variant: &Variant) -> Option<String> {
        self.launches.unavailable(variant).map(str::to_owned)
    }

    fn program_facts(&self, variant: &Variant) -> Result<ProgramFacts, RunError> {
        let launch = self.launches.get(variant)?;
        Ok(ProgramFacts { command: launch.command(), resolved: launch.resolved.clone() })
    }

    fn start(&mut self, starts: &[ServerStart<'_>], cpus: &CpuSet) -> Result<Vec<Result<u64, SutError>>, RunError> {
        let mut launched = Vec::new();
        for start in starts {
            let launch = self.launches.get(start.variant)?;
            let log = self.logs.join(&start.log_name);
            launched.push((start, launch, launch.start(self.plan, start.variant, cpus.clone(), log)));
        }
        let (begun, cancelled) = (clock::now(), &*self.cancelled);
        let hosts: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = launched
                .iter()
                .map(|(_, _, start)| scope.spawn(move || (start.start(cancelled), clock::now().since(begun))))
                .collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        let mut results = Vec::new();
        for ((start, launch, _), joined) in launched.into_iter().zip(hosts) {
            let Ok((host, startup_ns)) = joined else {
                return Err(RunError::NotPrepared(start.variant.name.clone()));
            };
            results.push(host.map(|host| {
                let server = RunningServer::new(start.variant, launch, host, self.logs);
                self.servers.insert(start.id, server);
                startup_ns
            }));
        }
        Ok(results)
    }

    fn verify(&mut self, server: ServerId, scenarios: &[&str]) -> Vec<CheckOutcome> {
        let Some(server) = self.servers.get(&server) else { return Vec::new() };
        let contract = server.launch.contract(self.contract);
        let is_wanted = |name: &str| scenarios.contains(&name) || !contract.scenarios.contains_key(name);
        let identity = server.variant.identity();
        let exchanges = contract.exchanges(&identity, server.variant.routes).filter(|e| is_wanted(e.name));
        verify_exchanges(server.host.address(), exchanges, self.plan.load.timeout.0)
    }

    fn observe_rest(&mut self, servers: &[ServerId], span: Duration) -> Vec<Option<f64>> {
        let mut cpu = |id: &ServerId| self.servers.get_mut(id)?.cpu();
        let before: Vec<_> = servers.iter().map(&mut cpu).collect();
        pause(span, &self.cancelled);
        let share = |(before, id)| Some(cpu(id)?.since(&before?).share_at_rest());
        before.into_iter().zip(servers).map(share).collect()
    }

    fn move_to(&mut self, server: ServerId, cpus: &CpuSet) {
        if let Some(server) = self.servers.get(&server) {
            // A server that has just died cannot be moved; its status says so.
            let _ = server.host.set_cpus(cpus);
        }
    }

    fn status(&self, server: ServerId) -> Status {
        self.servers.get(&server).map_or(Status::Stopped, |server| server.host.status())
    }

    fn log_tail(&self, server: ServerId) -> Option<String> {
        self.servers.get(&server)?.host.log_tail(LOG_LINES)
    }

    fn open_sessions(&mut self, servers: &[ServerId], named: &NamedScenario) -> Result<(), RunError> {
        self.sessions.clear();
        for id in servers {
            let session = session::open(self.plan, self.server(*id)?, self.contract, &self.load_cpus, named)?;
            self.sessions.insert(*id, session);
        }
        Ok(())
    }

    fn close_sessions(&mut self) {
        self.sessions.clear();
    }

    fn drive(
        &mut self,
        server: ServerId,
        load: &SliceLoad,
        on_stage: &mut dyn FnMut(DriveStage),
    ) -> Result<SliceSample, RunError> {
        let runs_elsewhere = self.server(server)?.host.pid().is_none();
        let spec = load.spec(self.plan.load.timeout.0);
        // The cores of a server elsewhere are unknown, so the generator must not spin on them.
        let spec = if runs_elsewhere { SliceSpec { sending: Sending::Exact, ..spec } } else { spec };
        let unknown = || RunError::NotPrepared(format!("the load of server {}", server.0));
        let session = self.sessions.get_mut(&server).ok_or_else(unknown)?;
        let mut sample = session.run_watched(&spec, None, &self.cancel, &mut |watched| match watched {
            Watched::Opening(opening) => on_stage(DriveStage::Opening { open: opening.open, of: opening.of }),
            Watched::Begun => on_stage(DriveStage::Begun),
            _ => {}
        })?;
        sample.start_ns = Nanos(sample.start_ns).since(self.begin);
        if let Some(watch) = &mut self.watch {
            watch.look_at_jvm(server, &self.servers);
        }
        Ok(sample)
    }

    fn begin_watch(&mut self, servers: &[ServerId], phase: Phase) {
        self.watch = Some(Watch::begin(&mut self.servers, servers, phase, self.plan));
    }

    fn end_watch(&mut self, scored_from_ns: u64) -> Vec<ServerUse> {
        let scored_from = self.begin + Duration::from_nanos(scored_from_ns);
        let begin = self.begin;
        self.watch.take().map_or_else(Vec::new, |watch| watch.end(&mut self.servers, scored_from, begin))
    }

    fn begin_sampling(&mut self, server: ServerId, event: ProfileEvent, file_name: &str) -> Result<(), SutError> {
        let pid = self.servers.get(&server).and_then(|server| server.host.pid()).ok_or_else(runs_elsewhere)?;
        self.sampling = Some(Sampling::begin(pid, event, self.profiles, file_name)?);
        Ok(())
    }

    fn end_sampling(&mut self) -> Result<Sampled, SutError> {
        self.sampling.take().ok_or_else(not_sampled)?.stop_and_read()
    }

    fn load_tools(&self) -> Vec<Engine> {
        self.launches.engines().iter().map(crate::engine::Tool::engine).collect()
    }

    fn cross_check(
        &mut self,
        server: ServerId,
        engine: Engine,
        named: &NamedScenario,
        place: &Place<'_>,
    ) -> Result<CrossCheckRecord, RunError> {
        let tool = self.launches.engines().iter().find(|tool| tool.engine() == engine);
        let tool = tool.ok_or_else(|| RunError::NotPrepared(engine.to_string()))?;
        let server = self.server(server)?;
        let identity = server.variant.identity();
        let exchange = server.launch.contract(self.contract).exchange(&identity, &named.name);
        let cell = ToolCell {
            plan: self.plan,
            host: server.launch.host().unwrap_or_else(|| server.host.address().to_string()),
            variant: &server.variant.name,
            named,
            status: exchange.map_or(200, |exchange| exchange.expect.status),
            place,
            cpus: &self.load_cpus,
            logs: self.logs,
        };
        drive_with_tool(tool, &cell, &self.cancelled)
    }

    fn stop(&mut self, servers: &[ServerId]) -> Vec<String> {
        let hosts: Vec<_> = servers.iter().map(|id| self.servers.remove(id)).collect();
        std::thread::scope(|scope| {
            let stop = |server: Option<RunningServer<'_>>| server.map(|server| server.host);
            let threads: Vec<_> =
                hosts.into_iter().map(stop).map(|host| scope.spawn(|| host.map(crate::host::Host::stop))).collect();
            let ended = threads.into_iter().map(|thread| thread.join().ok().flatten());
            ended.map(|end| end.unwrap_or_else(|| "it was not running".to_owned())).collect()
        })
    }
}

fn runs_elsewhere() -> SutError {
    SutError::Sampler {
        doing: "profile a server that runs elsewhere".to_owned(),
        said: "its process cannot be seen".to_owned(),
        remedy: "let tare start it, with a command in a suite file".to_owned(),
    }
}

fn not_sampled() -> SutError {
    SutError::Sampler {
        doing: "end a profile".to_owned(),
        said: "no sampler was attached".to_owned(),
        remedy: "please report this".to_owned(),
    }
}
