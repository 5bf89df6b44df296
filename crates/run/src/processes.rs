//! The real test bed: servers as processes of this machine or of another, and load over sockets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tare_load::{Cancel, Sending, Share, SliceSample};
use tare_plan::plan::{NamedScenario, Variant};
use tare_plan::{Engine, Plan};
use tare_record::cross_check::CrossCheckRecord;
use tare_record::{EventKind, KnownStops, Phase, ServerUse};
use tare_sut::contract::{CheckOutcome, GivenAnswer};
use tare_sut::launch::ProgramFacts;
use tare_sys::affinity::CpuSet;
use tare_sys::clock::{self, Nanos};
use tare_units::file_name;

use crate::context::RunInputs;
use crate::context::cores::Cores;
use crate::error::RunError;
use crate::load_host::session::{Destination, SessionOrder};
use crate::load_host::{OwnLoad, RunLoad, VerifyOrder};
use crate::prepare::DrivenServer;
use crate::prepare::engine::{Cell, drive_with_tool};
use crate::progress::RunPosition;
use crate::server_host::local::other_programs::OtherPrograms;
use crate::server_host::local::running_server::RunningServers;
use crate::server_host::local::watch::WatchOrder;
use crate::server_host::{LocalServers, ServerHost, StartFailure, StartedServers};
use crate::test_bed::slice::SliceLoad;
use crate::test_bed::{OnStage, ServerId, ServerStart, TestBed};

/// Converts times of the monotonic clock, which starts with each boot, to time of the run, without its interruptions.
#[derive(Debug, Clone, Copy)]
struct RunClock {
    /// When this process started or resumed the run.
    begin: Nanos,
    before: Duration,
}

impl RunClock {
    /// Nanoseconds since the run began.
    fn at(&self, moment: Nanos) -> u64 {
        Nanos::from(self.before).0.saturating_add(moment.since(self.begin))
    }
}

/// Servers as processes of this machine or of another, or started outside tare.
pub(crate) struct ProcessBed<'a> {
    plan: &'a Plan,
    inputs: &'a RunInputs<'a>,
    cores: Cores,
    clock: RunClock,
    host: Box<dyn ServerHost + 'a>,
    servers: BTreeMap<ServerId, DrivenServer<'a>>,
    load: Box<dyn RunLoad + 'a>,
    /// While a watch runs: the other work on the generator's cores, where they are not watched with the servers.
    beside_generator: Option<OtherPrograms>,
    watch_begun_ns: u64,
}

impl<'a> ProcessBed<'a> {
    /// A bed without servers. The run's clock starts here, or goes on after `elapsed`.
    pub fn new(plan: &'a Plan, inputs: &'a RunInputs<'a>, cores: &Cores, elapsed: Duration) -> Self {
        let cancelled = Arc::clone(&inputs.cancelled);
        let host: Box<dyn ServerHost> = match inputs.host {
            None => Box::new(LocalServers::new(inputs.logs.to_owned(), inputs.profiles.to_owned(), cancelled)),
            Some(host) => host.servers(inputs.logs, inputs.profiles, cancelled),
        };
        let cancelled = Arc::clone(&inputs.cancelled);
        let load: Box<dyn RunLoad> = match inputs.agents {
            None => Box::new(OwnLoad::new(cores.load.clone(), Share::WHOLE, Cancel::from(cancelled))),
            Some(agents) => agents.load(cancelled),
        };
        Self {
            plan,
            inputs,
            cores: cores.clone(),
            clock: RunClock { begin: clock::now(), before: elapsed },
            host,
            servers: BTreeMap::new(),
            load,
            beside_generator: None,
            watch_begun_ns: 0,
        }
    }

    fn server(&self, id: ServerId) -> Result<&DrivenServer<'a>, RunError> {
        self.servers.get(&id).ok_or_else(|| RunError::NotPrepared(format!("server {}", id.0)))
    }
}

impl TestBed for ProcessBed<'_> {
    fn elapsed_ns(&self) -> u64 {
        self.clock.at(clock::now())
    }

    fn is_interrupted(&self) -> bool {
        self.inputs.cancelled.load(Ordering::Relaxed)
    }

    fn unavailable_reason(&self, variant: &Variant) -> Option<String> {
        self.inputs.launches.unavailable(variant).map(str::to_owned)
    }

    fn program_facts(&self, variant: &Variant) -> Result<ProgramFacts, RunError> {
        let launch = self.inputs.launches.get(variant)?;
        Ok(ProgramFacts { command: launch.command(), resolved: self.inputs.launches.resolved(variant)? })
    }

    fn program_files(&self) -> BTreeMap<String, String> {
        self.inputs.launches.program_files()
    }

    fn start(&mut self, starts: &[ServerStart<'_>], cpus: &CpuSet) -> Result<Vec<Result<u64, StartFailure>>, RunError> {
        let order = |ServerStart { id, variant, log_name }: &ServerStart<'_>| {
            // A program sizes its pools by the cores that it starts on. These must be those that it is measured on,
            // unless an option has told it.
            let is_told = self.inputs.launches.get(variant)?.is_told_its_cores();
            let cpus = if is_told { cpus } else { &self.cores.server };
            self.inputs.launches.order(self.plan, *id, variant, log_name, cpus)
        };
        let started = self.host.start(&starts.iter().map(order).collect::<Result<Vec<_>, _>>()?)?;
        let mut results = Vec::with_capacity(starts.len());
        for (start, result) in starts.iter().zip(started) {
            let launch = self.inputs.launches.get(start.variant)?;
            results.push(result.map(|started| {
                let contract = self.plan.contract(start.variant, self.inputs.contract);
                let (variant, address) = (start.variant.clone(), started.address);
                self.servers.insert(start.id, DrivenServer { variant, launch, contract, address });
                started.startup_ns
            }));
        }
        Ok(results)
    }

    fn servers(&mut self) -> &mut dyn StartedServers {
        &mut *self.host
    }

    fn verify(&mut self, server: ServerId, scenarios: &[&str]) -> Result<Vec<CheckOutcome>, RunError> {
        let Some(server) = self.servers.get(&server) else { return Ok(Vec::new()) };
        let contract = &server.contract;
        let is_wanted = |name: &str| scenarios.contains(&name) || !contract.scenarios.contains_key(name);
        let identity = server.variant.identity();
        let exchanges = contract.exchanges(&identity, server.variant.routes).filter(|e| is_wanted(&e.name));
        self.load.verify(&VerifyOrder {
            destination: Destination::of(server),
            transport: server.variant.program.transport(),
            exchanges: exchanges.collect(),
            timeout: self.plan.load.timeout,
        })
    }

    fn open_sessions(
        &mut self,
        servers: &[ServerId],
        named: &NamedScenario,
        agreed: Option<&GivenAnswer>,
    ) -> Result<(), RunError> {
        let order = |id: &ServerId| Ok(SessionOrder::of(self.plan, *id, self.server(*id)?, named, agreed));
        let sessions = servers.iter().map(order).collect::<Result<Vec<_>, RunError>>()?;
        self.load.open(sessions)
    }

    fn least_users(&self) -> u32 {
        self.load.least_users()
    }

    fn close_sessions(&mut self) {
        self.load.close();
    }

    fn closing_event(&self) -> Option<EventKind> {
        self.load.closing_event()
    }

    fn drive(&mut self, server: ServerId, load: &SliceLoad, on_stage: OnStage<'_>) -> Result<SliceSample, RunError> {
        // The cores of a server that tare did not start are unknown, so the generator must not spin on them.
        let sending = if self.server(server)?.launch.is_external() { Sending::Exact } else { load.sending };
        let mut sample = self.load.drive(server, &SliceLoad { sending, ..*load }, on_stage)?;
        sample.start_ns = self.clock.at(Nanos(sample.start_ns));
        for request in &mut sample.trace {
            let run_time = |at_ns: u64| self.clock.at(Nanos(at_ns));
            request.intended_ns = run_time(request.intended_ns);
            request.sent_ns = request.sent_ns.map(run_time);
            request.ended_ns = run_time(request.ended_ns);
        }
        self.host.look_at_jvm(server);
        self.host.check()?;
        Ok(sample)
    }

    fn begin_watch(&mut self, servers: &[ServerId], phase: Phase) {
        self.watch_begun_ns = self.elapsed_ns();
        let cpus = self.cores.beside_generator();
        self.beside_generator = cpus.and_then(|cpus| OtherPrograms::begin(&mut RunningServers::new(), cpus));
        self.host.begin_watch(&WatchOrder {
            servers: servers.to_vec(),
            phase,
            meter_cpus: self.plan.probes.hiccups.then(|| self.cores.server.clone()),
            counted_cpus: self.cores.beside_servers(),
        });
    }

    fn end_watch(&mut self, scored_from_ns: u64) -> Vec<ServerUse> {
        let beside = self.beside_generator.take().and_then(|others| others.share(&mut RunningServers::new()));
        let mut all = self.host.end_watch(scored_from_ns.saturating_sub(self.watch_begun_ns));
        for one in &mut all {
            let pauses = one.hiccups.iter_mut().flat_map(|hiccups| &mut hiccups.pauses);
            pauses.for_each(|pause| pause.at_ns += self.watch_begun_ns);
            if let KnownStops::Spans(stops) = &mut one.stops {
                let run_time = |at_ns: &mut u64| *at_ns = self.clock.at(Nanos(*at_ns));
                stops.iter_mut().flat_map(|stop| [&mut stop.begin_ns, &mut stop.end_ns]).for_each(run_time);
            }
            // A run is as disturbed as the more disturbed of its two sides.
            one.others_share = one.others_share.map(|there| beside.map_or(there, |here| here.max(there)));
        }
        all
    }

    fn cross_check(
        &mut self,
        server: ServerId,
        engine: Engine,
        named: &NamedScenario,
        place: &RunPosition<'_>,
    ) -> Result<CrossCheckRecord, RunError> {
        let tool = self.inputs.launches.engines.iter().find(|tool| tool.engine == engine);
        let tool = tool.ok_or_else(|| RunError::NotPrepared(engine.to_string()))?;
        let server = self.server(server)?;
        let identity = server.variant.identity();
        let exchange = server.contract.exchange(&identity, &named.name);
        let host = server.launch.host().unwrap_or_else(|| server.address.to_string());
        let cell = Cell {
            url: format!("http://{host}{}", named.scenario.request.path),
            variant: &server.variant.name,
            named,
            status: exchange.map_or(200, |exchange| exchange.expect.status),
            users: self.plan.load.users,
            length: self.plan.slices.length.0 * self.plan.slices.saturating,
            timeout: self.plan.load.timeout.0,
            cpus: self.cores.load.clone(),
            folder: self.inputs.logs.join(file_name(&[engine.name(), place.group, &server.variant.name, &named.name])),
        };
        drive_with_tool(tool, &cell, place, &self.inputs.cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_soon_after_a_boot_keeps_its_time() {
        let (minute, ns) = (Duration::from_secs(60), |minutes: u64| minutes * 60_000_000_000);
        let clock = RunClock { begin: Nanos(ns(3)), before: 50 * minute };
        assert_eq!([clock.at(Nanos(ns(3))), clock.at(Nanos(ns(5)))], [ns(50), ns(52)]);
        let new = RunClock { before: Duration::ZERO, ..clock };
        assert_eq!(new.at(Nanos(ns(4))), ns(1));
    }
}
