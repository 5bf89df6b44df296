//! The servers of this machine: processes under their supervisors, and the probes that read them.

pub(crate) mod counters;
pub(crate) mod other_programs;
pub(crate) mod running_server;
pub(crate) mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_record::ServerUse;
use tare_sut::SutError;
use tare_sut::probe::cpu::{CpuSample, share_at_rest};
use tare_sut::sampler::{EndSampling, FindJar, Sampled, async_profiler_jar, begin_sampling};
use tare_sut::server::{Server, Status};
use tare_sys::affinity::CpuSet;
use tare_sys::limits::raise_open_files;
use tare_sys::threads::map_in_threads;

use super::{
    SamplingOrder, ServerHost, ServerId, StartFailure, StartOrder, StartedServer, StartedServers, no_sampler_attached,
};
use crate::error::RunError;
use crate::machine::machine_state::pause;
use crate::server_host::local::running_server::{RunningServer, RunningServers};
use crate::server_host::local::watch::{Watch, WatchOrder};

pub struct LocalServers {
    logs: PathBuf,
    profiles: PathBuf,
    cancelled: Arc<AtomicBool>,
    servers: RunningServers,
    watch: Option<Watch>,
    sampling: Option<EndSampling>,
}

impl LocalServers {
    /// No server yet. `cancelled` stops a start that waits, and what takes long of a sampler.
    pub fn new(logs: PathBuf, profiles: PathBuf, cancelled: Arc<AtomicBool>) -> Self {
        Self { logs, profiles, cancelled, servers: RunningServers::new(), watch: None, sampling: None }
    }

    /// Attaches a sampler to a server; async-profiler comes from `jar`.
    pub fn begin_sampling_with_jar(&mut self, sampling: &SamplingOrder, jar: FindJar<'_>) -> Result<(), SutError> {
        let server = self.servers.get(&sampling.server);
        let not_visible = || {
            let remedy = "let tare start it, with a command in a suite file";
            SutError::sampler("profile a server that runs elsewhere", "its process cannot be seen", remedy)
        };
        let pid = server.and_then(|server| server.pid()).ok_or_else(not_visible)?;
        let SamplingOrder { event, file_name, .. } = sampling;
        self.sampling = Some(begin_sampling(pid, *event, &self.profiles, file_name, jar, &self.cancelled)?);
        Ok(())
    }
}

impl ServerHost for LocalServers {
    fn start(&mut self, starts: &[StartOrder]) -> Result<Vec<Result<StartedServer, StartFailure>>, RunError> {
        // They inherit the limit, and not all programs raise it themselves.
        raise_open_files(starts.iter().map(|start| start.open_files).max().unwrap_or(0));
        let (logs, cancelled) = (&self.logs, &*self.cancelled);
        let started = map_in_threads(starts.iter().collect(), |start: &StartOrder| start.start(logs, cancelled));
        let mut results = Vec::new();
        for (start, started) in starts.iter().zip(started) {
            let started = started.ok_or_else(|| RunError::NotPrepared(start.name()))?;
            results.push(started.map_err(StartFailure::from).map(|(address, own)| {
                let startup_ns = own.as_ref().map_or(0, Server::startup_ns);
                self.servers.insert(start.id, RunningServer::new(own, start.counters(), &self.logs));
                StartedServer { startup_ns, address }
            }));
        }
        Ok(results)
    }

    fn begin_watch(&mut self, watch: &WatchOrder) {
        self.watch = Some(Watch::begin(&mut self.servers, watch));
    }

    fn look_at_jvm(&mut self, server: ServerId) {
        if let Some(watch) = &mut self.watch {
            watch.look_at_jvm(server, &mut self.servers);
        }
    }

    fn end_watch(&mut self, scored_from_ns: u64) -> Vec<ServerUse> {
        let watch = self.watch.take();
        watch.map(|watch| watch.end(&mut self.servers, scored_from_ns)).unwrap_or_default()
    }
}

impl StartedServers for LocalServers {
    fn observe_rest(&mut self, servers: &[ServerId], span: Duration) -> Vec<Option<f64>> {
        let mut cpu = |id: &ServerId| self.servers.get_mut(id)?.cpu();
        let before: Vec<_> = servers.iter().map(&mut cpu).collect();
        pause(span, &self.cancelled);
        let share = |(before, id): (Option<Vec<CpuSample>>, _)| {
            let before = CpuSample::sum(&before?);
            Some(share_at_rest(&CpuSample::sum(&cpu(id)?).since(&before)))
        };
        before.into_iter().zip(servers).map(share).collect()
    }

    fn move_to(&mut self, server: ServerId, cpus: &CpuSet) {
        if let Some(server) = self.servers.get(&server) {
            // A server that has just died cannot be moved; its status says so.
            let _ = server.set_cpus(cpus);
        }
    }

    fn status(&self, server: ServerId) -> Status {
        self.servers.get(&server).map_or(Status::Stopped, RunningServer::status)
    }

    fn log_tail(&self, server: ServerId) -> Option<String> {
        self.servers.get(&server)?.log_tail()
    }

    fn begin_sampling(&mut self, sampling: &SamplingOrder) -> Result<(), SutError> {
        let cancelled = Arc::clone(&self.cancelled);
        self.begin_sampling_with_jar(sampling, &|| async_profiler_jar(&cancelled))
    }

    fn end_sampling(&mut self) -> Result<Sampled, SutError> {
        let end = self.sampling.take().ok_or_else(no_sampler_attached)?;
        end()
    }

    fn stop(&mut self, servers: &[ServerId]) -> Vec<String> {
        let removed: Vec<_> = servers.iter().map(|id| self.servers.remove(id)).collect();
        let ended = map_in_threads(removed, |server: Option<RunningServer>| Some(server?.stop()));
        ended.into_iter().map(|end| end.flatten().unwrap_or_else(|| "it was not running".to_owned())).collect()
    }
}
