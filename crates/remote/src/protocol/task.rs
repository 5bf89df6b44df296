//! What an agent is asked to do, and what it answers: load and servers, with the types of a run without agents.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_record::environment::FactSection;
use tare_record::{EventRecord, ServerUse};
use tare_run::load::Equipment;
use tare_run::load_host::{SessionOrder, SliceLoad, VerifyOrder};
use tare_run::server_host::{SamplingOrder, ServerId, StartFailure, StartOrder, StartedServer, WatchOrder};
use tare_sut::contract::CheckOutcome;
use tare_sut::jdk::Jdk;
use tare_sut::server::Status;
use tare_sys::affinity::CpuSet;
use tare_units::Span;

use super::frame::Bytes;
use super::packed_sample::{LoadTotals, PackedSample};
use super::sampled::SampledReport;

/// A task of an agent. It answers each one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Task {
    /// Describe the machine. `java` is the home of the JDK to use, where one is named.
    Describe { java: Option<PathBuf> },
    /// Take part in a load.
    Load(LoadTask),
    /// Run servers.
    Servers(ServersTask),
}

impl Task {
    /// The time that it says it may take; zero where it says none.
    pub fn named_time(&self) -> Duration {
        match self {
            Self::Load(LoadTask::DriveTurn { load, .. }) => load.length,
            Self::Load(LoadTask::Verify(order)) => order.timeout.0.saturating_mul(order.exchanges.len() as u32),
            Self::Servers(ServersTask::Start(starts)) => {
                let limits = starts.iter().flat_map(StartOrder::starts).map(|spec| spec.startup_timeout);
                limits.fold(Duration::ZERO, Duration::saturating_add)
            }
            _ => Duration::ZERO,
        }
    }
}

/// A step of a load of which each agent makes a share.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum LoadTask {
    /// Make this share of what follows.
    Share(AgentShare),
    /// Report what disturbs measuring on the agent's cores.
    Disturbances,
    /// Check the answers of a server.
    Verify(VerifyOrder),
    /// Prepare the sessions of one scenario of a run. Connections open with the first turn.
    OpenSessions(Vec<SessionOrder>),
    /// Prepare the load of a command line.
    OpenCommand(LoadCommand),
    /// Drive a turn. The load is that of all agents together.
    DriveTurn { server: ServerId, load: SliceLoad },
    /// Open the connections of the command's load, wait for the start, and drive it with a sample this often.
    DriveCommand { every_ns: u64 },
    /// Close all connections.
    Close,
}

/// Which part of a load an agent makes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentShare {
    /// Which agent it is, from 0.
    pub agent: u32,
    pub agents: u32,
    pub cores: AgentCores,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCores {
    /// A list such as `2-3`; empty where the agent decides.
    pub load_cpus: String,
    /// Whole cores of its pod; 0 where it is in none.
    pub pod_cpus: u32,
    /// Agents of this load on the node of its pod, before this one.
    pub before_on_node: u32,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LoadCommand {
    /// Program name, sub-command and flags.
    pub command: Vec<String>,
    /// The files that the command line names, by their paths there. The agent reads no others.
    pub files: BTreeMap<PathBuf, Bytes>,
    pub seed: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FilePart {
    /// The file's path within its bundle.
    pub path: String,
    pub is_executable: bool,
    /// Whether the file begins with it; otherwise it follows what was written.
    pub is_first: bool,
    pub contents: Bytes,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum ServersTask {
    /// Accept connections on this address for a moment, so that the network path to it can be measured.
    Listen { address: IpAddr },
    /// Report how fast the transfer was.
    Received,
    /// Find a JDK of this release or a later one.
    FindJava { minimum: u32, home: Option<PathBuf> },
    /// Report whether this file or folder is there.
    Find { hash: String, name: String },
    /// Store a part of a file of a bundle. The first part starts the file.
    Keep { hash: String, part: FilePart },
    /// All files of the bundle were sent.
    Finish { hash: String, name: String },
    /// Report what disturbs measuring on these cores.
    Disturbances { cpus: CpuSet },
    /// Start these. This and what follows are the operations of [`ServerHost`](tare_run::server_host::ServerHost).
    Start(Vec<StartOrder>),
    /// Move it to these cores.
    MoveTo { server: ServerId, cpus: CpuSet },
    /// Report whether its process runs.
    Status(ServerId),
    /// Return the last lines of its log.
    LogTail(ServerId),
    /// Leave them alone, and report their CPU.
    ObserveRest { servers: Vec<ServerId>, span: Span },
    /// Read the probes and start the meters.
    BeginWatch(WatchOrder),
    /// Read the counters of its JVM.
    LookAtJvm(ServerId),
    /// Read the probes again.
    EndWatch { scored_from_ns: u64 },
    /// Attach a sampler. `jar` is that of async-profiler, where it was sent.
    BeginSampling { sampling: SamplingOrder, jar: Option<PathBuf> },
    /// Detach the sampler, and return its stacks.
    EndSampling,
    /// Return a part of the sampler's own file, from this byte on. The file is removed after the last part, which is empty.
    ReadRecording { from: u64 },
    /// End them.
    Stop(Vec<ServerId>),
    /// Stop all servers and remove all files.
    End,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "few are in memory at a time")]
pub enum Answer {
    Done,
    Facts(MachineFacts),
    Disturbances(Vec<EventRecord>),
    Verified(Vec<CheckOutcome>),
    /// Sessions are prepared: the largest number of worker threads of one.
    Opened(u32),
    Equipped(Equipped),
    Driven(DrivenShare),
    /// The load of the command is over.
    Ended(LoadTotals),
    Listening(u16),
    /// The rate in bit/s; `None` where too little was sent, or the transfer failed.
    Received(Option<u64>),
    Java(Jdk),
    /// Where a bundle is; `None` if it has to be sent.
    Found(Option<PathBuf>),
    Started(Vec<Result<StartedServer, StartFailure>>),
    Status(Status),
    Log(Option<String>),
    /// The CPU that each server used at rest.
    Rest(Vec<Option<f64>>),
    Uses(Vec<ServerUse>),
    /// async-profiler has to be sent: it is not in this folder.
    NoAsyncProfiler(PathBuf),
    Sampled(SampledReport),
    RecordingPart(Bytes),
    Stopped(Vec<StoppedServer>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Equipped {
    pub equipment: Equipment,
    /// Whether others may use its cores, although its pod asked for whole ones.
    pub shares_cpus: bool,
}

/// What an agent did in a turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DrivenShare {
    pub sample: PackedSample,
    /// It began this long before the answer was sent, in nanoseconds.
    pub begun_ns_ago: u64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MachineFacts {
    pub sections: Vec<FactSection>,
    /// The cores that the agent may use.
    pub cpus: CpuSet,
    /// Feature release of its JDK, where it has one.
    pub jdk: Option<u32>,
    /// The address at which ssh reached it, where ssh did.
    pub ssh_address: Option<IpAddr>,
}

impl MachineFacts {
    /// The same without control characters: facts come from another machine and are printed.
    pub fn plain(mut self) -> Self {
        for FactSection { title, facts } in &mut self.sections {
            let texts = facts.iter_mut().flat_map(|(key, value)| [key, value]);
            texts.chain([title]).for_each(|text| text.retain(|c| !c.is_control()));
        }
        self
    }
}

/// Adds the place of an agent to an event. Makes its text again from its kind, because the agent's text is not trusted.
pub(crate) fn label_event(event: &EventRecord, place: &str) -> EventRecord {
    let found = EventRecord::new(event.kind.clone());
    let text: String = found.text.chars().filter(|c| !c.is_control()).collect();
    EventRecord { text: format!("on {place}: {text}"), ..found }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoppedServer {
    pub end: String,
    /// The last part of its log, where it was started.
    pub log: String,
}

/// What the answer of the kind that a task has says; `None` for another kind. Used as `answer_of!(Java)`.
macro_rules! answer_of {
    ($kind:ident) => {
        |answer| match answer {
            $crate::protocol::Answer::$kind(it) => Some(it),
            _ => None,
        }
    };
}
pub(crate) use answer_of;

#[cfg(test)]
mod tests {
    use tare_record::{Hiccups, PackedHistogram, Pause, PauseCause, RuntimeUse};
    use tare_stats::LatencyHistogram;

    use super::*;

    #[test]
    fn what_a_server_used_arrives_with_its_histograms() {
        let mut histogram = LatencyHistogram::new();
        histogram.record_ns(7_000_000);
        let machine = PackedHistogram::from(&histogram);
        let pauses = vec![Pause { at_ns: 5, length_ns: 7_000_000, cause: PauseCause::Machine }];
        let hiccups = Hiccups { machine: machine.clone(), jvm: Some(machine), pauses };
        let runtime = Some(RuntimeUse { collections: Some(3), ..RuntimeUse::default() });
        let used = ServerUse { rss_bytes: Some(9), runtime, hiccups: Some(hiccups), ..ServerUse::default() };
        let uses = vec![used, ServerUse::default()];
        let text = serde_json::to_string(&Answer::Uses(uses.clone())).unwrap();
        assert!(
            matches!(serde_json::from_str::<Answer>(&text).unwrap(), Answer::Uses(arrived) if arrived == uses),
            "{text}"
        );
        let broken = r#"{"Uses": [{"hiccups": {"machine": "010203", "pauses": []}}]}"#;
        assert!(serde_json::from_str::<Answer>(broken).is_err());
    }

    #[test]
    fn no_text_of_the_facts_of_another_machine_moves_the_cursor() {
        let section =
            |text: &str| FactSection { title: text.to_owned(), facts: vec![(text.to_owned(), text.to_owned())] };
        let facts = MachineFacts { sections: vec![section("CPU\u{1b}[2J\n")], ..MachineFacts::default() };
        assert_eq!(facts.plain().sections, [section("CPU[2J")]);
    }
}
