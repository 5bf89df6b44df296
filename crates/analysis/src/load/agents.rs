//! The agents of a load: their figures and their lines.

use serde::{Deserialize, Serialize};
use tare_record::{AgentRecord, LoadRecord};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSummary {
    /// `local 1` or `ssh://bench1`.
    pub name: String,
    pub host: String,
    pub load_cpus: String,
    /// Why it was lost; `null` if it reported everything.
    pub lost: Option<String>,
    /// When it was lost, since the start of the load.
    pub lost_at_s: Option<f64>,
    pub offered: u64,
    pub ok: u64,
    pub failed: u64,
    /// Expected answers that arrived in its window.
    pub completed: u64,
    /// Those per second of its window.
    pub throughput_per_s: Option<f64>,
    /// CPU that made load as a share of its cores, 0–1.
    pub cpu_share: Option<f64>,
    /// Requests that left more than 1 ms after their intended start.
    pub late: u64,
    /// How far its wall clock is ahead of the coordinator's; negative if behind.
    pub clock_offset_ns: Option<i64>,
    /// The shortest round trip of a ping. Its load started within half of it.
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
