//! The raw samples of a run: one per slice, one per start of a server, one per event.
//!
//! Times are nanoseconds of one monotonic clock, counted from the start of the run unless the name says otherwise.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tare_plan::plan::SliceKind;
use tare_stats::histogram::LatencyHistogram;

use crate::cross_check::CrossCheckRecord;
pub use crate::header::RunHeader;
pub use crate::messages::{ClockEstimate, MessageTally, Messages};
use crate::packed::PackedHistogram;
pub use crate::probe::{CollectorUse, Hiccups, JvmUse, Pause, PauseCause, ServerCpu};
use crate::profile::ProfileRecord;

/// Warm-up or scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Not scored.
    Warmup,
    /// Scored.
    Measure,
    /// Under a sampler: never scored.
    Profile,
}

/// One interval of load against one variant.
///
/// `H` is how its latencies are held: open for recording, or packed ([`StoredSlice`]) once thousands of slices are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceRecord<H = LatencyHistogram> {
    /// 1-based start.
    pub fork: u32,
    /// Id of the group.
    pub group: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the variant.
    pub variant: String,
    /// Warm-up or scored.
    pub phase: Phase,
    /// Load model.
    pub kind: SliceKind,
    /// 0-based round within fork, scenario and kind: the slices of one round are paired.
    pub round: u32,
    /// Begin of the scored window, since the run began.
    pub start_ns: u64,
    /// Length of the scored window, the dropped head not included.
    pub window_ns: u64,
    /// Closed users, or connections of an open load.
    pub users: u32,
    /// Offered rate of an open load.
    pub offered_per_s: Option<f64>,
    /// Right answers that arrived in the window.
    pub completed: u64,
    /// Right answers to requests of this slice in all, drained ones included; the histograms hold these.
    pub ok: u64,
    /// Failed requests.
    pub failed: u64,
    /// Failures by class: count and first example.
    pub errors: BTreeMap<String, ErrorTally>,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// From the intended start, right answers; of a pushed message, from when the server says that it sent it.
    pub response: H,
    /// From the actual send, right answers.
    pub service: H,
    /// Actual minus intended start; empty for a closed load.
    pub send_lag: H,
    /// How much later than they arrived right answers may have been stamped, at most; empty in records before version 3.
    pub stamp_lag: H,
    /// Times of failed requests, from the intended start to the failure or deadline.
    pub failed_after: H,
    /// Requests that waited for a free connection.
    pub blocked: u64,
    /// How long they waited in all.
    pub blocked_ns: u64,
    /// Connections opened during the slice.
    pub connections_opened: u64,
    /// Connections lost during the slice.
    pub connections_lost: u64,
    /// TLS handshakes that succeeded during the slice.
    pub tls_handshakes: u64,
    /// Of these, how many resumed an earlier session.
    pub tls_resumed: u64,
    /// CPU that the generator's workers made load with in the window.
    pub generator_cpu_ns: u64,
    /// CPU beside it in which they stayed awake for what might come, and nothing came.
    pub generator_spin_ns: u64,
    /// Number of generator workers (cores).
    pub generator_workers: u32,
    /// CPU of the server over the window and its drain, with the answers it went on; absent without process metrics.
    pub server_cpu: Option<ServerCpu>,
    /// Resident memory of the server at the end of the slice.
    pub rss_bytes: Option<u64>,
    /// Peak resident memory of the server's processes so far.
    pub rss_peak_bytes: Option<u64>,
    /// What a JVM told of itself over the window and its drain; absent where the server is none.
    pub jvm: Option<JvmUse>,
    /// What the hiccup meters saw over the window and its drain; absent where the plan does not ask for them.
    pub hiccups: Option<Hiccups<H>>,
    /// What others used of the cores of servers and generator from the slice's beginning, its head included, to the end of its drain, 0 to 1:
    /// neither tare nor its servers, but other programs and a hypervisor. Absent where that cannot be seen, and before version 4.
    pub others_share: Option<f64>,
    /// What else is known of pushed messages; absent where the server did not push any.
    pub messages: Option<Messages<H>>,
}

/// A slice as it is kept: its latencies as bytes, a few KB where open histograms take a megabyte. See [`SliceRecord::pack`].
pub type StoredSlice = SliceRecord<PackedHistogram>;

impl<H> SliceRecord<H> {
    /// Throughput over the scored window.
    pub fn throughput_per_s(&self) -> f64 {
        self.completed as f64 * 1e9 / self.window_ns.max(1) as f64
    }
}

impl SliceRecord {
    /// The slice with its latencies packed, for keeping it in a [`RunRecord`].
    pub fn pack(self) -> StoredSlice {
        SliceRecord {
            fork: self.fork,
            group: self.group,
            scenario: self.scenario,
            variant: self.variant,
            phase: self.phase,
            kind: self.kind,
            round: self.round,
            start_ns: self.start_ns,
            window_ns: self.window_ns,
            users: self.users,
            offered_per_s: self.offered_per_s,
            completed: self.completed,
            ok: self.ok,
            failed: self.failed,
            errors: self.errors,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            response: PackedHistogram::from(&self.response),
            service: PackedHistogram::from(&self.service),
            send_lag: PackedHistogram::from(&self.send_lag),
            stamp_lag: PackedHistogram::from(&self.stamp_lag),
            failed_after: PackedHistogram::from(&self.failed_after),
            blocked: self.blocked,
            blocked_ns: self.blocked_ns,
            connections_opened: self.connections_opened,
            connections_lost: self.connections_lost,
            tls_handshakes: self.tls_handshakes,
            tls_resumed: self.tls_resumed,
            generator_cpu_ns: self.generator_cpu_ns,
            generator_spin_ns: self.generator_spin_ns,
            generator_workers: self.generator_workers,
            server_cpu: self.server_cpu,
            rss_bytes: self.rss_bytes,
            rss_peak_bytes: self.rss_peak_bytes,
            jvm: self.jvm,
            hiccups: self.hiccups.map(Hiccups::pack),
            others_share: self.others_share,
            messages: self.messages.map(Messages::pack),
        }
    }
}

/// Failed requests of one class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorTally {
    /// How many.
    pub count: u64,
    /// The first, in words.
    pub example: String,
}

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
