//! The agent's side: handles orders about servers on its machine, with the same [`LocalServers`] as a run on one machine.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use tare_sut::SutError;
use tare_sut::jdk::Jdk;
use tare_sut::sampler::{cache_folder, present_jar};

use crate::protocol::{Answer, Bytes, SampledReport, ServersTask, StoppedServer};
use crate::servers::CHUNK;
use crate::servers::files::FileStore;
use crate::servers::leftovers::{mark_used, remove_leftovers};
use crate::servers::network_path::{TRANSFER_TIMEOUT, listen_for_transfer};
use tare_run::machine_state::disturbances;
use tare_run::server_host::{
    LocalServers, SamplingOrder, ServerHost, ServerId, StartOrder, StartOrigin, StartedServers,
};

const LONGEST_LOG: u64 = 1 << 20;
/// The most bytes of all logs that are sent together: a byte takes up to six in a report.
const LONGEST_LOGS: u64 = 2 << 20;

/// The folder for the logs of an agent's servers. In a shared folder another user could create a file of that name.
pub(crate) fn work_folder() -> PathBuf {
    cache_folder().join(format!("servers-{}", std::process::id()))
}

pub(crate) struct AgentHost {
    servers: LocalServers,
    store: FileStore,
    work: PathBuf,
    /// File names of the logs, by server: its own, and those of what is behind it.
    logs: BTreeMap<ServerId, Vec<PathBuf>>,
    transfer: Option<Receiver<Option<u64>>>,
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
            transfer: None,
            recording: None,
            cancelled: Arc::clone(cancelled),
        }
    }

    /// Carries out an operation. An error is the reason, in one sentence.
    pub(crate) fn execute(&mut self, task: ServersTask) -> Result<Answer, String> {
        let text = |error: io::Error| error.to_string();
        Ok(match task {
            ServersTask::Listen { address } => {
                let (port, received) = listen_for_transfer(address).map_err(text)?;
                self.transfer = Some(received);
                Answer::Listening(port)
            }
            ServersTask::Received => {
                let received = self.transfer.take();
                Answer::Received(received.and_then(|received| received.recv_timeout(TRANSFER_TIMEOUT).ok()?))
            }
            ServersTask::FindJava { minimum, home } => {
                let found = Jdk::find_suitable(minimum, home.as_deref());
                Answer::Java(found.map_err(|error| error.to_string())?)
            }
            ServersTask::Find { hash, name } => Answer::Found(self.store.find(&hash, &name)),
            ServersTask::Keep { hash, part } => {
                self.store.write(&hash, &part).map_err(text)?;
                Answer::Done
            }
            ServersTask::Finish { hash, name } => Answer::Found(Some(self.store.finish(&hash, &name).map_err(text)?)),
            ServersTask::Disturbances { cpus } => Answer::Disturbances(disturbances(&cpus, &self.cancelled)),
            ServersTask::Start(starts) => self.start(starts)?,
            ServersTask::MoveTo { server, cpus } => {
                self.servers.move_to(server, &cpus);
                Answer::Done
            }
            ServersTask::Status(server) => Answer::Status(self.servers.status(server)),
            ServersTask::LogTail(server) => Answer::Log(self.servers.log_tail(server)),
            ServersTask::ObserveRest { servers, span } => Answer::Rest(self.servers.observe_rest(&servers, span.0)),
            ServersTask::BeginWatch(watch) => {
                self.servers.begin_watch(&watch);
                Answer::Done
            }
            ServersTask::LookAtJvm(server) => {
                self.servers.look_at_jvm(server);
                Answer::Done
            }
            ServersTask::EndWatch { scored_from_ns } => Answer::Uses(self.servers.end_watch(scored_from_ns)),
            ServersTask::BeginSampling { sampling, jar } => self.begin_sampling(&sampling, jar)?,
            ServersTask::EndSampling => Answer::Sampled(self.end_sampling()?),
            ServersTask::ReadRecording { from } => {
                Answer::RecordingPart(Bytes(self.read_recording(from).map_err(text)?))
            }
            ServersTask::Stop(servers) => Answer::Stopped(self.stop(&servers)),
            ServersTask::End => {
                let all: Vec<_> = std::mem::take(&mut self.logs).into_keys().collect();
                self.servers.stop(&all);
                let _ = fs::remove_dir_all(&self.work);
                Answer::Done
            }
        })
    }

    fn stop(&mut self, servers: &[ServerId]) -> Vec<StoppedServer> {
        let ends = self.servers.stop(servers);
        let longest = longest_log(servers.iter().filter_map(|id| self.logs.get(id)).map(Vec::len).sum());
        servers.iter().zip(ends).map(|(id, end)| StoppedServer { end, log: self.take_log(*id, longest) }).collect()
    }

    /// Starts servers in the folder of their logs, as there is no folder of a suite here.
    fn start(&mut self, mut starts: Vec<StartOrder>) -> Result<Answer, String> {
        fs::create_dir_all(&self.work).map_err(|error| format!("{}: {error}", self.work.display()))?;
        for start in &mut starts {
            let logs: Vec<PathBuf> = start.starts().map(|spec| spec.log_path.clone()).collect();
            let files = start.starts().flat_map(|spec| spec.files.keys()).map(Path::new);
            if let Some(wrong) = logs.iter().map(PathBuf::as_path).chain(files).find(|name| !is_file_name(name)) {
                return Err(format!("{wrong:?} is no file name"));
            }
            self.logs.insert(start.id, logs);
            let mut next = match &mut start.origin {
                StartOrigin::Ours(spec) => Some(&mut **spec),
                StartOrigin::External(_) => None,
            };
            while let Some(spec) = next {
                spec.directory.get_or_insert_with(|| self.work.clone());
                next = spec.upstream.as_deref_mut();
            }
        }
        self.servers.start(&starts).map(Answer::Started).map_err(|error| error.to_string())
    }

    fn begin_sampling(&mut self, sampling: &SamplingOrder, jar: Option<PathBuf>) -> Result<Answer, String> {
        if !is_file_name(Path::new(&sampling.file_name)) {
            return Err(format!("{:?} is no file name", sampling.file_name));
        }
        self.forget_recording();
        Ok(match self.servers.begin_sampling_with_jar(sampling, &|| present_jar(jar.clone())) {
            Ok(()) => Answer::Done,
            Err(SutError::NoAsyncProfiler { folder }) => Answer::NoAsyncProfiler(folder),
            Err(error) => return Err(error.to_string()),
        })
    }

    fn end_sampling(&mut self) -> Result<SampledReport, String> {
        let sampled = self.servers.end_sampling().map_err(|error| error.to_string())?;
        let report = SampledReport::pack(&sampled);
        self.recording = Some(sampled.file);
        report
    }

    /// The bytes of the recording from `from` on, at most [`CHUNK`]. Empty at the end; then the file is removed.
    fn read_recording(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let Some(path) = &self.recording else { return Ok(Vec::new()) };
        let part = part_of_file(path, from, CHUNK as u64)?;
        if part.is_empty() {
            self.forget_recording();
        }
        Ok(part)
    }

    fn forget_recording(&mut self) {
        // A file that cannot be removed now is removed with the folder.
        let _ = self.recording.take().map(fs::remove_file);
    }

    /// Returns the last bytes of a server's log, at most `longest`, and removes the file.
    fn take_log(&mut self, id: ServerId, longest: u64) -> String {
        let mut all = Vec::new();
        for name in self.logs.remove(&id).unwrap_or_default() {
            let path = self.work.join(name);
            let length = fs::metadata(&path).map_or(0, |about| about.len());
            all.extend(part_of_file(&path, length.saturating_sub(longest), longest).unwrap_or_default());
            let _ = fs::remove_file(path);
        }
        String::from_utf8_lossy(&all).into_owned()
    }
}

fn is_file_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == path.as_os_str())
}

fn longest_log(logs: usize) -> u64 {
    LONGEST_LOG.min(LONGEST_LOGS / logs.max(1) as u64)
}

fn part_of_file(path: &Path, from: u64, longest: u64) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut part = Vec::new();
    file.take(longest).read_to_end(&mut part)?;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{LONGEST_REPORT, Report, encode_frame};

    #[test]
    fn the_logs_of_all_servers_of_a_start_fit_into_one_report() {
        for logs in [1, 2, 3, 40] {
            let log = "\u{1b}".repeat(longest_log(logs) as usize);
            let stopped = vec![StoppedServer { end: String::new(), log }; logs];
            let report = Report::Answer { number: 1, answer: Ok(Answer::Stopped(stopped)) };
            assert!(encode_frame(&report, LONGEST_REPORT).is_ok(), "{logs} logs");
        }
    }
}
