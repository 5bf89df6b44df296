//! The figures of the agents of a load. docs/LOAD.md describes them.

use serde::{Deserialize, Serialize};
use tare_record::{AgentRecord, LoadRecord};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSummary {
    pub name: String,
    pub host: String,
    pub load_cpus: String,
    pub lost: Option<String>,
    pub lost_at_s: Option<f64>,
    pub offered: u64,
    pub ok: u64,
    pub failed: u64,
    pub completed: u64,
    pub throughput_per_s: Option<f64>,
    pub cpu_share: Option<f64>,
    pub late: u64,
    pub clock_offset_ns: Option<i64>,
    /// The shortest one of a ping. Its load started within half of it.
    pub round_trip_ns: Option<u64>,
}

pub(super) fn agent_summaries(record: &LoadRecord) -> Vec<AgentSummary> {
    let summary = |agent: &AgentRecord| AgentSummary {
        name: agent.name.clone(),
        host: agent.host.clone(),
        load_cpus: agent.load_cpus.clone(),
        lost: agent.lost.clone(),
        lost_at_s: agent.lost_at_ns.map(|ns| ns as f64 / 1e9),
        offered: agent.offered,
        ok: agent.ok,
        failed: agent.failed,
        completed: agent.completed,
        throughput_per_s: (agent.window_ns > 0).then(|| agent.completed as f64 * 1e9 / agent.window_ns as f64),
        cpu_share: agent.cpu_share(),
        late: agent.late,
        clock_offset_ns: agent.clock_offset_ns,
        round_trip_ns: agent.round_trip_ns,
    };
    record.agents.iter().map(summary).collect()
}
