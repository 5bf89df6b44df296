//! Load by agents: of a run, turn by turn ([`LoadAgents`]), and of a command line ([`AgentFleet`]).

mod agents;
mod coordinator;
#[cfg(test)]
mod tests;

pub use agents::LoadAgents;
pub use coordinator::AgentFleet;
