//! The raw samples of a run: one per slice, one per start of a server, one per event.
//!
//! Times are nanoseconds of one monotonic clock, counted from the start of the run unless the name says otherwise.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
pub use tare_sample::{ClockEstimate, ErrorClass, ErrorTallies, ErrorTally, MessageTally, SliceSample};

use crate::cross_check::CrossCheckRecord;
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

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventLevel {
    /// Good to know.
    Info,
    /// Usable with care.
    Warning,
    /// Something is missing or void.
    Error,
}

/// Something that happened: a server died, a check failed, the machine was busy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// Since the run began.
    pub at_ns: u64,
    /// How much it matters.
    pub level: EventLevel,
    /// True when it makes the cells it names void.
    pub voids: bool,
    /// Group it belongs to, where it belongs to one.
    pub group: Option<String>,
    /// Variant, where it belongs to one.
    pub variant: Option<String>,
    /// Scenario, where it belongs to one.
    pub scenario: Option<String>,
    /// 1-based fork, where it belongs to one.
    pub fork: Option<u32>,
    /// Few words.
    pub title: String,
    /// What was seen.
    pub text: String,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Last lines of the server's log: untrusted text.
    pub log: Option<String>,
}

impl EventRecord {
    /// An event of the whole run, at its beginning, that voids nothing.
    pub fn new(level: EventLevel, title: &str, text: String) -> Self {
        Self {
            at_ns: 0,
            level,
            voids: false,
            group: None,
            variant: None,
            scenario: None,
            fork: None,
            title: title.to_owned(),
            text,
            remedy: None,
            log: None,
        }
    }
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
