//! The load of a run, from this process or from agents, which each make a share of each turn.

mod local;
pub(crate) mod session;
#[cfg(test)]
mod tests;
mod verify;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_load::SliceSample;
use tare_plan::agent_place::{AgentPlace, are_elsewhere};
use tare_plan::plan::{Program, TlsKeys, Transport};
use tare_plan::{Plan, PlanError};
use tare_record::environment::FactSection;
use tare_record::{EventKind, EventRecord};
use tare_sut::contract::CheckOutcome;

use crate::error::RunError;
use crate::server_host::ServerId;

pub use crate::machine::generator::{agent_places, read_places};
pub use crate::test_bed::slice::SliceLoad;
pub use crate::test_bed::{DriveStage, OnStage};
pub use local::OwnLoad;
pub use session::{Destination, SessionOrder, sent_and_checked, users_for_workers};
pub use verify::VerifyOrder;

/// Agents that make the load of a run in place of this process.
pub trait LoadMachines {
    /// What disturbed measuring on their machines when they started.
    fn disturbances(&self) -> Vec<EventRecord>;

    /// Facts about them and their machines.
    fn sections(&self) -> Vec<FactSection>;

    /// The load of a run from them. `cancelled` ends a turn, and a verification, early.
    fn load(&self, cancelled: Arc<AtomicBool>) -> Box<dyn RunLoad + '_>;
}

pub trait RunLoad {
    /// Checks a server's answers from where the load is made. After Ctrl-C it is asked nothing more.
    fn verify(&mut self, order: &VerifyOrder) -> Result<Vec<CheckOutcome>, RunError>;

    /// Prepares the load of one scenario. Connections open with the first turn and stay open.
    fn open(&mut self, sessions: Vec<SessionOrder>) -> Result<(), RunError>;

    /// The fewest users that a turn may have; each worker of a generator needs one.
    fn least_users(&self) -> u32;

    fn close(&mut self);

    /// An event that summarizes the load of the whole run, after its last turn.
    fn closing_event(&self) -> Option<EventKind> {
        None
    }

    /// Drives one turn against one server, to the end of its drain. The sample begins on the monotonic clock of this
    /// process.
    fn drive(&mut self, server: ServerId, load: &SliceLoad, on_stage: OnStage<'_>) -> Result<SliceSample, RunError>;
}

/// Refuses what agents cannot do.
pub(crate) fn check_possible(plan: &Plan) -> Result<(), PlanError> {
    let places = agent_places(plan)?;
    let variants = || plan.groups.iter().flat_map(|group| &group.variants);
    let mut transports = variants().map(|variant| variant.program.transport());
    let refuse = |key: &str, message: &str| Err(PlanError::value(plan.origin_of(key), message));
    if !plan.engines.is_empty() && transports.clone().any(|transport| transport != Transport::default()) {
        return refuse("engine", "other load tools are run over HTTP/1.1 without TLS only; leave out --engine");
    }
    let has_files = |tls: &TlsKeys| tls.ca.is_some() || tls.certificate.is_some();
    if are_elsewhere(&places) && transports.any(|transport| transport.tls.as_ref().is_some_and(has_files)) {
        return refuse("agents", "agents elsewhere do not have the files of tls; write tls = { insecure = true }");
    }
    if places.is_empty() {
        return Ok(());
    }
    if !plan.engines.is_empty() {
        return refuse("agents", "other load tools run on this machine only; leave out --engine");
    }
    let agents = places.iter().map(AgentPlace::least_agents).sum::<usize>();
    let cells = plan.groups.iter().flat_map(|group| {
        let users = group.scenarios.iter().map(|named| plan.connections(&named.scenario)).min();
        group.variants.iter().filter_map(move |variant| Some((users?, variant.program.transport().protocol.depth())))
    });
    let connections = |&(users, depth): &(u32, u32)| users.div_ceil(depth) as usize;
    if let Some((fewest, depth)) = cells.min_by_key(connections).filter(|cell| connections(cell) < agents) {
        let key = if plan.slo.is_some() && fewest != plan.load.users { "--slo-most" } else { "-u" };
        let each = if depth == 1 { "one".to_owned() } else { format!("{depth}, as many as a connection carries") };
        let needed = agents * depth as usize;
        let few = format!("{fewest} users are too few for {agents} agents; give each at least {each} ({key} {needed})");
        return refuse("agents", &few);
    }
    let starts_here = plan.machine.server_host.is_none()
        && variants().any(|variant| !matches!(variant.program, Program::External { .. }));
    if are_elsewhere(&places) && starts_here {
        let message = "the servers of this run listen on this machine alone; add --server-host ssh://HOST, or \
                       --server-host local: with the address of this machine (--server-address)";
        return refuse("agents", message);
    }
    Ok(())
}
