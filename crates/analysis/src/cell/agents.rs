//! Reasons to doubt a load because of one of its agents. The load as a whole is judged like any other.

use tare_plan::load_plan::LoadModel;
use tare_record::{AgentRecord, EventName, LoadRecord};

use crate::format::share;
use crate::summary::Reason;

/// Above this share of its cores an agent distorts an open load, or limits a closed one.
const BUSY_OPEN: f64 = 0.6;
const BUSY_CLOSED: f64 = 0.9;
/// Above this share of requests that left more than 1 ms late, an open load was not what it claims.
const LATE: f64 = 0.01;

pub(crate) fn doubts_of_agents(record: &LoadRecord) -> Vec<Reason> {
    let lost = record.events.iter().filter(|event| event.kind.name() == EventName::AgentLost);
    let lost = lost.map(|event| Reason::new(event.text.clone(), event.remedy.as_deref().unwrap_or_default()));
    let is_open = matches!(record.header.plan.model, LoadModel::Open { .. });
    let others = record.agents.iter().flat_map(|agent| [busy(agent, is_open), late(agent, is_open)]);
    lost.chain(others.flatten()).collect()
}

fn busy(agent: &AgentRecord, is_open: bool) -> Option<Reason> {
    let limit = if is_open { BUSY_OPEN } else { BUSY_CLOSED };
    let used = agent.cpu_share().filter(|used| *used > limit)?;
    let text = format!("agent {} used {} of its cores, above {}", agent.name, share(used), share(limit));
    Some(Reason::new(text, "Give it more cores (--load-cpus), or use more agents."))
}

fn late(agent: &AgentRecord, is_open: bool) -> Option<Reason> {
    let part = agent.late as f64 / agent.offered.max(1) as f64;
    (is_open && part > LATE).then(|| {
        let text = format!("agent {} sent {} of its requests more than 1 ms late", agent.name, share(part.min(1.0)));
        Reason::new(text, "Give it its own cores (--load-cpus), or use more agents.")
    })
}
