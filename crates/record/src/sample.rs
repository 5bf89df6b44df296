//! The raw samples of a run: one per slice, one per start of a server, one per event.
//!
//! Times are nanoseconds of one monotonic clock, counted from the start of the run unless the name says otherwise.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
pub use tare_sample::{ClockEstimate, ErrorClass, ErrorTallies, ErrorTally, MessageTally, SliceSample};

use crate::cross_check::CrossCheckRecord;
pub use crate::event::{EventLevel, EventRecord};
pub use crate::event_kind::{EventKind, EventName, SelfTestFigures};
pub use crate::header::RunHeader;
pub use crate::probe::{CollectorUse, Hiccups, JvmUse, Pause, PauseCause, ServerCpu, ServerUse};
use crate::profile::ProfileRecord;
pub use crate::slice::{Phase, SliceKey, SliceRecord, StoredSlice};

/// One start of one variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForkRecord {
    /// 1-based start.
    pub fork: u32,
    /// Id of the group.
    pub group: String,
    /// Name of the variant.
    pub variant: String,
    /// Command line it was started with.
    pub command: Vec<String>,
    /// From spawn to readiness.
    pub startup_ns: u64,
    /// Library versions resolved for it, by name.
    pub resolved: BTreeMap<String, String>,
    /// CPU used while at rest after the start, as a share of one core.
    pub rest_cpu_share: Option<f64>,
    /// How it ended: `stopped`, `exited with code 1`, `killed by signal 9`, `had to be killed`.
    pub end: String,
    /// False when it died, hung or lied before its time.
    pub healthy: bool,
}

/// How one fork warmed up for one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarmupRecord {
    /// 1-based start.
    pub fork: u32,
    /// Id of the group.
    pub group: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the variant.
    pub variant: String,
    /// How long the warm-up of the group took.
    pub span_ns: u64,
    /// Was this variant steady at its end?
    pub steady: bool,
    /// Why not; empty when steady.
    pub reason: String,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    /// Decided, or all planned forks done.
    Complete,
    /// The budget was spent first.
    BudgetSpent,
    /// Ctrl-C.
    Interrupted,
    /// tare failed; the text stands in an event.
    Failed,
}

/// Everything that one run left behind.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// What was asked, and where.
    pub header: RunHeader,
    /// In the order they were measured, packed ([`SliceRecord::pack`]): open, an hour's run would not fit in memory.
    pub slices: Vec<StoredSlice>,
    /// In the order they were started.
    pub forks: Vec<ForkRecord>,
    /// In the order they ended.
    pub warmups: Vec<WarmupRecord>,
    /// In the order they were made.
    pub cross_checks: Vec<CrossCheckRecord>,
    /// In the order they happened.
    pub events: Vec<EventRecord>,
    /// In the order they were sampled; none in a record of scored slices.
    pub profiles: Vec<ProfileRecord>,
    /// How it ended and when, since the run began; absent when tare was killed.
    pub end: Option<(EndStatus, u64)>,
}

impl RunRecord {
    /// A record in which nothing has been kept yet.
    pub fn begin(header: RunHeader) -> Self {
        Self {
            header,
            slices: Vec::new(),
            forks: Vec::new(),
            warmups: Vec::new(),
            cross_checks: Vec::new(),
            events: Vec::new(),
            profiles: Vec::new(),
            end: None,
        }
    }
}
