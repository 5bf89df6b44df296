//! One agent of a load that several generators made.

use serde::{Deserialize, Serialize};

/// What one agent did, as it reported it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRecord {
    /// `local 1` or `ssh://bench1`.
    pub name: String,
    pub host: String,
    /// Cores of its generator, such as `2-3`.
    pub load_cpus: String,
    pub workers: u32,
    /// Why it was lost; `None` if it reported everything.
    pub lost: Option<String>,
    /// When it was lost, in nanoseconds since the start of the load.
    pub lost_at_ns: Option<u64>,
    /// Requests whose intended start lay in the window.
    pub offered: u64,
    pub ok: u64,
    pub failed: u64,
    /// Expected answers that arrived in the window.
    pub completed: u64,
    pub window_ns: u64,
    /// CPU time of its workers in the window, in nanoseconds.
    pub generator_cpu_ns: u64,
    /// Requests that left more than 1 ms after their intended start.
    pub late: u64,
    /// How far its wall clock is ahead of the coordinator's, in nanoseconds; negative if behind.
    pub clock_offset_ns: Option<i64>,
    /// The shortest round trip of a ping, in nanoseconds: its load started within half of it.
    pub round_trip_ns: Option<u64>,
}

impl AgentRecord {
    /// Its generator's share of its cores that was busy, from 0 to 1; `None` for an empty window.
    pub fn cpu_share(&self) -> Option<f64> {
        let room_ns = self.window_ns as f64 * f64::from(self.workers);
        (room_ns > 0.0).then(|| self.generator_cpu_ns as f64 / room_ns)
    }
}
