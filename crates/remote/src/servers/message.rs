//! Orders and reports about servers, between tare and the agent on their machine. The protocol of agents carries them as JSON.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tare_record::environment::FactSection;
use tare_record::{EventRecord, Hiccups, PackedHistogram, ServerUse};
use tare_sut::jdk::Jdk;
use tare_sut::server::Status;
use tare_sys::child::How;
use tare_units::Span;

use super::network_path::Transfer;
use super::sampled::SampledReport;
use tare_run::server_host::{SamplingOrder, ServerId, StartOrder, StartedServer, WatchOrder};

/// An order about the servers of a run. The agent answers each one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostOrder {
    /// Describe the machine. `java` is the home of the JDK to use, where one is named.
    Describe { java: Option<PathBuf> },
    /// Accept connections on this address for a moment, so that the network path to it can be measured.
    Listen { address: IpAddr },
    /// Report how much of the transfer arrived.
    Received,
    /// Find a JDK of this release or a later one.
    FindJava { minimum: u32, home: Option<PathBuf> },
    /// Report whether this file or folder is there.
    Find { hash: String, name: String },
    /// Store a part of a file of a bundle, sent with the order. The first part starts the file.
    Keep { hash: String, path: String, is_executable: bool, is_first: bool },
    /// All files of the bundle were sent.
    Finish { hash: String, name: String },
    /// Report what disturbs measuring on these cores.
    Disturbances { cpus: String },
    /// Start servers side by side.
    Start(Vec<StartOrder>),
    /// Move a server to these cores.
    MoveTo { server: ServerId, cpus: String },
    /// Report whether its process runs.
    Status(ServerId),
    /// Return the last lines of its log.
    LogTail { server: ServerId, lines: usize },
    /// Report what these servers use at rest.
    ObserveRest { servers: Vec<ServerId>, span: Span },
    /// Read the probes and start the meters.
    BeginWatch(WatchOrder),
    /// Look at the counters of its JVM.
    LookAtJvm(ServerId),
    /// Read the probes again.
    EndWatch { scored_from_ns: u64 },
    /// Attach a sampler. `jar` is that of async-profiler, where it was sent.
    BeginSampling { sampling: SamplingOrder, jar: Option<PathBuf> },
    /// Detach the sampler, and return its stacks.
    EndSampling,
    /// Return a part of the sampler's own file, from this byte on. The file is removed after the last part, which is empty.
    ReadRecording { from: u64 },
    /// End these servers.
    Stop(Vec<ServerId>),
    /// Stop all servers and remove all files.
    End,
}

/// The answer to an order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum HostReport {
    Done,
    Facts(HostFacts),
    Listening {
        port: u16,
    },
    /// `None` where nothing was sent, or the transfer failed.
    Received(Option<Transfer>),
    Java(Jdk),
    /// Where a bundle is; `None` if it has to be sent.
    Found(Option<PathBuf>),
    Disturbances(Vec<EventRecord>),
    Started(Vec<StartResult>),
    Status(ServerStatus),
    Log(Option<String>),
    Rest(Vec<Option<f64>>),
    Uses(Vec<PackedUse>),
    /// async-profiler has to be sent: it is not in this folder.
    NoAsyncProfiler {
        folder: PathBuf,
    },
    Sampled(SampledReport),
    /// A sampler could not be attached or read: the reason.
    SamplerFailed(String),
    RecordingPart {
        /// It is sent beside the report.
        #[serde(skip)]
        part: Vec<u8>,
    },
    Stopped(Vec<StoppedServer>),
    /// The order could not be carried out: the reason.
    Failed(String),
}

impl HostReport {
    /// The bytes that are sent beside the report, where it has some.
    pub fn attached_mut(&mut self) -> Option<&mut Vec<u8>> {
        match self {
            Self::Sampled(sampled) => Some(&mut sampled.stacks),
            Self::RecordingPart { part } => Some(part),
            _ => None,
        }
    }
}

/// The machine of the servers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct HostFacts {
    /// Machine and kernel.
    pub sections: Vec<FactSection>,
    /// The cores that the agent may use, such as `0-3`.
    pub cpus: String,
    /// Feature release of its JDK, where it has one.
    pub jdk: Option<u32>,
    /// The address at which ssh reached it, where ssh did.
    pub ssh_address: Option<IpAddr>,
}

/// The result of a start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum StartResult {
    Ready { startup_ns: u64, address: SocketAddr },
    Cancelled,
    Failed(String),
}

impl StartResult {
    pub fn ready(started: StartedServer) -> Self {
        Self::Ready { startup_ns: started.startup_ns, address: started.address }
    }
}

/// Whether the process of a server runs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum ServerStatus {
    Running,
    Stopped,
    Returned(i32),
    Killed(i32),
    SupervisorKilled,
}

impl From<Status> for ServerStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Running => Self::Running,
            Status::Stopped => Self::Stopped,
            Status::Exited(How::Code(code)) => Self::Returned(code),
            Status::Exited(How::Signal(signal)) => Self::Killed(signal),
            Status::Exited(How::SupervisorKilled) => Self::SupervisorKilled,
        }
    }
}

impl From<ServerStatus> for Status {
    fn from(status: ServerStatus) -> Self {
        match status {
            ServerStatus::Running => Self::Running,
            ServerStatus::Stopped => Self::Stopped,
            ServerStatus::Returned(code) => Self::Exited(How::Code(code)),
            ServerStatus::Killed(signal) => Self::Exited(How::Signal(signal)),
            ServerStatus::SupervisorKilled => Self::Exited(How::SupervisorKilled),
        }
    }
}

/// How a server ended, and its log.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoppedServer {
    pub end: String,
    /// The last part of its log, where it was started.
    pub log: String,
}

/// What a server used, with its histograms as bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PackedUse {
    /// Without histograms: their form in JSON has none.
    usage: ServerUse<PackedHistogram>,
    /// Of the meter outside the server, and of that inside its JVM.
    hiccups: Option<(Vec<u8>, Option<Vec<u8>>)>,
}

impl PackedUse {
    pub fn pack(usage: ServerUse) -> Self {
        let usage = usage.pack();
        let bytes = |histogram: &PackedHistogram| histogram.as_bytes().to_vec();
        let hiccups = usage.hiccups.as_ref().map(|of| (bytes(&of.machine), of.jvm.as_ref().map(bytes)));
        Self { usage, hiccups }
    }

    /// # Errors
    /// When the bytes are no histograms.
    pub fn unpack(self) -> Result<ServerUse, String> {
        let Self { usage, hiccups } = self;
        let histogram = |bytes| PackedHistogram::from_bytes(bytes).map(|packed| packed.unpack());
        let machine_and_jvm = |(machine, jvm): (_, Option<Vec<u8>>)| {
            Ok::<_, tare_stats::StatsError>((histogram(machine)?, jvm.map(histogram).transpose()?))
        };
        let read = hiccups.map(machine_and_jvm).transpose().map_err(|error| error.to_string())?;
        let ServerUse { cpu, rss_bytes, rss_peak_bytes, runtime, hiccups, others_share } = usage;
        let hiccups = hiccups.zip(read).map(|(of, (machine, jvm))| Hiccups { machine, jvm, pauses: of.pauses });
        Ok(ServerUse { cpu, rss_bytes, rss_peak_bytes, runtime, hiccups, others_share })
    }
}
