//! How far a run was at the end of its last whole step. An interrupted run goes on from there.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_stats::StopReason;

/// What a run had done at the end of its last whole step: a fork, or a cell of a sequential run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Time since the run began, in nanoseconds. The time between an interruption and its end does not count.
    pub at_ns: u64,
    /// The entries of the record that belong to whole steps.
    pub entries: EntryCounts,
    pub steps: Vec<DoneStep>,
    /// The loads that the first forks have fixed for all.
    pub loads: Vec<SharedLoad>,
    /// The files of the servers' programs and of tare, with size and time of change: `4096 bytes of 1795370000.5`; and the
    /// contract of the servers, with its hash.
    pub files: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoneStep {
    pub group: String,
    pub taken_ns: u64,
    pub standing: GroupVerdicts,
    /// How many forks then counted in all its open comparisons.
    pub forks_counted: u32,
}

/// State of the comparisons of a group after a fork, from the most open one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupVerdicts {
    /// Some have no verdict.
    Open,
    /// All have a verdict. More forks would narrow an interval that is wider than was asked for.
    Answered,
    /// No more forks are needed.
    Settled,
}

/// How one comparison stands after a fork, and whether it may stop.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonState {
    pub group: String,
    pub scenario: String,
    pub variant: String,
    /// The verdict so far in few words: `slower 8.1 % [7.2, 9.0]`.
    pub text: String,
    /// Forks that count: those that ran, without those that were set aside.
    pub forks: u32,
    /// Whether it has a verdict, however wide its interval.
    pub has_verdict: bool,
    /// Why it may stop; `None` while it needs more forks.
    pub reason_to_stop: Option<ReasonToStop>,
    /// The time that more forks would take to decide it, if estimate and spread stayed as they are.
    pub needed: Option<Duration>,
}

/// Why a comparison needs no more forks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasonToStop {
    /// It has a verdict, or its interval is as narrow as was asked for.
    Settled(StopReason),
    /// It does not count, and more forks would not change that.
    Void,
    /// A capacity lies beyond the loads that were tried. More forks would try the same.
    BeyondSearch,
}

/// What determines the load of a scenario, the same for all forks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedLoad {
    pub group: String,
    pub scenario: String,
    /// Throughput of the slowest server at the end of the first warm-up; absent if none answered.
    pub slowest_per_s: Option<f64>,
    /// The windows in which latency is measured; absent before the first fork has shown how long they must be.
    pub windows: Option<LatencyWindows>,
}

/// The windows of open load in which the latency of each server is measured in each fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyWindows {
    pub count: u32,
    /// Length of each in nanoseconds, its head included.
    pub length_ns: u64,
}

impl LatencyWindows {
    pub const fn length(self) -> Duration {
        Duration::from_nanos(self.length_ns)
    }
}

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
