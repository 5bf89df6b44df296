//! The counters of a runtime (a JVM, Node, Go, .NET) at one moment, and what it did between two of them.

use std::collections::{BTreeMap, BTreeSet};

use tare_record::{CollectorUse, RuntimeUse};

/// Counters of the runtime of a server's processes so far. Totals only grow. A counter that the runtime does not report is
/// `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeSample {
    /// The processes of these counters.
    pub processes: BTreeSet<u32>,
    /// Stop-the-world collections of any kind.
    pub collections: Option<u64>,
    /// Time in them.
    pub collecting_ns: Option<u64>,
    /// Collections and their time, by the runtime's name of each collector.
    pub collectors: BTreeMap<String, CollectorUse>,
    /// Time in safepoints, including collections.
    pub safepoint_ns: Option<u64>,
    pub safepoints: Option<u64>,
    /// Heap with objects, including dead ones, at the counter's last update. For G1: filled regions.
    pub heap_used_bytes: Option<u64>,
    /// Heap reserved from the system.
    pub heap_committed_bytes: Option<u64>,
    /// Size of a JVM's metaspace: classes and their data.
    pub metaspace_bytes: Option<u64>,
    /// Methods that the JIT compilers compiled, at any tier, including recompilations.
    pub compiles: Option<u64>,
    /// Compiled methods that were discarded because an assumption became wrong.
    pub compiles_invalidated: Option<u64>,
    /// Size of the compiled code, in bytes.
    pub code_bytes: Option<u64>,
    /// Bytes allocated so far, where the runtime counts them.
    pub allocated_bytes: Option<u64>,
    /// Basis of the allocation count of a JVM; `None` for collectors other than G1.
    pub(super) eden: Option<Eden>,
}

/// Counters of G1 at and between young collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Eden {
    pub young_collections: u64,
    /// Filled since the last collection, in whole regions.
    pub used_bytes: u64,
    /// Allocated between the last two collections.
    pub last_cycle_bytes: u64,
}

impl RuntimeSample {
    /// The use since `earlier`, without the requests and the memory outside the heap; `None` if a process came or ended
    /// meanwhile: its part is not known.
    ///
    /// A JVM's allocation is counted in eden, in steps of a region (1 MiB with 1 GiB of heap). Objects of half a region or more
    /// are allocated elsewhere and not counted. It is unknown for collectors other than G1, and after several young
    /// collections.
    pub fn since(&self, earlier: &Self) -> Option<RuntimeUse> {
        (self.processes == earlier.processes).then(|| RuntimeUse {
            collections: growth(self.collections, earlier.collections),
            collecting_ns: growth(self.collecting_ns, earlier.collecting_ns),
            collectors: self.collectors_since(earlier),
            safepoint_ns: growth(self.safepoint_ns, earlier.safepoint_ns),
            safepoints: growth(self.safepoints, earlier.safepoints),
            allocated_bytes: match (self.eden, earlier.eden) {
                (Some(now), Some(then)) => now.allocated_since(&then),
                _ => growth(self.allocated_bytes, earlier.allocated_bytes),
            },
            heap_used_bytes: self.heap_used_bytes,
            heap_committed_bytes: self.heap_committed_bytes,
            heap_after_gc_bytes: self.heap_after_gc_bytes(),
            metaspace_bytes: self.metaspace_bytes,
            compiles: growth(self.compiles, earlier.compiles),
            compiles_invalidated: growth(self.compiles_invalidated, earlier.compiles_invalidated),
            code_bytes: self.code_bytes,
            ..RuntimeUse::default()
        })
    }

    fn collectors_since(&self, earlier: &Self) -> BTreeMap<String, CollectorUse> {
        let since = |(name, now): (&String, &CollectorUse)| {
            let before = earlier.collectors.get(name).copied().unwrap_or_default();
            let pauses = now.pauses.saturating_sub(before.pauses);
            let pause_ns = now.pause_ns.saturating_sub(before.pause_ns);
            (pauses > 0).then(|| (name.clone(), CollectorUse { pauses, pause_ns }))
        };
        self.collectors.iter().filter_map(since).collect()
    }

    /// G1 updates the size outside eden at the end of a collection, and the size of eden as it fills.
    fn heap_after_gc_bytes(&self) -> Option<u64> {
        let eden = self.eden.filter(|_| self.collections.is_some_and(|collections| collections > 0))?;
        self.heap_used_bytes?.checked_sub(eden.used_bytes)
    }
}

/// What a total grew by; `None` if either is unknown, or it fell.
fn growth(now: Option<u64>, earlier: Option<u64>) -> Option<u64> {
    now?.checked_sub(earlier?)
}

impl Eden {
    fn allocated_since(&self, earlier: &Self) -> Option<u64> {
        match self.young_collections.checked_sub(earlier.young_collections)? {
            0 => self.used_bytes.checked_sub(earlier.used_bytes),
            1 => (self.last_cycle_bytes + self.used_bytes).checked_sub(earlier.used_bytes),
            _ => None,
        }
    }
}
