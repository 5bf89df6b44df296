//! A server's use during a slice: CPU by kind of thread, memory, its runtime's own counters, and hiccups. `tare-sut` has
//! the probes that measure it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tare_sample::{IdleSpan, LatencyParts, PackedHistogram};
use tare_units::named_values;

/// A server is not at rest if it uses more than this share of a core without requests. The timers of actor systems (pekko,
/// Akka) take 1.0 to 1.6 %. The server measured at the same time lacks that much CPU: at most the smallest default region.
pub const RESTLESS_SHARE: f64 = 0.02;

/// A server's use during one slice of load: window and drain, unless a field says otherwise. Serialised, it has no
/// parts and no stops. A counter is a field here or in one of the types below.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerUse {
    /// CPU of the server, and the requests that it answered meanwhile; absent without process metrics.
    pub cpu: Option<ServerCpu>,
    /// Resident memory at the end of the slice.
    pub rss_bytes: Option<u64>,
    /// Peak resident memory of the server's processes since their start.
    pub rss_peak_bytes: Option<u64>,
    /// Counters of its runtime; absent where no runtime reports them. Records call every runtime `jvm`.
    #[serde(rename = "jvm")]
    pub runtime: Option<RuntimeUse>,
    /// Hiccups; absent if the plan does not ask for meters.
    pub hiccups: Option<Hiccups>,
    /// Share, 0 to 1, of the cores of servers and generator that other programs and a hypervisor used, from the start
    /// of the slice (its head included) to the end of its drain. Absent if it cannot be measured.
    pub others_share: Option<f64>,
    /// How the answered requests of a window of latency divide; absent in other slices, and where stops are not known.
    #[serde(skip)]
    pub parts: Option<LatencyParts>,
    /// Whether no runtime told the stops of these parts: they are times in which nothing was answered while requests waited.
    #[serde(default)]
    pub stops_are_seen: bool,
    /// The stops from which the parts are made. A record does not keep them, and agents, whose clock is another, do not send
    /// them.
    #[serde(skip)]
    pub stops: KnownStops,
}

/// What is known of the times in which a server stood still during a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KnownStops {
    /// Its runtime tells none.
    #[default]
    Untold,
    /// Its runtime's log cannot be understood.
    Unreadable,
    Spans(Vec<IdleSpan>),
}

/// CPU that a server used while it answered a known number of requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerCpu {
    /// Wall time between the two readings.
    pub wall_ns: u64,
    pub total_ns: u64,
    /// By kind of thread: `application`, `gc`, `jit`, `vm`, …; adds up to the total.
    pub by_kind: BTreeMap<String, u64>,
    /// Within each kind by pool: the threads' name without its number.
    pub by_pool: BTreeMap<String, BTreeMap<String, u64>>,
    /// Of a proxy with what is behind it: what serving the requests took each of them, itself first. Empty of a single server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_server: Vec<(String, u64)>,
    /// Nanoseconds that threads were runnable and waited for a CPU, by kind.
    pub waiting_by_kind: BTreeMap<String, u64>,
    /// Context switches (a thread was scheduled on a CPU), by kind and pool.
    pub switches_by_pool: BTreeMap<String, BTreeMap<String, u64>>,
    /// CPU of tare itself for the probes, outside the server: readings, and the meter on the server's cores.
    pub probing_ns: Option<u64>,
    /// Requests that were answered (correctly or not) between the readings.
    pub requests: u64,
}

impl ServerCpu {
    /// CPU of all threads but the JIT compilers': what serving the requests took. A compilation is paid once, and it would
    /// count for the few requests beside which it ran.
    pub fn serving_ns(&self) -> u64 {
        self.total_ns.saturating_sub(self.by_kind.get("jit").copied().unwrap_or(0))
    }

    /// Context switches of all threads: how often one was scheduled on a CPU. `None` if they were not recorded.
    pub fn context_switches(&self) -> Option<u64> {
        let all = self.switches_by_pool.values().flat_map(BTreeMap::values);
        (!self.switches_by_pool.is_empty()).then(|| all.sum())
    }

    /// CPU time of the JIT compiler threads, as a share of the wall time: 2.0 if two threads worked all the time. `None`
    /// without such threads.
    pub fn compiler_cpu_share(&self) -> Option<f64> {
        let cpu_ns = self.by_kind.get("jit")?;
        (self.wall_ns > 0).then(|| *cpu_ns as f64 / self.wall_ns as f64)
    }

    /// CPU and waiting time of the JIT compiler threads, as a share of the wall time: 2.0 if two threads worked or
    /// waited for a core all the time. `None` without such threads, or if waiting was not recorded.
    pub fn compiler_share(&self) -> Option<f64> {
        let (cpu_ns, waiting_ns) = (self.by_kind.get("jit")?, self.waiting_by_kind.get("jit")?);
        (self.wall_ns > 0).then(|| (cpu_ns + waiting_ns) as f64 / self.wall_ns as f64)
    }
}

/// What a runtime (a JVM, Node, Go, .NET) did from the start of a slice to the end of its drain. What it does not report is
/// absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RuntimeUse {
    /// Stop-the-world collections.
    pub collections: Option<u64>,
    pub collecting_ns: Option<u64>,
    /// Collections and their time by collector, under the runtime's name for it, without those that did nothing.
    pub collectors: BTreeMap<String, CollectorUse>,
    /// Time in safepoints of any kind, including collections.
    pub safepoint_ns: Option<u64>,
    /// How often it stopped its threads, for any reason.
    pub safepoints: Option<u64>,
    pub allocated_bytes: Option<u64>,
    /// Heap in use at the end, including garbage.
    pub heap_used_bytes: Option<u64>,
    pub heap_committed_bytes: Option<u64>,
    /// Heap in use after the last collection; absent if there was none, or the collector does not report it.
    pub heap_after_gc_bytes: Option<u64>,
    /// Size of a JVM's metaspace at the last collection.
    pub metaspace_bytes: Option<u64>,
    /// Resident memory outside the heap, at the end of the first slice of each load: code, classes, stacks, direct
    /// buffers, the JVM itself.
    pub off_heap_bytes: Option<u64>,
    /// Methods compiled, at any tier.
    pub compiles: Option<u64>,
    /// Compiled methods that were discarded because an assumption became wrong.
    pub compiles_invalidated: Option<u64>,
    /// Size of its compiled code at the end.
    pub code_bytes: Option<u64>,
    /// Correct answers that it was used for, including those of the drain.
    pub requests: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectorUse {
    /// Its stop-the-world pauses.
    pub pauses: u64,
    pub pause_ns: u64,
}

/// Wake-up delays of threads that want to run in every interval, independent of the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hiccups {
    /// A thread of tare on the server's cores: delays by the machine and its kernel.
    #[serde(default, skip_serializing_if = "PackedHistogram::is_empty")]
    pub machine: PackedHistogram,
    /// A thread inside the server's JVM: delays by the machine and the JVM; absent without a JVM or without a meter in
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm: Option<PackedHistogram>,
    /// The longest pauses of both, in order of time, each with its cause.
    pub pauses: Vec<Pause>,
}

/// A time in which a meter should have been woken and was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Its begin, since the run began.
    pub at_ns: u64,
    pub length_ns: u64,
    pub cause: PauseCause,
}

named_values! {
    pub enum PauseCause: "the cause of a pause" {
        /// The machine: the meter outside the server paused too.
        Machine = "machine",
        /// The JVM collected garbage.
        Collection = "collection",
        /// The JVM stopped its threads for another reason.
        Safepoint = "safepoint",
        /// The process: it was stopped, or did not get a CPU.
        Process = "process",
    }
}
