//! Allocation, heap and garbage collection of a .NET process, by the diagnostic port that every runtime since .NET Core 3.0
//! opens. The application stays as it is.
//!
//! A session asks for `EventCounters` ten times a second, and for an event at each collection. A thread adds them up.
//!
//! # Source
//! `documentation/design-docs/ipc-protocol.md` of dotnet/diagnostics.

pub mod trace;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tare_record::CollectorUse;
use tare_sys::clock;

use self::trace::{TraceReader, TraceTotals};
use super::counter_socket::{ProcessCounters, sum_counters};
use super::runtime::RuntimeSample;

const MAGIC: &[u8; 14] = b"DOTNET_IPC_V1\0";
/// Command set and command: collect events.
const COLLECT: [u8; 2] = [2, 2];
/// Command set and command of an answer without an error.
const OK: [u8; 2] = [0xff, 0];
/// Bytes of a message before its own content.
const HEADER_BYTES: usize = 20;
/// Events that the runtime may keep for us, in MB.
const BUFFER_MB: u32 = 16;
/// The form of the stream: nettrace.
const NETTRACE: u32 = 1;
/// Events about garbage collection.
const GC_KEYWORD: u64 = 1;
const INFORMATIONAL: u32 = 4;
/// Ten reports a second. The runtime reads the number in the language of the server's environment: in German `0.1` is 1, in
/// French it is no number. An exponent is the same in both.
const TICKS: &str = "EventCounterIntervalSec=1e-1";

/// A runtime that reports nothing for so long has no counters at that moment.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The .NET processes of one server.
#[derive(Debug)]
pub struct DotnetProbe {
    /// By process; `None` for one with a port that does not report.
    sessions: BTreeMap<u32, Option<Session>>,
}

/// The events of one process.
#[derive(Debug)]
struct Session {
    stream: UnixStream,
    totals: Arc<PublishedTotals>,
}

/// The totals of the events that the reading thread has received, and whether the stream has ended.
#[derive(Debug, Default)]
struct PublishedTotals {
    state: Mutex<(TraceTotals, bool)>,
    ticked: Condvar,
}

impl DotnetProbe {
    /// Opens sessions with those of `processes` that have a diagnostic port.
    pub fn new(processes: &[u32]) -> Self {
        let mut probe = Self { sessions: BTreeMap::new() };
        probe.update_sessions(processes);
        probe
    }

    /// The sum over those of `processes` that have a diagnostic port, at a tick of each that is later than this call; `None` if
    /// none has one, or one does not report.
    pub fn take_sample(&mut self, processes: &[u32]) -> Option<RuntimeSample> {
        self.update_sessions(processes);
        let sessions: BTreeMap<u32, &Session> =
            self.sessions.iter().map(|(pid, session)| Some((*pid, session.as_ref()?))).collect::<Option<_>>()?;
        let now = clock::now().0;
        let all: BTreeMap<u32, ProcessCounters> = sessions
            .into_iter()
            .map(|(pid, session)| Some((pid, to_counters(session.totals.wait_for_tick_after(now)?))))
            .collect::<Option<_>>()?;
        (!all.is_empty()).then(|| sum_counters(&all))
    }

    /// Closes the sessions of processes that have ended, and opens sessions with new ones.
    fn update_sessions(&mut self, processes: &[u32]) {
        self.sessions.retain(|pid, _| processes.contains(pid));
        let new = processes.iter().filter(|pid| !self.sessions.contains_key(pid));
        let opened: Vec<_> = new.filter_map(|pid| Some((*pid, Session::open(&find_port(*pid)?)))).collect();
        let reporting = opened.into_iter().map(|(pid, session)| (pid, session.filter(Session::sends_reports)));
        self.sessions.extend(reporting);
    }
}

/// The diagnostic port: `dotnet-diagnostic-PID-KEY-socket` in the process's folder for temporary files.
fn find_port(pid: u32) -> Option<PathBuf> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let own = environment.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(b"TMPDIR="));
    let folder = own.filter(|own| !own.is_empty()).map_or("/tmp".into(), String::from_utf8_lossy);
    let is_port = |name: &str| name.starts_with(&format!("dotnet-diagnostic-{pid}-")) && name.ends_with("-socket");
    let mut entries = std::fs::read_dir(folder.as_ref()).ok()?.flatten();
    entries.find(|entry| entry.file_name().to_str().is_some_and(is_port)).map(|entry| entry.path())
}

impl Session {
    /// Asks for the events, and reads them in a thread of its own until the process or this session ends.
    fn open(port: &PathBuf) -> Option<Self> {
        let mut stream = UnixStream::connect(port).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.write_all(&session_request()).ok()?;
        let mut answer = [0; HEADER_BYTES + 8];
        stream.read_exact(&mut answer).ok()?;
        if answer[..14] != *MAGIC || answer[16..18] != OK {
            return None;
        }
        let totals = Arc::new(PublishedTotals::default());
        let (read, shared) = (stream.try_clone().ok()?, Arc::clone(&totals));
        std::thread::Builder::new().name("dotnet events".to_owned()).spawn(move || shared.read_events(read)).ok()?;
        Some(Self { stream, totals })
    }

    /// Whether a first report arrives. A sample of a process that never reports would wait until the timeout.
    fn sends_reports(&self) -> bool {
        self.totals.wait_for_tick_after(1).is_some()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The thread then ends, and the runtime closes the session.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl PublishedTotals {
    /// Adds up events until the stream ends.
    fn read_events(&self, mut stream: UnixStream) {
        let mut reader = TraceReader::default();
        let mut bytes = vec![0; 64 * 1024];
        loop {
            match stream.read(&mut bytes) {
                Ok(count) if count > 0 && reader.feed(&bytes[..count]).is_ok() => self.publish(reader.totals(), false),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                _ => break,
            }
        }
        // Later events are not read. The runtime must not wait for a reader.
        let _ = stream.shutdown(Shutdown::Both);
        self.publish(reader.totals(), true);
    }

    fn publish(&self, totals: &TraceTotals, has_ended: bool) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = (totals.clone(), has_ended);
        self.ticked.notify_all();
    }

    /// The totals of the first tick after a moment of the monotonic clock, in nanoseconds; `None` after a timeout or the end.
    fn wait_for_tick_after(&self, moment_ns: u64) -> Option<TraceTotals> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |(totals, has_ended): &mut (TraceTotals, bool)| totals.ticked_at_ns < moment_ns && !*has_ended;
        let (state, _) = self.ticked.wait_timeout_while(state, TIMEOUT, waits).unwrap_or_else(PoisonError::into_inner);
        (state.0.ticked_at_ns >= moment_ns).then(|| state.0.clone())
    }
}

/// The message that asks for the events.
fn session_request() -> Vec<u8> {
    let providers = [(GC_KEYWORD, trace::RUNTIME, ""), (0, trace::COUNTERS, TICKS)];
    let mut content = Vec::new();
    for number in [BUFFER_MB, NETTRACE, providers.len() as u32] {
        content.extend(number.to_le_bytes());
    }
    for (keywords, name, arguments) in providers {
        content.extend(keywords.to_le_bytes());
        content.extend(INFORMATIONAL.to_le_bytes());
        content.extend(text(name));
        content.extend(text(arguments));
    }
    let size = (HEADER_BYTES + content.len()) as u16;
    [&MAGIC[..], &size.to_le_bytes(), &COLLECT, &[0, 0], &content].concat()
}

/// A text of a message: its length, then UTF-16 with a zero at its end.
fn text(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
    (units.len() as u32).to_le_bytes().into_iter().chain(units.iter().flat_map(|unit| unit.to_le_bytes())).collect()
}

fn to_counters(totals: TraceTotals) -> ProcessCounters {
    let collector = |(generation, of): (usize, &trace::Collections)| {
        (format!("generation {generation}"), CollectorUse { pauses: of.count, pause_ns: of.paused_ns })
    };
    ProcessCounters {
        allocated_bytes: Some(totals.allocated_bytes as u64),
        heap_used_bytes: Some(totals.heap_bytes as u64).filter(|bytes| *bytes > 0),
        collectors: Some(totals.generations.iter().enumerate().map(collector).collect()),
        ..ProcessCounters::default()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    const RECORDED: &[u8] = include_bytes!("../../../hostile/seeds/trace/aspnetcore-3.1");

    /// A diagnostic port that answers one request with these bytes, and closes.
    fn runtime(port: &PathBuf, answer: Vec<u8>) -> std::thread::JoinHandle<Vec<u8>> {
        let listener = UnixListener::bind(port).unwrap();
        std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let mut asked = vec![0; session_request().len()];
            stream.read_exact(&mut asked).unwrap();
            stream.write_all(&answer).unwrap();
            asked
        })
    }

    fn header(result: [u8; 2]) -> Vec<u8> {
        [&MAGIC[..], &28_u16.to_le_bytes(), &result, &[0, 0], &7_u64.to_le_bytes()].concat()
    }

    #[test]
    fn events_are_added_up_until_the_process_ends() {
        let folder = tempfile::tempdir().unwrap();
        let port = folder.path().join("port");
        let process = runtime(&port, [header(OK), RECORDED.to_vec()].concat());
        let session = Session::open(&port).unwrap();
        assert_eq!(process.join().unwrap(), session_request());
        let totals = session.totals.wait_for_tick_after(1).unwrap();
        assert!(totals.allocated_bytes > 0.0, "{totals:?}");
        assert_eq!(session.totals.wait_for_tick_after(u64::MAX), None, "it has ended");
    }

    #[test]
    fn a_runtime_without_a_report_has_no_counters() {
        let folder = tempfile::tempdir().unwrap();
        let port = folder.path().join("port");
        let process = runtime(&port, header(OK));
        let session = Session::open(&port).unwrap();
        process.join().unwrap();
        assert!(!session.sends_reports());
    }

    #[test]
    fn beside_a_process_that_does_not_report_nothing_is_known() {
        let mut probe = DotnetProbe { sessions: BTreeMap::from([(1, None)]) };
        assert_eq!(probe.take_sample(&[1]), None);
    }

    #[test]
    fn a_runtime_whose_events_cannot_be_read_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let port = folder.path().join("port");
        let listener = UnixListener::bind(&port).unwrap();
        let process = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.read_exact(&mut vec![0; session_request().len()]).unwrap();
            stream.write_all(&[&header(OK)[..], b"no events"].concat()).unwrap();
            // Returns when the other side has ended the stream.
            stream.read(&mut [0]).unwrap()
        });
        let session = Session::open(&port).unwrap();
        assert_eq!(process.join().unwrap(), 0);
        assert_eq!(session.totals.wait_for_tick_after(1), None);
    }

    #[test]
    fn the_interval_is_the_same_number_in_all_languages() {
        let (_, number) = TICKS.split_once('=').unwrap();
        assert!(!number.contains(['.', ',']) && number.parse() == Ok(0.1_f32), "{number}");
    }

    #[test]
    fn a_runtime_that_refuses_has_no_counters() {
        let folder = tempfile::tempdir().unwrap();
        let port = folder.path().join("port");
        let process = runtime(&port, header([0xff, 0xff]));
        assert!(Session::open(&port).is_none());
        process.join().unwrap();
        let own = [std::process::id()];
        assert_eq!(DotnetProbe::new(&own).take_sample(&own), None, "this is no .NET process");
    }
}
