//! What a server used during a slice: CPU by kind of thread, memory, the JVM's own counters, and hiccups.
//! `tare-sut` has the probes that measure it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tare_sample::PackedHistogram;
use tare_stats::histogram::LatencyHistogram;

/// What a server used while one slice of load ran: window and drain, unless a field says otherwise.
///
/// Serialised, it has no histograms. A counter is a field here or in one of the types below; what older records lack
/// needs `#[serde(default)]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "H: Default"))]
pub struct ServerUse<H = LatencyHistogram> {
    /// CPU of the server and the requests it answered with it; absent without process metrics.
    pub cpu: Option<ServerCpu>,
    /// Resident memory at the end of the slice.
    pub rss_bytes: Option<u64>,
    /// Peak resident memory of the server's processes since their start.
    pub rss_peak_bytes: Option<u64>,
    /// What a JVM counted; absent where the server is none.
    pub jvm: Option<JvmUse>,
    /// Hiccups; absent where the plan does not ask for meters.
    pub hiccups: Option<Hiccups<H>>,
    /// Share, 0 to 1, of the cores of servers and generator that went to other programs and to a hypervisor, from the
    /// begin of the slice (its head included) to the end of its drain. Absent where it cannot be measured, and before
    /// version 4 of the record.
    pub others_share: Option<f64>,
}

// Derived, it would ask for a default of `H`.
impl<H> Default for ServerUse<H> {
    fn default() -> Self {
        Self { cpu: None, rss_bytes: None, rss_peak_bytes: None, jvm: None, hiccups: None, others_share: None }
    }
}

impl ServerUse {
    /// The same with its histograms as bytes.
    pub fn pack(self) -> ServerUse<PackedHistogram> {
        ServerUse {
            cpu: self.cpu,
            rss_bytes: self.rss_bytes,
            rss_peak_bytes: self.rss_peak_bytes,
            jvm: self.jvm,
            hiccups: self.hiccups.map(Hiccups::pack),
            others_share: self.others_share,
        }
    }
}

/// CPU that a server used while it answered a known number of requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerCpu {
    /// Wall time between the two readings.
    pub wall_ns: u64,
    /// CPU in all.
    pub total_ns: u64,
    /// By kind of thread: `application`, `gc`, `jit`, `vm`, …; sums to the total.
    pub by_kind: BTreeMap<String, u64>,
    /// Within each kind, by pool of threads: their name without what numbers them. Records of tare 0.1 have none.
    #[serde(default)]
    pub by_pool: BTreeMap<String, BTreeMap<String, u64>>,
    /// Nanoseconds that threads were runnable and waited for a CPU, by kind. Records before version 6 have none.
    #[serde(default)]
    pub waiting_by_kind: BTreeMap<String, u64>,
    /// Context switches (times that a thread was put on a CPU), by kind and pool. Records before version 6 have none.
    #[serde(default)]
    pub switches_by_pool: BTreeMap<String, BTreeMap<String, u64>>,
    /// CPU of tare itself for the probes, outside the server: reading them, and the meter on its cores.
    #[serde(default)]
    pub probing_ns: Option<u64>,
    /// Requests that were answered (rightly or not) between the readings.
    pub requests: u64,
}

impl ServerCpu {
    /// Context switches of all threads: how often one was put on a CPU. 0 where they were not recorded.
    pub fn context_switches(&self) -> u64 {
        self.switches_by_pool.values().flat_map(BTreeMap::values).sum()
    }

    /// CPU and waiting time of the JIT compiler threads, as a share of the wall time: 2.0 when two threads worked or waited
    /// for a core all the time. `None` where there are no such threads, or waiting was not recorded.
    pub fn compiler_share(&self) -> Option<f64> {
        let (cpu_ns, waiting_ns) = (self.by_kind.get("jit")?, self.waiting_by_kind.get("jit")?);
        (self.wall_ns > 0).then(|| (cpu_ns + waiting_ns) as f64 / self.wall_ns as f64)
    }
}

/// What a JVM did between the beginning of a slice and the end of its drain.
///
/// What came in later versions of the record is absent in older ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JvmUse {
    /// Stop-the-world collections.
    pub collections: u64,
    /// Time in these.
    pub collecting_ns: u64,
    /// The same by collector, under the name that the JVM gives it; those that did nothing are left out.
    #[serde(default)]
    pub collectors: BTreeMap<String, CollectorUse>,
    /// Time in safepoints of any kind, collections included.
    pub safepoint_ns: u64,
    /// How often it stopped its threads for any reason.
    #[serde(default)]
    pub safepoints: Option<u64>,
    /// Bytes allocated; absent where they cannot be told.
    pub allocated_bytes: Option<u64>,
    /// Heap in use at the end, garbage included.
    pub heap_used_bytes: u64,
    /// Heap committed at the end.
    pub heap_committed_bytes: u64,
    /// Heap that the last collection left in use; absent where there was none yet, or the collector does not tell.
    #[serde(default)]
    pub heap_after_gc_bytes: Option<u64>,
    /// Classes and what belongs to them, as the last collection counted it.
    #[serde(default)]
    pub metaspace_bytes: Option<u64>,
    /// Resident memory that is not the heap's, at the end of the first slice of each load: code, classes, stacks, direct buffers, the JVM itself.
    #[serde(default)]
    pub off_heap_bytes: Option<u64>,
    /// Methods that its compilers compiled, at any tier. 0 in records before version 6.
    #[serde(default)]
    pub compiles: u64,
    /// Compiled methods that were discarded because an assumption no longer held. 0 in records before version 6.
    #[serde(default)]
    pub compiles_invalidated: u64,
    /// Size of its compiled code at the end. 0 in records before version 6.
    #[serde(default)]
    pub code_bytes: u64,
    /// Right answers that it went on, drained ones included.
    pub requests: u64,
}

/// What one collector of a JVM did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectorUse {
    /// Its stop-the-world pauses.
    pub pauses: u64,
    /// Time in these.
    pub pause_ns: u64,
}

/// Wake-up delays of threads that want to run once in every interval, whatever the server does meanwhile.
///
/// `H` is as in [`crate::sample::SliceRecord`]. Serialised, it has no histograms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = "H: Default"))]
pub struct Hiccups<H = LatencyHistogram> {
    /// A thread of tare's on the server's cores: delays by the machine and its kernel.
    #[serde(skip)]
    pub machine: H,
    /// A thread inside the server's JVM: delays by the machine and the JVM; absent without a JVM, or a meter in it.
    #[serde(skip)]
    pub jvm: Option<H>,
    /// The longest of both, in the order of time, each with what it is blamed on.
    pub pauses: Vec<Pause>,
}

impl Hiccups {
    /// The same with its histograms packed.
    pub fn pack(self) -> Hiccups<PackedHistogram> {
        let pack = |histogram: LatencyHistogram| PackedHistogram::from(&histogram);
        Hiccups { machine: pack(self.machine), jvm: self.jvm.map(pack), pauses: self.pauses }
    }
}

/// A time in which a meter was not woken although it should have been.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When it began, since the run began.
    pub at_ns: u64,
    /// How long it lasted.
    pub length_ns: u64,
    /// What did it.
    pub cause: PauseCause,
}

/// What a pause is blamed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseCause {
    /// The meter outside the server paused too: the machine had no time for these cores.
    Machine,
    /// The JVM collected garbage.
    Collection,
    /// The JVM stopped its threads for another reason.
    Safepoint,
    /// Neither: the process was stopped, or not given the processor.
    Process,
}

impl PauseCause {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Collection => "collection",
            Self::Safepoint => "safepoint",
            Self::Process => "process",
        }
    }
}
