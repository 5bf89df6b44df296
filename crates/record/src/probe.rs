//! What the probes saw of a server during a slice: CPU by kind of thread, the JVM's own account, and hiccups.
//! How it was found is `tare-sut`'s business.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tare_stats::histogram::LatencyHistogram;

use crate::packed::PackedHistogram;

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
    /// CPU of tare itself for the probes, outside the server: reading them, and the meter on its cores.
    #[serde(default)]
    pub probing_ns: Option<u64>,
    /// Requests that were answered (rightly or not) between the readings.
    pub requests: u64,
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

/// How late a thread was woken that wanted to run once in every interval, whatever the server did meanwhile.
///
/// `H` is as in [`crate::sample::SliceRecord`].
#[derive(Debug, Clone, PartialEq)]
pub struct Hiccups<H = LatencyHistogram> {
    /// A thread of tare's on the server's cores: what machine and kernel did.
    pub machine: H,
    /// A thread inside the server's JVM: what machine and JVM did; absent where there is no JVM, or no meter in it.
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
