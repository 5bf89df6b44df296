//! The record of a run: its header, starts, warm-ups, slices and events, and how it ended; and that of a load. Times are
//! nanoseconds of one monotonic clock, counted from the start of the run unless the name says otherwise.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tare_plan::plan::SliceKind;
use tare_plan::{LoadPlan, Plan};
use tare_sample::{PackedHistogram, SliceSample};
use tare_units::named_values;

use crate::checkpoint::{Checkpoint, EntryCounts};
use crate::cross_check::CrossCheckRecord;
use crate::environment::Environment;
use crate::event::EventRecord;
use crate::probe::{KnownStops, ServerUse};
use crate::profile::ProfileRecord;

/// Written before anything is measured. `P` is the plan: of a run, or of a load ([`LoadHeader`]).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunHeader<P = Plan> {
    /// `2026-11-20-1`; `load` for a load.
    pub id: String,
    /// Wall clock at the start, nanoseconds since 1970 UTC.
    pub started_unix_ns: u64,
    /// Program and arguments as typed, without secrets.
    pub command: Vec<String>,
    pub tare_version: String,
    pub git_revision: Option<String>,
    /// SHA-256 of the plan, in hex.
    pub plan_hash: String,
    pub plan: P,
    pub environment: Environment,
}

pub type LoadHeader = RunHeader<LoadPlan>;

/// The header of a record of either kind. The JSON field `kind` is `weighed` (a run) or `load`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RecordHeader<R = Box<RunHeader>, L = Box<LoadHeader>> {
    /// A run: servers compared with one another.
    #[serde(rename = "weighed")]
    Run(R),
    Load(L),
}

/// The same, as it is written.
pub(crate) type HeaderRef<'a> = RecordHeader<&'a RunHeader, &'a LoadHeader>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForkRecord {
    /// 1-based start.
    pub fork: u32,
    pub group: String,
    pub variant: String,
    /// Command line of its start.
    pub command: Vec<String>,
    /// From spawn to readiness.
    pub startup_ns: u64,
    /// Library versions resolved for it, by name.
    pub resolved: BTreeMap<String, String>,
    /// CPU use at rest after the start, as a share of one core.
    pub rest_cpu_share: Option<f64>,
    /// How it ended: `stopped`, `exited with code 1`, `killed by signal 9`, `had to be killed`.
    pub end: String,
    /// False if it died, hung or misbehaved before it was stopped.
    pub healthy: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarmupRecord {
    /// 1-based start.
    pub fork: u32,
    pub group: String,
    pub scenario: String,
    pub variant: String,
    /// Length of the warm-up of the group.
    pub span_ns: u64,
    /// Whether this variant was steady at its end.
    pub steady: bool,
    /// Why it was not; empty if steady.
    pub reason: String,
}

named_values! {
    /// Warm-up, scored or profiled.
    pub enum Phase: "a phase" {
        Warmup = "warmup",
        Measure = "measure",
        /// Under a sampler; never scored.
        Profile = "profile",
    }
}

/// Identifies a slice, and states its load.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceKey {
    /// 1-based start of the server.
    pub fork: u32,
    pub group: String,
    pub scenario: String,
    pub variant: String,
    pub phase: Phase,
    pub kind: SliceKind,
    /// 0-based round within fork, scenario and kind: the slices of one round are paired.
    pub round: u32,
    /// Users of a closed load, or connections of an open load.
    pub users: u32,
    pub offered_per_s: Option<f64>,
}

/// One slice of load against one variant. Its times count from the start of the run. Its histograms take a few KB as bytes,
/// and a megabyte when unpacked.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSlice {
    pub key: SliceKey,
    pub load: SliceSample<PackedHistogram>,
    pub server: ServerUse,
}

impl StoredSlice {
    /// With all histograms as bytes, and without the stops, which no record keeps.
    pub fn new(key: SliceKey, load: SliceSample, server: ServerUse) -> Self {
        Self { key, load: load.pack(), server: ServerUse { stops: KnownStops::Untold, ..server } }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    /// Decided, or all planned forks done.
    Complete,
    /// The budget was used up first.
    BudgetSpent,
    /// Ctrl-C.
    Interrupted,
    /// tare failed; an event has the text.
    Failed,
}

#[derive(Debug, Clone, Default)]
pub struct RunRecord {
    pub header: RunHeader,
    /// Slices in the order of measurement, packed: unpacked, an hour's run would not fit in memory.
    pub slices: Vec<StoredSlice>,
    pub forks: Vec<ForkRecord>,
    /// Warm-ups, in the order in which they ended.
    pub warmups: Vec<WarmupRecord>,
    pub cross_checks: Vec<CrossCheckRecord>,
    pub events: Vec<EventRecord>,
    /// Profiles, in order; a record of scored slices has none.
    pub profiles: Vec<ProfileRecord>,
    /// How far it was at the end of its last whole step; absent before the first one.
    pub checkpoint: Option<Checkpoint>,
    /// How and when it ended, since the run began; absent if tare was killed.
    pub end: Option<(EndStatus, u64)>,
}

impl RunRecord {
    pub fn begin(header: RunHeader) -> Self {
        Self { header, ..Self::default() }
    }

    pub fn is_void(&self, group: &str, scenario: &str, variant: &str) -> bool {
        let is_here = |event: &EventRecord| {
            event.group.as_deref() == Some(group)
                && event.variant.as_deref() == Some(variant)
                && event.scenario.as_deref().is_none_or(|name| name == scenario)
        };
        self.events.iter().any(|event| event.voids && is_here(event))
    }

    pub const fn entry_counts(&self) -> EntryCounts {
        EntryCounts {
            slices: self.slices.len(),
            forks: self.forks.len(),
            warmups: self.warmups.len(),
            cross_checks: self.cross_checks.len(),
            events: self.events.len(),
            profiles: self.profiles.len(),
        }
    }
}

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

/// All entries of one load on one URL (`tare load`).
#[derive(Debug, Clone)]
pub struct LoadRecord {
    pub header: LoadHeader,
    /// The load cut into intervals, in order. Their `group` and `variant` are the URL, their `scenario` the first
    /// request.
    pub intervals: Vec<StoredSlice>,
    /// The agents that made the load, in order; empty where tare made it itself.
    pub agents: Vec<AgentRecord>,
    pub events: Vec<EventRecord>,
    /// How and when the load ended, in nanoseconds since its start; absent if tare was killed.
    pub end: Option<(EndStatus, u64)>,
}

#[derive(Debug, Clone)]
pub enum Record {
    Run(Box<RunRecord>),
    Load(Box<LoadRecord>),
}
