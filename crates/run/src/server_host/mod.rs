//! The machine on which the servers run: [`ServerHost`] has the operations on servers, and [`ServerMachine`] those on
//! another machine. [`LocalServers`] carries out each on this machine, and `tare-remote` lets agents do it on others.

mod file_sender;
pub(crate) mod local;
mod start;

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_plan::plan::Program;
use tare_plan::profile::ProfileEvent;
use tare_plan::{Plan, PlanError};
use tare_record::environment::{FactSection, NetworkBandwidth};
use tare_record::{EventRecord, ServerUse};
use tare_sut::SutError;
use tare_sut::jdk::Jdk;
use tare_sut::sampler::Sampled;
use tare_sut::server::Status;
use tare_sys::affinity::CpuSet;

use crate::error::RunError;

pub(crate) use file_sender::{FileSender, argument_file, split_agent, split_all_jars};
pub use local::LocalServers;
pub use local::watch::WatchOrder;
pub use start::{StartOrder, StartOrigin};

/// Refuses what cannot be done to servers on another machine.
pub(crate) fn check_possible(plan: &Plan) -> Result<(), PlanError> {
    let mut variants = plan.groups.iter().flat_map(|group| &group.variants);
    let external = variants.find(|variant| matches!(variant.program, Program::External { .. }));
    external.map_or(Ok(()), |variant| {
        let message = format!("{} runs already; leave out this setting, or the server", variant.name);
        Err(PlanError::value(plan.origin_of("server_host"), message))
    })
}

/// Names a server of the fork under way: its position among the variants of the fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerId(pub usize);

pub trait ServerMachine: fmt::Display {
    fn address(&self) -> IpAddr;

    /// The cores that its servers may use.
    fn cpus(&self) -> CpuSet;

    /// Whether it is another machine than the generator's, as far as the network path tells.
    fn is_another_machine(&self) -> bool;

    fn bandwidth(&self) -> NetworkBandwidth;

    fn sections(&self) -> Vec<FactSection>;

    /// A JDK of at least release `minimum` there.
    fn find_java(&self, minimum: u32, home: Option<&Path>) -> Result<Jdk, RunError>;

    fn disturbances(&self, cpus: &CpuSet) -> Result<Vec<EventRecord>, RunError>;

    /// Sends a file or a folder unless the machine has it. Returns its path there.
    fn send_if_missing(&self, path: &Path) -> Result<PathBuf, RunError>;

    /// Its servers. Their logs and the samplers' own files are written into `logs` and `profiles` of this machine.
    /// `cancelled` stops a start that waits.
    fn servers<'a>(
        &'a self,
        logs: &'a Path,
        profiles: &'a Path,
        cancelled: Arc<AtomicBool>,
    ) -> Box<dyn ServerHost + 'a>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedServer {
    /// From the order to start it, in nanoseconds.
    pub startup_ns: u64,
    /// Where the load reaches it.
    pub address: SocketAddr,
}

/// Why a server has not started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StartFailure {
    /// The first line says what happened. The last lines of the server's log may follow.
    pub text: String,
    /// Whether the start was ended early.
    pub is_cancelled: bool,
    /// Whether other programs took every port that was chosen for it.
    pub is_port_lost: bool,
}

impl From<SutError> for StartFailure {
    fn from(error: SutError) -> Self {
        let is_cancelled = matches!(error, SutError::Cancelled { .. });
        Self { text: error.to_string(), is_cancelled, is_port_lost: matches!(error, SutError::PortLost { .. }) }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SamplingOrder {
    pub server: ServerId,
    pub event: ProfileEvent,
    /// Name of the sampler's own file, without its ending.
    pub file_name: String,
}

/// The error for the end of a profile that was not begun.
pub fn no_sampler_attached() -> SutError {
    SutError::sampler("end a profile", "no sampler was attached", "please report this")
}

/// Operations on servers that have started, on the machine where they run. A server that fails is a result and not an
/// error. If the machine is lost, these methods return defaults.
pub trait StartedServers {
    /// Leaves the servers alone for `span`. Returns the CPU of each as a share of one core, where that can be read.
    fn observe_rest(&mut self, servers: &[ServerId], span: Duration) -> Vec<Option<f64>>;

    /// Moves a server to these cores. One that has died stays where it was.
    fn move_to(&mut self, server: ServerId, cpus: &CpuSet);

    fn status(&self, server: ServerId) -> Status;

    /// The last lines of a server's log, where it has one.
    fn log_tail(&self, server: ServerId) -> Option<String>;

    /// Attaches a sampler to a server. An error names the machine where that is another.
    fn begin_sampling(&mut self, sampling: &SamplingOrder) -> Result<(), SutError>;

    /// Detaches the sampler and returns the stacks it saw. Its own file is on this machine then.
    fn end_sampling(&mut self) -> Result<Sampled, SutError>;

    /// Ends these servers side by side. Returns how each ended, in the order of `servers`.
    fn stop(&mut self, servers: &[ServerId]) -> Vec<String>;
}

/// All operations on the servers of a fork. [`check`](Self::check) reports the loss of their machine.
pub trait ServerHost: StartedServers {
    /// Starts servers side by side and waits until each is ready or has failed, in the order of `starts`.
    fn start(&mut self, starts: &[StartOrder]) -> Result<Vec<Result<StartedServer, StartFailure>>, RunError>;

    /// Whether it can be reached. This machine always can.
    fn check(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// Reads the probes, and starts the meters.
    fn begin_watch(&mut self, watch: &WatchOrder);

    fn look_at_jvm(&mut self, server: ServerId);

    /// Reads the probes again. Hiccups before `scored_from_ns` are left out. Times count from the begin of the watch.
    fn end_watch(&mut self, scored_from_ns: u64) -> Vec<ServerUse>;
}
