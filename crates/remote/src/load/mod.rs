//! Load by agents: of a run, turn by turn ([`LoadAgents`]), and of `tare load`, as one load ([`AgentFleet`]).

mod agents;
mod coordinator;
mod fleet_record;
pub(crate) mod message;
#[cfg(test)]
mod tests;

pub use agents::LoadAgents;
pub use coordinator::{AgentFleet, FleetOrder};
