//! One variant under one scenario: what it did, and whether its numbers may be used.

use serde::{Deserialize, Serialize};
use tare_plan::Currency;
use tare_plan::plan::SliceKind;
use tare_plan::slo::LoadBy;
use tare_record::{ErrorClass, MessageTally, PauseCause, Phase};

use super::{Distribution, Estimate, Latency, Row, Validity, with_group};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub id: String,
    pub group: String,
    pub scenario: String,
    pub scenario_title: String,
    pub variant: String,
    pub server: String,
    pub family: String,
    pub kind: String,
    pub version: Option<String>,
    pub baseline: bool,
    pub control: bool,
    pub forks: u32,
    pub forks_set_aside: Vec<u32>,
    pub steady_forks: u32,
    pub validity: Validity,
    pub bottleneck: Bottleneck,
    pub throughput_per_s: Option<Estimate>,
    pub cpu_ns_per_request: Option<Estimate>,
    pub cpu_load: String,
    pub cpu_by_kind: Vec<KindShare>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_by_server: Vec<ServerShare>,
    pub allocated_bytes_per_request: Option<Estimate>,
    pub gc_pause_share: Option<f64>,
    pub gc_pauses: Option<u64>,
    pub stopped_ns_per_request: Option<Estimate>,
    pub stopped_time_share: Option<f64>,
    pub heap_used_peak_bytes: Option<u64>,
    pub probes: Probes,
    pub rss_bytes: Option<Estimate>,
    pub rss_peak_bytes: Option<u64>,
    pub generator_cpu_share: Option<f64>,
    pub requests_ok: u64,
    pub requests_failed: u64,
    pub errors: Vec<ErrorCount>,
    pub connection_events: Vec<ErrorCount>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub latency: Vec<Latency>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
    pub capacity: Option<CapacityAt>,
    pub messages: Option<MessageSummary>,
    pub timeline: Vec<TimePoint>,
    pub fork_values: Vec<ForkValue>,
    pub resolved: Vec<Row>,
    pub command: String,
}

/// What limited a saturating load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    Server,
    /// The generator's cores were busy: the throughput is a lower bound.
    Generator,
    /// The network between them was full: the throughput is a lower bound.
    Network,
    Both,
    Neither,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindShare {
    pub kind: String,
    pub ns_per_request: f64,
    pub pools: Vec<PoolShare>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerShare {
    pub server: String,
    pub ns_per_request: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoolShare {
    pub pool: String,
    pub ns_per_request: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    pub class: ErrorClass,
    pub count: u64,
    pub example: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimePoint {
    pub t_s: f64,
    pub fork: u32,
    pub phase: Phase,
    pub slice_kind: SliceKind,
    pub throughput_per_s: f64,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub cpu_ns_per_request: Option<f64>,
    pub jit_share: Option<f64>,
    pub cpu: Vec<KindCores>,
    pub rss_bytes: Option<u64>,
    pub heap_used_bytes: Option<u64>,
    pub heap_after_gc_bytes: Option<u64>,
    pub gc_pauses: Option<u64>,
    pub gc_pause_ns: Option<u64>,
    pub failed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForkValue {
    pub fork: u32,
    pub steady: bool,
    pub warmup_s: f64,
    pub throughput_per_s: Option<f64>,
    pub cpu_ns_per_request: Option<f64>,
}

impl Cell {
    /// Latency under the load at which it is compared: Poisson or pushed, else the saturating one.
    pub fn shown_latency(&self) -> Option<&Latency> {
        let kinds = [SliceKind::Poisson, SliceKind::Push, SliceKind::Saturating];
        kinds.into_iter().find_map(|kind| self.latency_under(kind)).or(self.latency.first())
    }

    pub fn latency_under(&self, kind: SliceKind) -> Option<&Latency> {
        self.latency.iter().find(|latency| latency.slice_kind == kind)
    }

    /// The scenario, with its group where another group has a server of the same name in it, among all of a run.
    pub fn scenario_among<'a>(&self, all: impl IntoIterator<Item = &'a Self>) -> String {
        let alike = all.into_iter().filter(|one| (&one.scenario, &one.variant) == (&self.scenario, &self.variant));
        with_group(&self.scenario, &self.group, alike.map(|one| &one.group))
    }

    /// The level in one currency, with its interval; of response times that of [`Self::shown_latency`].
    pub fn level_in(&self, currency: Currency) -> Option<Estimate> {
        if let Some(figure) = currency.facts().latency {
            return self.shown_latency()?.level(figure);
        }
        match currency {
            Currency::Throughput => self.throughput_per_s,
            Currency::CpuPerRequest => self.cpu_ns_per_request,
            Currency::AllocatedPerRequest => self.allocated_bytes_per_request,
            Currency::Capacity => Some(self.capacity.as_ref()?.load),
            Currency::StoppedPerRequest => self.stopped_ns_per_request,
            _ => None,
        }
    }
}

/// The largest load under which a variant keeps the curve of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityAt {
    pub curve: String,
    pub by: LoadBy,
    pub sentence: String,
    /// Mean over forks, 0 for one that kept none. No interval where a fork kept the largest load of the search.
    pub load: Estimate,
    pub forks_at_most: u32,
    /// The limits of the curve, and the one on failures that holds where the curve has none.
    pub limits: Vec<CapacityLimit>,
    pub forks: Vec<CapacityFork>,
    pub tries: Vec<CapacityTry>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityLimit {
    pub condition: String,
    pub unit: LimitUnit,
    pub limit: f64,
    pub failed_forks: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    Ns,
    Share,
    Count,
    PerS,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityFork {
    pub fork: u32,
    pub load: f64,
    pub failed_at: Option<f64>,
    pub failed_limits: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityTry {
    pub fork: u32,
    pub load: f64,
    pub kept: bool,
    pub values: Vec<Option<f64>>,
}

/// The messages that a server pushed. Their latency is that of the cell under the load `push`, or of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageSummary {
    #[serde(flatten)]
    pub tally: MessageTally,
    /// Deviation of the time between two messages from the period; needs no server's clock. Empty for events.
    pub jitter: Distribution,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Distribution>,
}

impl MessageSummary {
    /// Of these messages or events, with the time between two of them: their jitter, or their gaps.
    pub(crate) fn new(tally: MessageTally, are_events: bool, between: Distribution) -> Self {
        match are_events {
            true => Self { tally, jitter: Distribution::default(), gap: Some(between) },
            false => Self { tally, jitter: between, gap: None },
        }
    }

    /// How the time between two of them is called, and what it is.
    pub fn between(&self) -> (&'static str, &Distribution) {
        self.gap.as_ref().map_or(("jitter", &self.jitter), |gap| ("gap", gap))
    }
}

/// What the probes saw over all scored slices. Figures that a server does not give are `null` or empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Probes {
    pub heap_committed_peak_bytes: Option<u64>,
    pub heap_after_gc_peak_bytes: Option<u64>,
    pub off_heap_peak_bytes: Option<u64>,
    pub metaspace_peak_bytes: Option<u64>,
    pub collectors: Vec<CollectorShare>,
    pub safepoints: Option<u64>,
    pub safepoint_share: Option<f64>,
    pub pauses: Vec<PauseTally>,
    pub probe_cpu_share: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CollectorShare {
    pub collector: String,
    pub pauses: u64,
    pub pause_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PauseTally {
    pub cause: PauseCause,
    pub pauses: u64,
    pub pause_ns: u64,
    pub pause_max_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindCores {
    pub kind: String,
    pub cores: f64,
}
