//! Before the first fork: is this machine fit to measure on, and does the generator measure a known delay correctly?

pub mod environment;
pub mod noise;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_load::{
    Cancel, Check, LoadSession, RequestSpec, Schedule, Sending, SessionSpec, SliceSample, SliceSpec, StopRule,
};
use tare_plan::Plan;
use tare_plan::plan::{Program, Variant};
use tare_record::{EventKind, EventRecord, SelfTestFigures};
use tare_sut::server::{Server, ServerSpec};
use tare_sys::affinity::{CpuSet, allowed_cpus, physical_cores};
use tare_units::distinct;

use crate::context::cores::Cores;
use crate::context::{RunContext, RunInputs};
use crate::error::RunError;
use crate::load_host::LoadMachines;
use crate::machine::generator::allow_open_files;
use crate::machine::machine_state::disturbances;
use crate::prepare::CATALOG_READY;
use crate::progress::Progress;

/// The delay that the built-in server plants, and how the self-test drives it.
const PLANTED_DELAY: Duration = Duration::from_millis(2);
const SELF_TEST_TIME: Duration = Duration::from_millis(1500);
const SELF_TEST_RATE_PER_S: f64 = 1000.0;
/// Unless the generator has more cores.
const SELF_TEST_CONNECTIONS: usize = 16;
/// Limits of the self-test: how far the median may be above the planted delay, and how late requests may be sent.
const MOST_EXCESS: Duration = Duration::from_micros(500);
const MOST_LATENESS: Duration = Duration::from_millis(1);

/// Checks what a plan needs. Something that is missing is an error; a disturbance is an event with a remedy.
pub(crate) fn check(inputs: &RunInputs<'_>, context: &mut RunContext<'_>) -> Result<(), RunError> {
    if has_connections_here(context.plan, &context.cores) {
        allow_open_files(context.plan)?;
    }
    external_servers(context.plan).into_iter().try_for_each(|found| context.record_new_event(found))?;
    context.journal.show(&Progress::Preflight { what: "the machine at rest" });
    let disturbances = machine_disturbances(inputs, &context.cores)?;
    disturbances.into_iter().try_for_each(|found| context.record_new_event(found))?;
    // Agents have generators of their own.
    if let Some(program) = inputs.reference.as_ref().filter(|_| inputs.agents.is_none()) {
        context.journal.show(&Progress::Preflight { what: "the generator against a server of known delays" });
        let (log, Cores { server, load, are_apart, .. }) = (inputs.logs.join("self-test.log"), &context.cores);
        let server = if *are_apart { cores_beside_generator(load) } else { server.clone() };
        let (server_cpus, cancelled) = (&server, &*inputs.cancelled);
        let known = KnownServer { program, log_path: &log, server_cpus, load_cpus: load, cancelled };
        let tested = known.self_test()?;
        context.record_event(tested)?;
    }
    Ok(())
}

/// Events about what disturbs measuring, on the machines of the generator and of the servers.
fn machine_disturbances(inputs: &RunInputs<'_>, cores: &Cores) -> Result<Vec<EventRecord>, RunError> {
    let of_servers = match inputs.host.filter(|_| cores.are_apart) {
        // The servers run already and agents make the load, so this machine does nothing.
        None if cores.load.is_empty() => Vec::new(),
        None => machine(&cores.server, &cores.load, &inputs.cancelled),
        Some(host) if cores.load.is_empty() => host.disturbances(&cores.server)?,
        Some(host) => [disturbances(&cores.load, &inputs.cancelled), host.disturbances(&cores.server)?].concat(),
    };
    let of_agents = inputs.agents.map(LoadMachines::disturbances).unwrap_or_default();
    Ok([of_servers, of_agents].concat())
}

/// The cores of this machine that the generator does not use; the generator's if it uses all.
fn cores_beside_generator(load_cpus: &CpuSet) -> CpuSet {
    let others = allowed_cpus().map(|all| all.difference(load_cpus)).ok().filter(|others| !others.is_empty());
    others.unwrap_or_else(|| load_cpus.clone())
}

/// Whether this process makes the load, or starts servers. Agents have limits of their own.
fn has_connections_here(plan: &Plan, cores: &Cores) -> bool {
    let is_started = |variant: &Variant| !matches!(variant.program, Program::External { .. });
    !cores.has_agents || !cores.has_host && plan.started().any(is_started)
}

fn external_servers(plan: &Plan) -> Vec<EventRecord> {
    let external = |variant: &&Variant| matches!(variant.program, Program::External { .. });
    distinct(plan.groups.iter().flat_map(|group| &group.variants).filter(external).map(|variant| {
        let variant = Some(variant.name.clone());
        EventRecord { variant, ..EventRecord::new(EventKind::ExternalServer) }
    }))
}

/// Events about what disturbs measuring on these cores of this machine.
pub fn machine(server: &CpuSet, load: &CpuSet, cancelled: &AtomicBool) -> Vec<EventRecord> {
    let both = server.union(load);
    let (server_cpus, load_cpus) = (server.to_string(), load.to_string());
    let mut found = Vec::new();
    if server.overlaps(load) {
        found.push(EventRecord::new(EventKind::SharedCores { server_cpus, load_cpus }));
    } else if physical_cores(&both).iter().any(|core| core.overlaps(server) && core.overlaps(load)) {
        found.push(EventRecord::new(EventKind::SharedPhysicalCores { server_cpus, load_cpus }));
    }
    found.extend(disturbances(&both, cancelled));
    found
}

/// The built-in server: how it is started, and the cores of both sides.
#[derive(Debug, Clone, Copy)]
pub struct KnownServer<'a> {
    pub program: &'a Path,
    pub log_path: &'a Path,
    pub server_cpus: &'a CpuSet,
    pub load_cpus: &'a CpuSet,
    pub cancelled: &'a AtomicBool,
}

impl KnownServer<'_> {
    /// Starts the server, which waits for `delay` before each response, and opens so many connections to it.
    fn start(&self, delay: Duration) -> Result<(Server, LoadSession, usize), RunError> {
        let delay = format!("--delay-us={}", delay.as_micros());
        let spec = ServerSpec {
            name: "the built-in reference server".to_owned(),
            command: [&self.program.to_string_lossy(), "reference", "--port", "{port}", &delay]
                .map(str::to_owned)
                .to_vec(),
            ready: Some(CATALOG_READY.to_owned()),
            cpus: self.server_cpus.clone(),
            startup_timeout: Duration::from_secs(10),
            stop_grace: Duration::from_secs(1),
            log_path: self.log_path.to_owned(),
            ..ServerSpec::default()
        };
        let server = Server::start(&spec, self.cancelled)?;
        let spec = session_spec(server.address(), self.load_cpus);
        Ok((server, LoadSession::open(&spec)?, spec.connections))
    }

    /// Compares what is measured of the server with the delay that it plants. Fails when nothing was measured.
    pub fn self_test(&self) -> Result<EventRecord, RunError> {
        let (server, mut session, connections) = self.start(PLANTED_DELAY)?;
        let schedule = Schedule::poisson(SELF_TEST_RATE_PER_S);
        let slice = SliceSpec {
            sending: if self.server_cpus.overlaps(self.load_cpus) { Sending::Exact } else { Sending::Spinning },
            discard_head: Duration::from_millis(100),
            drain_timeout: Duration::from_secs(2),
            ..SliceSpec::new(schedule, connections, StopRule::Duration(SELF_TEST_TIME))
        };
        let sample = session.run(&slice, &Cancel::new())?;
        server.stop()?;
        Ok(judge(&sample))
    }
}

/// A session in which each of the generator's cores has a connection to the built-in server.
fn session_spec(server: SocketAddr, load_cpus: &CpuSet) -> SessionSpec {
    let request = RequestSpec::get("/path0/4").expecting(Check::body_is(*b"4"));
    SessionSpec {
        connections: SELF_TEST_CONNECTIONS.max(load_cpus.len()),
        cpus: load_cpus.clone(),
        timeout: Duration::from_secs(2),
        connect_timeout: Duration::from_secs(2),
        ..SessionSpec::new(server, vec![request])
    }
}

fn judge(sample: &SliceSample) -> EventRecord {
    let service_ns = |q: f64| sample.service.value_at_quantile_ns(q).unwrap_or(0);
    let figures = SelfTestFigures {
        planted_ns: PLANTED_DELAY.as_nanos() as u64,
        p50_ns: service_ns(0.5),
        p99_ns: service_ns(0.99),
        send_lag_p99_ns: sample.send_lag.value_at_quantile_ns(0.99).unwrap_or(0),
        offered: sample.offered,
        failed: sample.failed,
    };
    let (median, late) = (Duration::from_nanos(figures.p50_ns), Duration::from_nanos(figures.send_lag_p99_ns));
    let is_right = figures.failed == 0
        && median >= PLANTED_DELAY
        && median <= PLANTED_DELAY + MOST_EXCESS
        && late <= MOST_LATENESS;
    EventRecord::new(if is_right { EventKind::SelfTestPassed(figures) } else { EventKind::SelfTestFailed(figures) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(service: Duration, late: Duration, failed: u64) -> SliceSample {
        let mut sample = SliceSample { offered: 100, failed, ..SliceSample::default() };
        sample.service.record_ns(service.as_nanos() as u64);
        sample.send_lag.record_ns(late.as_nanos() as u64);
        sample
    }

    #[test]
    fn the_self_test_passes_near_the_planted_delay_only() {
        let us = Duration::from_micros;
        for (service, late, failed, passes) in [
            (us(2_050), us(20), 0, true),
            (us(2_450), us(900), 0, true),
            (us(1_900), us(20), 0, false),
            (us(2_700), us(20), 0, false),
            (us(2_050), us(1_200), 0, false),
            (us(2_050), us(20), 1, false),
        ] {
            let found = judge(&sample(service, late, failed));
            let has_passed = matches!(found.kind, EventKind::SelfTestPassed(_));
            assert_eq!(has_passed, passes, "{service:?}, {late:?} late, {failed} failed");
            assert_eq!(found.remedy.is_some(), !passes);
            assert_eq!(found.text.contains("1 of 100 requests failed"), failed > 0);
        }
    }

    #[test]
    fn the_session_of_the_self_test_has_a_connection_for_each_core_however_many_there_are() {
        for (cores, connections) in [(1, 16), (16, 16), (17, 17), (64, 64)] {
            let spec = session_spec("127.0.0.1:80".parse().unwrap(), &CpuSet::from_indices(0..cores));
            assert_eq!((spec.connections, spec.cpus.len()), (connections, cores), "a slice has as many");
        }
    }

    #[test]
    fn a_run_needs_open_files_where_it_makes_load_or_starts_servers() {
        let cores = |has_host, has_agents| {
            let [server, load, warmup] = ["0", "1", "0"].map(|list| list.parse().unwrap());
            Cores { server, load, warmup, are_apart: true, has_host, has_agents }
        };
        let needs = |plan: &Plan| {
            [(false, false), (true, false), (false, true), (true, true)]
                .map(|(host, agents)| has_connections_here(plan, &cores(host, agents)))
        };
        let mut plan = crate::tests::plan(&["a", "b"], &["Get"]);
        assert_eq!(needs(&plan), [true, true, true, false]);
        for variant in &mut plan.groups[0].variants {
            variant.program = Program::External { url: "http://10.0.0.7:80".to_owned(), transport: Default::default() };
        }
        assert_eq!(needs(&plan), [true, true, false, false], "agents drive servers that run already");
    }

    #[test]
    fn cores_that_both_sides_use_are_reported() {
        let cancelled = AtomicBool::new(true);
        let shares = |server: &str, load: &str| {
            let found = machine(&server.parse().unwrap(), &load.parse().unwrap(), &cancelled);
            found.iter().any(|event| matches!(event.kind, EventKind::SharedCores { .. }))
        };
        assert!(shares("0-1", "1"));
        assert!(!shares("0", "1"));
    }
}
