//! How far a run was at the end of its last whole step. An interrupted run goes on from there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a run had done at the end of its last whole step: a fork, or a cell of a sequential run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Time since the run began, in nanoseconds. The time between an interruption and its end does not count.
    pub at_ns: u64,
    /// The entries of the record that belong to whole steps.
    pub entries: EntryCounts,
    /// The steps that are done, in order.
    pub steps: Vec<DoneStep>,
    /// The loads that the first forks have fixed for all.
    pub loads: Vec<SharedLoad>,
    /// The files of the servers' programs and of tare, with size and time of change: `4096 bytes of 1795370000.5`.
    pub files: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneStep {
    pub group: String,
    /// How long it took, in nanoseconds.
    pub taken_ns: u64,
    /// State of the comparisons of the group after it.
    pub standing: GroupVerdicts,
    /// How many forks then counted in all its open comparisons.
    pub forks_counted: u32,
}

/// State of the comparisons of a group after a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupVerdicts {
    /// Some have no verdict.
    Open,
    /// All have a verdict. More forks would narrow an interval that is wider than was asked for.
    Answered,
    /// No more forks are needed.
    Settled,
}

/// What determines the load of a scenario, the same for all forks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedLoad {
    pub group: String,
    pub scenario: String,
    /// Throughput of the slowest server at the end of the first warm-up; absent if none answered.
    pub slowest_per_s: Option<f64>,
    /// The windows in which latency is measured; absent before the first fork has shown how long they must be.
    #[serde(default)]
    pub windows: Option<LatencyWindows>,
}

/// The windows of open load in which the latency of each server is measured in each fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyWindows {
    /// How many each server has.
    pub count: u32,
    /// Length of each in nanoseconds, its head included.
    pub length_ns: u64,
}

/// How many entries of each kind a record has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryCounts {
    pub slices: usize,
    pub forks: usize,
    pub warmups: usize,
    pub cross_checks: usize,
    pub events: usize,
    pub profiles: usize,
}

impl EntryCounts {
    /// The tables of the record with their counts.
    pub(crate) const fn counts_by_table(&self) -> [(&'static str, i64); 6] {
        [
            ("slice", self.slices as i64),
            ("fork", self.forks as i64),
            ("warmup", self.warmups as i64),
            ("cross_check", self.cross_checks as i64),
            ("event", self.events as i64),
            ("profile", self.profiles as i64),
        ]
    }
}
