//! One variant under one scenario: what it did, and whether its numbers may be used.

use serde::{Deserialize, Serialize};
use tare_plan::plan::SliceKind;
use tare_record::{ErrorClass, Phase};

use tare_plan::Currency;

use super::{CapacityAt, Estimate, KindCores, Latency, MessageSummary, Probes, Row, Validity};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub id: String,
    pub group: String,
    pub scenario: String,
    pub scenario_title: String,
    pub variant: String,
    pub server: String,
    /// Family of the server (`http4s`), for sections; the server name where there is none.
    pub family: String,
    pub kind: String,
    pub version: Option<String>,
    pub baseline: bool,
    pub control: bool,
    pub forks: u32,
    /// Numbers of the starts that are set aside: other programs disturbed them.
    pub forks_set_aside: Vec<u32>,
    /// Of those that contributed, how many were steady when measuring began.
    pub steady_forks: u32,
    pub validity: Validity,
    pub bottleneck: Bottleneck,
    pub throughput_per_s: Option<Estimate>,
    /// CPU of the server per request, at the load that [`Self::cpu_load`] names.
    pub cpu_ns_per_request: Option<Estimate>,
    pub cpu_load: String,
    /// The same by kind of thread; sums to the total.
    pub cpu_by_kind: Vec<KindShare>,
    /// Of a proxy with what is behind it: the CPU per request of each, itself first; empty for a single server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_by_server: Vec<ServerShare>,
    pub allocated_bytes_per_request: Option<Estimate>,
    /// Share of time (0–1) during which the runtime stopped its threads to collect garbage.
    pub gc_pause_share: Option<f64>,
    pub gc_pauses: Option<u64>,
    /// How long the server stood still for each request, over all scored slices; `null` where its runtime does not count it.
    pub stopped_ns_per_request: Option<Estimate>,
    /// The same as a share (0–1) of the time.
    pub stopped_time_share: Option<f64>,
    /// Largest heap in use of the runtime at the end of a slice, garbage included.
    pub heap_used_peak_bytes: Option<u64>,
    pub probes: Probes,
    pub rss_bytes: Option<Estimate>,
    pub rss_peak_bytes: Option<u64>,
    /// CPU of the generator as a share of its cores (0–1), mean over slices.
    pub generator_cpu_share: Option<f64>,
    pub requests_ok: u64,
    pub requests_failed: u64,
    pub errors: Vec<ErrorCount>,
    pub connection_events: Vec<ErrorCount>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub latency: Vec<Latency>,
    /// What the slow requests met and how long the server stood still, in words: a line for each that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<String>,
    pub capacity: Option<CapacityAt>,
    pub messages: Option<MessageSummary>,
    /// The run over time: one point per slice, warm-up included.
    pub timeline: Vec<TimePoint>,
    /// Per fork: what each start said. Empty in a sequential run.
    pub fork_values: Vec<ForkValue>,
    pub resolved: Vec<Row>,
    /// The command that started it, without class path and folders: the record has it whole.
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

/// The part of one server of a chain, without its JIT compilers.
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

/// One slice, on the time axis of the run.
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
    /// Share of the server's CPU that JIT threads took (0–1).
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
    /// Latency under the load at which it is compared: Poisson or pushed, and where there was neither the saturating
    /// one.
    pub fn shown_latency(&self) -> Option<&Latency> {
        let of = |kind: SliceKind| self.latency.iter().find(|l| l.slice_kind == kind);
        of(SliceKind::Poisson)
            .or_else(|| of(SliceKind::Push))
            .or_else(|| of(SliceKind::Saturating))
            .or(self.latency.first())
    }

    /// The level in one currency, with its interval; a figure of response times is that of [`Self::shown_latency`]. `None`
    /// where the cell has none.
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
