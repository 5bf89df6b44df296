//! A load by several agents: processes of tare on this machine, by ssh on others, or in pods of a cluster. The coordinator starts them and
//! gives each one share of the load; `tare_agent` has the protocol and the state of the fleet.
//!
//! Nothing listens on any address. An agent takes orders from its standard input and ends when that ends, so no agent
//! outlives its coordinator.

mod coordinator;
mod serve;
#[cfg(test)]
mod tests;

pub use crate::agents::kubernetes::{Cluster, JobShape, PodShape, agent_manifests, remove_agent_jobs};
pub use crate::agents::place::AgentPlace;
pub use crate::agents::starting::PodOrder;
pub use coordinator::{AgentFleet, FleetOrder};
pub use serve::serve_agent;
pub use tare_agent::{AgentPhase, Assignment, FleetAgent, InputFile, ProtocolError};
