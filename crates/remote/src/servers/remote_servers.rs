//! The servers of a run on another machine: each operation is a task of the agent there.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_record::ServerUse;
use tare_run::server_host::{
    SamplingOrder, ServerHost, ServerId, ServerMachine, StartFailure, StartOrder, StartedServer, StartedServers,
    WatchOrder, no_sampler_attached,
};
use tare_run::{RunError, plain_line};
use tare_sut::SutError;
use tare_sut::sampler::{Sampled, async_profiler_jar};
use tare_sut::server::Status;
use tare_sys::affinity::CpuSet;
use tare_units::Span;

use super::RemoteHost;
use crate::protocol::{Answer, Bytes, ServersTask, StoppedServer, Task, answer_of};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const LARGEST_RECORDING: u64 = 1 << 30;

pub(crate) struct RemoteServers<'a> {
    host: &'a RemoteHost,
    logs: &'a Path,
    profiles: &'a Path,
    log_names: BTreeMap<ServerId, PathBuf>,
    sampler_file_name: Option<String>,
    cancelled: Arc<AtomicBool>,
}

impl<'a> RemoteServers<'a> {
    /// No server yet. `cancelled` stops a start that waits, and the download of a sampler.
    pub fn new(host: &'a RemoteHost, logs: &'a Path, profiles: &'a Path, cancelled: Arc<AtomicBool>) -> Self {
        let (log_names, sampler_file_name) = (BTreeMap::new(), None);
        Self { host, logs, profiles, log_names, sampler_file_name, cancelled }
    }

    /// The result of a start there. A server that cannot be reached from here is an error.
    pub(super) fn check_started(
        &self,
        start: &StartOrder,
        result: Result<StartedServer, StartFailure>,
    ) -> Result<StartedServer, StartFailure> {
        let (server, host) = (start.name(), self.host);
        let there = |failure: StartFailure| StartFailure { text: format!("on {host}: {}", failure.text), ..failure };
        let StartedServer { startup_ns, address } = result.map_err(there)?;
        let address = SocketAddr::new(host.address(), address.port());
        TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).map_err(|error| {
            SutError::Other(format!(
                "{server} is ready on {host}, but {address} cannot be reached from here ({error}); let it listen on \
                 {{address}} or $TARE_ADDRESS, or name another address with --server-address"
            ))
        })?;
        Ok(StartedServer { startup_ns, address })
    }

    fn error(&self, reason: impl std::fmt::Display) -> SutError {
        SutError::Other(format!("on {}: {reason}", self.host))
    }

    /// What `pick` finds in the answer to a task. An error names the machine.
    fn ask<T>(&self, task: ServersTask, pick: impl Fn(Answer) -> Option<T>) -> Result<T, SutError> {
        self.host.ask(task, pick).map_err(|error| match error {
            RunError::Agent { reason, .. } => self.error(plain_line(&reason)),
            other => SutError::Other(other.to_string()),
        })
    }

    /// Orders the agent to attach a sampler. Returns a folder if async-profiler is needed and missing in it.
    fn attach_sampler(&self, sampling: &SamplingOrder, jar: Option<PathBuf>) -> Result<Option<PathBuf>, SutError> {
        self.ask(ServersTask::BeginSampling { sampling: sampling.clone(), jar }, |answer| match answer {
            Answer::Done => Some(None),
            Answer::NoAsyncProfiler(folder) => Some(Some(folder)),
            _ => None,
        })
    }

    fn send_async_profiler(&self) -> Result<PathBuf, String> {
        let jar = async_profiler_jar(&self.cancelled).map_err(|error| error.to_string())?;
        self.host.send_if_missing(&jar).map_err(|error| error.to_string())
    }

    fn fetch_recording(&self, file: &Path) -> Result<(), SutError> {
        let unwritten = |error: std::io::Error| self.error(format!("cannot write {}: {error}", file.display()));
        let mut copy = fs::File::create(file).map_err(unwritten)?;
        let mut from = 0;
        loop {
            let Bytes(part) = self.ask(ServersTask::ReadRecording { from }, answer_of!(RecordingPart))?;
            if part.is_empty() {
                return Ok(());
            }
            from += part.len() as u64;
            if from > LARGEST_RECORDING {
                let limit = LARGEST_RECORDING >> 20;
                let remedy = "profile with a shorter --span";
                return Err(self.error(format!("the sampler's file takes more than {limit} MiB; {remedy}")));
            }
            copy.write_all(&part).map_err(unwritten)?;
        }
    }
}

impl ServerHost for RemoteServers<'_> {
    fn start(&mut self, starts: &[StartOrder]) -> Result<Vec<Result<StartedServer, StartFailure>>, RunError> {
        let task = ServersTask::Start(starts.to_vec());
        let results =
            self.host.agent().call_first(Task::Servers(task), Some(&self.cancelled), |answer| match answer {
                Answer::Started(results) if results.len() == starts.len() => Some(results),
                _ => None,
            })?;
        let mut all = Vec::with_capacity(starts.len());
        for (start, result) in starts.iter().zip(results) {
            self.log_names.extend(start.starts().next().map(|spec| (start.id, spec.log_path.clone())));
            let started = self.check_started(start, result);
            if started.is_err() {
                self.stop(&[start.id]);
            }
            all.push(started);
        }
        Ok(all)
    }

    fn check(&self) -> Result<(), RunError> {
        self.host.agent().check()
    }

    fn begin_watch(&mut self, watch: &WatchOrder) {
        let _ = self.host.ask(ServersTask::BeginWatch(watch.clone()), Some);
    }

    fn look_at_jvm(&mut self, server: ServerId) {
        self.host.agent().send_task(0, Task::Servers(ServersTask::LookAtJvm(server)), false);
    }

    fn end_watch(&mut self, scored_from_ns: u64) -> Vec<ServerUse> {
        self.host.ask(ServersTask::EndWatch { scored_from_ns }, answer_of!(Uses)).unwrap_or_default()
    }
}

impl StartedServers for RemoteServers<'_> {
    fn observe_rest(&mut self, servers: &[ServerId], span: Duration) -> Vec<Option<f64>> {
        let task = ServersTask::ObserveRest { servers: servers.to_vec(), span: Span(span) };
        self.host.ask(task, answer_of!(Rest)).unwrap_or_else(|_| vec![None; servers.len()])
    }

    fn move_to(&mut self, server: ServerId, cpus: &CpuSet) {
        let _ = self.host.ask(ServersTask::MoveTo { server, cpus: cpus.clone() }, Some);
    }

    fn status(&self, server: ServerId) -> Status {
        self.host.ask(ServersTask::Status(server), answer_of!(Status)).unwrap_or(Status::Running)
    }

    fn log_tail(&self, server: ServerId) -> Option<String> {
        self.host.ask(ServersTask::LogTail(server), answer_of!(Log)).ok().flatten()
    }

    fn begin_sampling(&mut self, sampling: &SamplingOrder) -> Result<(), SutError> {
        if let Some(folder) = self.attach_sampler(sampling, None)? {
            let jar = self.send_async_profiler().map_err(|reason| {
                let folder = folder.display();
                self.error(format!("async-profiler is not in {folder}, and cannot be sent from here: {reason}"))
            })?;
            if self.attach_sampler(sampling, Some(jar))?.is_some() {
                return Err(self.error("async-profiler was sent, and is damaged; profile again"));
            }
        }
        self.sampler_file_name = Some(sampling.file_name.clone());
        Ok(())
    }

    fn end_sampling(&mut self) -> Result<Sampled, SutError> {
        let name = self.sampler_file_name.take().ok_or_else(no_sampler_attached)?;
        let sampled = self.ask(ServersTask::EndSampling, answer_of!(Sampled))?;
        let unread = |reason: String| self.error(format!("the stacks cannot be used: {reason}"));
        let sampled = sampled.unpack(&self.profiles.join(name)).map_err(unread)?;
        self.fetch_recording(&sampled.file).inspect_err(|_| drop(fs::remove_file(&sampled.file)))?;
        Ok(sampled)
    }

    fn stop(&mut self, servers: &[ServerId]) -> Vec<String> {
        let stopped = self.host.ask(ServersTask::Stop(servers.to_vec()), |answer| match answer {
            Answer::Stopped(stopped) if stopped.len() == servers.len() => Some(stopped),
            _ => None,
        });
        let stopped = match stopped {
            Ok(stopped) => stopped,
            Err(error) => return vec![error.to_string(); servers.len()],
        };
        let keep = |(id, StoppedServer { end, log }): (&ServerId, StoppedServer)| {
            if let Some(name) = self.log_names.remove(id).filter(|_| !log.is_empty()) {
                // A run goes on without the log.
                let _ = fs::write(self.logs.join(name), log);
            }
            end
        };
        servers.iter().zip(stopped).map(keep).collect()
    }
}
