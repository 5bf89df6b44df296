//! The places of agents that a plan names.

use tare_plan::Plan;
use tare_plan::agent_place::AgentPlace;

use crate::error::RunError;

/// The places of the agents that make a plan's load; none if this process makes it.
pub fn agent_places(plan: &Plan) -> Result<Vec<AgentPlace>, RunError> {
    read_places(&plan.origin_of("agents"), &plan.machine.agents)
}

/// Places as users write them; `origin` is the flag or the key that holds them.
pub fn read_places(origin: &str, texts: &[String]) -> Result<Vec<AgentPlace>, RunError> {
    let wrong = |message: String| RunError::Plan { key: origin.to_owned(), message };
    texts.iter().map(|text| text.parse().map_err(wrong)).collect()
}
