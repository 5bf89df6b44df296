//! The interface between a run and its servers. Above it are the decisions: order of forks, budget, warm-up, rounds and
//! searches. Below it are processes, connections, probes and the clock, or a simulation of them.

pub(crate) mod slice;

use std::collections::BTreeMap;

use tare_load::{Opening, SliceSample};
use tare_plan::Engine;
use tare_plan::plan::{NamedScenario, Variant};
use tare_record::cross_check::CrossCheckRecord;
use tare_record::{EventKind, Phase, ServerUse};
use tare_sut::contract::{CheckOutcome, GivenAnswer};
use tare_sut::launch::ProgramFacts;
use tare_sys::affinity::CpuSet;

use crate::error::RunError;
use crate::progress::RunPosition;
use crate::server_host::{StartFailure, StartedServers};
use crate::test_bed::slice::SliceLoad;

pub use crate::server_host::ServerId;

#[derive(Debug, Clone)]
pub(crate) struct ServerStart<'v> {
    pub id: ServerId,
    pub variant: &'v Variant,
    pub log_name: String,
}

/// Progress of a turn of load, or a problem of it.
#[derive(Debug, Clone, PartialEq)]
pub enum DriveStage {
    /// It opens connections, and that takes long.
    Opening(Opening),
    /// It has waited for its connections, and begins.
    Begun,
    /// The load was not made as ordered.
    Disturbed(EventKind),
}

pub type OnStage<'a> = &'a mut dyn FnMut(DriveStage);

/// All operations of a run on its servers, and its clock: nanoseconds since the run began. A server that fails is no
/// error: its samples, its status and the results of its start and its verification show the failure.
pub(crate) trait TestBed {
    fn elapsed_ns(&self) -> u64;

    /// Whether Ctrl-C was pressed: the slice under way is cut short, and no other begins.
    fn is_interrupted(&self) -> bool;

    /// Why `variant` cannot be started on this machine; `None` when it can.
    fn unavailable_reason(&self, variant: &Variant) -> Option<String>;

    /// Command and versions of `variant`; [`RunError::NotPrepared`] if it is not in the plan.
    fn program_facts(&self, variant: &Variant) -> Result<ProgramFacts, RunError>;

    /// The files of all programs that it starts, each with its size and time of change now.
    fn program_files(&self) -> BTreeMap<String, String>;

    /// Starts servers side by side on `cpus`. Returns the nanoseconds until each was ready, or why it failed.
    fn start(&mut self, starts: &[ServerStart<'_>], cpus: &CpuSet) -> Result<Vec<Result<u64, StartFailure>>, RunError>;

    /// Those that have started.
    fn servers(&mut self) -> &mut dyn StartedServers;

    /// Compares a server's answers with its contract: those of `scenarios`, and all checks. Fails when the agent that
    /// asks is lost; a server that does not answer is an outcome.
    fn verify(&mut self, server: ServerId, scenarios: &[&str]) -> Result<Vec<CheckOutcome>, RunError>;

    /// Prepares the load of one scenario. Connections open with the first turn and stay open. `agreed` is what all
    /// servers must answer where the contract does not say it.
    fn open_sessions(
        &mut self,
        servers: &[ServerId],
        named: &NamedScenario,
        agreed: Option<&GivenAnswer>,
    ) -> Result<(), RunError>;

    /// The fewest users of a turn, one for each worker of a generator: at least 1, at most as many as connections.
    fn least_users(&self) -> u32;

    fn close_sessions(&mut self);

    /// An event that summarizes the load of the whole run, after its last turn.
    fn closing_event(&self) -> Option<EventKind> {
        None
    }

    /// Drives one turn of load against one server, to the end of its drain. Fails when the generator does; failures of
    /// the server are in the sample.
    fn drive(&mut self, server: ServerId, load: &SliceLoad, on_stage: OnStage<'_>) -> Result<SliceSample, RunError>;

    /// Reads the probes of these servers, and starts the meters of the plan. One watch runs at a time, over turns.
    fn begin_watch(&mut self, servers: &[ServerId], phase: Phase);

    /// What each server did since [`begin_watch`](Self::begin_watch), in the order given there; numbers of requests are
    /// 0. Hiccups before `scored_from_ns` are left out. Stops of earlier times may be among those that are known.
    fn end_watch(&mut self, scored_from_ns: u64) -> Vec<ServerUse>;

    /// Lets another load tool drive a scenario on a server. A tool that fails is an outcome.
    fn cross_check(
        &mut self,
        server: ServerId,
        engine: Engine,
        named: &NamedScenario,
        place: &RunPosition<'_>,
    ) -> Result<CrossCheckRecord, RunError>;
}
