//! The agent's side: handles orders about servers on its machine, with the same [`LocalServers`] as a run on one machine.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_sut::SutError;
use tare_sut::jdk::Jdk;
use tare_sut::sampler::{JarSource, cache_folder};
use tare_sys::affinity::allowed_cpus;

use crate::link::order_handler::{Attachment, OrderHandler};
use crate::servers::CHUNK;
use crate::servers::files::{FilePart, FileStore};
use crate::servers::leftovers::{mark_used, remove_leftovers};
use crate::servers::message::{HostFacts, HostOrder, HostReport, PackedUse, StartResult, StoppedServer};
use crate::servers::network_path::TransferListener;
use crate::servers::sampled::SampledReport;
use tare_run::machine_state::{disturbances, machine_facts};
use tare_run::server_host::ServerId;
use tare_run::server_host::{LocalServers, SamplingOrder, ServerHost, StartOrder, StartOrigin};

/// The most bytes of a server's log that are sent.
const LONGEST_LOG: u64 = 1 << 20;

/// The folder for the logs of an agent's servers while it runs. It is below the user's own folder, because in a shared one
/// another user could create a file of that name.
pub(crate) fn work_folder() -> PathBuf {
    cache_folder().join(format!("servers-{}", std::process::id()))
}

/// The servers of an agent.
pub(crate) struct AgentHost {
    servers: LocalServers,
    store: FileStore,
    work: PathBuf,
    /// File names of the logs, by server.
    logs: BTreeMap<ServerId, String>,
    /// While the network path to this machine is measured.
    listener: Option<TransferListener>,
    /// The file of the last sampler, until it has been read.
    recording: Option<PathBuf>,
    cancelled: Arc<AtomicBool>,
}

impl AgentHost {
    /// No server yet. `cancelled` ends a start that waits.
    pub(crate) fn new(cancelled: &Arc<AtomicBool>) -> Self {
        let work = work_folder();
        if let Some(program) = env::current_exe().ok().filter(|program| program.starts_with(cache_folder())) {
            let _ = mark_used(&program);
        }
        remove_leftovers(&cache_folder());
        Self {
            servers: LocalServers::new(work.clone(), work.clone(), Arc::clone(cancelled)),
            store: FileStore::new(cache_folder()),
            work,
            logs: BTreeMap::new(),
            listener: None,
            recording: None,
            cancelled: Arc::clone(cancelled),
        }
    }

    fn execute(&mut self, order: HostOrder, contents: &[u8]) -> Result<HostReport, String> {
        let text = |error: io::Error| error.to_string();
        Ok(match order {
            HostOrder::Describe { java } => HostReport::Facts(facts(java.as_deref())?),
            HostOrder::Listen { address } => {
                let listener = self.listener.insert(TransferListener::begin(address).map_err(text)?);
                HostReport::Listening { port: listener.port }
            }
            HostOrder::Received => {
                HostReport::Received(self.listener.take().and_then(TransferListener::wait_for_transfer))
            }
            HostOrder::FindJava { minimum, home } => {
                let found = Jdk::find_suitable(minimum, home.as_deref());
                HostReport::Java(found.map_err(|error| error.to_string())?)
            }
            HostOrder::Find { hash, name } => HostReport::Found(self.store.find(&hash, &name)),
            HostOrder::Keep { hash, path, is_executable, is_first } => {
                self.store.write(&hash, FilePart { path: &path, is_executable, is_first, contents }).map_err(text)?;
                HostReport::Done
            }
            HostOrder::Finish { hash, name } => HostReport::Found(Some(self.store.finish(&hash, &name).map_err(text)?)),
            HostOrder::Disturbances { cpus } => {
                let cpus = cpus.parse().map_err(|error| format!("{cpus}: {error}"))?;
                HostReport::Disturbances(disturbances(&cpus, &self.cancelled))
            }
            HostOrder::Start(starts) => HostReport::Started(self.start(starts)?),
            HostOrder::MoveTo { server, cpus } => {
                self.servers.move_to(server, &cpus);
                HostReport::Done
            }
            HostOrder::Status(server) => HostReport::Status(self.servers.status(server).into()),
            HostOrder::LogTail { server, lines } => HostReport::Log(self.servers.log_tail(server, lines)),
            HostOrder::ObserveRest { servers, span } => HostReport::Rest(self.servers.observe_rest(&servers, span.0)),
            HostOrder::BeginWatch(watch) => {
                self.servers.begin_watch(&watch);
                HostReport::Done
            }
            HostOrder::LookAtJvm(server) => {
                self.servers.look_at_jvm(server);
                HostReport::Done
            }
            HostOrder::EndWatch { scored_from_ns } => {
                let uses = self.servers.end_watch(scored_from_ns);
                HostReport::Uses(uses.into_iter().map(PackedUse::pack).collect())
            }
            HostOrder::BeginSampling { sampling, jar } => self.begin_sampling(&sampling, jar)?,
            HostOrder::EndSampling => self.end_sampling(),
            HostOrder::ReadRecording { from } => {
                HostReport::RecordingPart { part: self.read_recording(from).map_err(text)? }
            }
            HostOrder::Stop(servers) => {
                let ends = self.servers.stop(&servers);
                let stopped = servers.iter().zip(ends).map(|(id, end)| StoppedServer { end, log: self.take_log(*id) });
                HostReport::Stopped(stopped.collect())
            }
            HostOrder::End => {
                let all: Vec<_> = std::mem::take(&mut self.logs).into_keys().collect();
                self.servers.stop(&all);
                let _ = fs::remove_dir_all(&self.work);
                HostReport::Done
            }
        })
    }

    /// Starts servers in the folder of their logs, as there is no folder of a suite here.
    fn start(&mut self, mut starts: Vec<StartOrder>) -> Result<Vec<StartResult>, String> {
        fs::create_dir_all(&self.work).map_err(|error| format!("{}: {error}", self.work.display()))?;
        for start in &mut starts {
            if !is_file_name(&start.log_name) {
                return Err(format!("{:?} is no file name", start.log_name));
            }
            if let StartOrigin::Ours(own) = &mut start.origin {
                own.directory.get_or_insert_with(|| self.work.clone());
            }
            self.logs.insert(start.id, start.log_name.clone());
        }
        let results = self.servers.start(&starts).map_err(|error| error.to_string())?;
        let result = |result| match result {
            Ok(started) => StartResult::ready(started),
            Err(SutError::Cancelled { .. }) => StartResult::Cancelled,
            Err(error) => StartResult::Failed(error.to_string()),
        };
        Ok(results.into_iter().map(result).collect())
    }

    /// Attaches a sampler. `jar` is async-profiler, if it was sent to this machine.
    fn begin_sampling(&mut self, sampling: &SamplingOrder, jar: Option<PathBuf>) -> Result<HostReport, String> {
        if !is_file_name(&sampling.file_name) {
            return Err(format!("{:?} is no file name", sampling.file_name));
        }
        self.forget_recording();
        Ok(match self.servers.begin_sampling_with_jar(sampling, &JarSource::Brought(jar)) {
            Ok(()) => HostReport::Done,
            Err(SutError::NoAsyncProfiler { folder }) => HostReport::NoAsyncProfiler { folder },
            Err(error) => HostReport::SamplerFailed(error.to_string()),
        })
    }

    fn end_sampling(&mut self) -> HostReport {
        let sampled = match self.servers.end_sampling() {
            Ok(sampled) => sampled,
            Err(error) => return HostReport::SamplerFailed(error.to_string()),
        };
        let report = SampledReport::pack(&sampled).map_or_else(HostReport::SamplerFailed, HostReport::Sampled);
        self.recording = Some(sampled.file);
        report
    }

    /// The bytes of the recording from `from` on, at most [`CHUNK`]. Empty at the end; then the file is removed.
    fn read_recording(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let Some(path) = &self.recording else { return Ok(Vec::new()) };
        let mut file = fs::File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut part = Vec::new();
        file.take(CHUNK as u64).read_to_end(&mut part)?;
        if part.is_empty() {
            self.forget_recording();
        }
        Ok(part)
    }

    fn forget_recording(&mut self) {
        // A file that cannot be removed now is removed with the folder.
        let _ = self.recording.take().map(fs::remove_file);
    }

    /// Returns the end of a server's log and removes the file.
    fn take_log(&mut self, id: ServerId) -> String {
        let Some(name) = self.logs.remove(&id) else { return String::new() };
        let path = self.work.join(name);
        let log = end_of_file(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        String::from_utf8_lossy(&log).into_owned()
    }
}

impl OrderHandler for AgentHost {
    type Order = HostOrder;
    type Report = HostReport;

    fn handle_order(&mut self, order: HostOrder, contents: &[u8]) -> Result<(HostReport, Attachment), String> {
        let mut report = self.execute(order, contents)?;
        let attached = report.attached_mut().map(std::mem::take);
        Ok((report, attached.map_or(Attachment::Nothing, Attachment::Contents)))
    }

    fn failure_report(reason: String) -> HostReport {
        HostReport::Failed(reason)
    }
}

fn is_file_name(text: &str) -> bool {
    !text.is_empty() && Path::new(text).file_name().is_some_and(|name| name == text)
}

fn end_of_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(LONGEST_LOG);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.take(LONGEST_LOG).read_to_end(&mut end)?;
    Ok(end)
}

fn facts(java: Option<&Path>) -> Result<HostFacts, String> {
    // `client port server port`, of the connection that this agent was started over.
    let connection = std::env::var("SSH_CONNECTION").ok();
    Ok(HostFacts {
        sections: machine_facts(),
        cpus: allowed_cpus().map_err(|error| error.to_string())?.to_string(),
        jdk: Jdk::find_suitable(0, java).ok().map(|jdk| jdk.major),
        ssh_address: connection.and_then(|all| all.split(' ').nth(2)?.parse().ok()),
    })
}
