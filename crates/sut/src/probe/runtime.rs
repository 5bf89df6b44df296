//! The counters of a runtime (a JVM, Node, Go, .NET) at one moment, and what it did between two of them.

use std::collections::{BTreeMap, BTreeSet};

use tare_record::{CollectorUse, IdleSpan, RuntimeUse};

/// Counters of the runtime of a server's processes so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeSample {
    pub processes: BTreeSet<u32>,
    /// Totals since the processes began, and sizes at the counters' last update. Of a heap in use with G1: filled regions.
    pub so_far: RuntimeUse,
    /// Basis of the allocation count of a JVM; `None` for collectors other than G1.
    pub(super) eden: Option<Eden>,
    /// Its stops since the sample before, in order, on `CLOCK_MONOTONIC`; `None` for a runtime that does not tell them here.
    pub stops: Option<Vec<IdleSpan>>,
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
    /// The use since `earlier`, without requests and memory outside the heap; `None` if a process came or ended
    /// meanwhile. A JVM's allocation is counted in eden, in regions (1 MiB with 1 GiB of heap); objects of half a
    /// region and more are not. It is unknown for collectors other than G1, and after several young collections.
    pub fn since(&self, earlier: &Self) -> Option<RuntimeUse> {
        let (now, then) = (&self.so_far, &earlier.so_far);
        (self.processes == earlier.processes).then(|| RuntimeUse {
            collections: growth(now.collections, then.collections),
            collecting_ns: growth(now.collecting_ns, then.collecting_ns),
            collectors: collectors_since(&now.collectors, &then.collectors),
            safepoint_ns: growth(now.safepoint_ns, then.safepoint_ns),
            safepoints: growth(now.safepoints, then.safepoints),
            allocated_bytes: match (self.eden, earlier.eden) {
                (Some(now), Some(then)) => now.allocated_since(&then),
                _ => growth(now.allocated_bytes, then.allocated_bytes),
            },
            heap_after_gc_bytes: self.heap_after_gc_bytes(),
            compiles: growth(now.compiles, then.compiles),
            compiles_invalidated: growth(now.compiles_invalidated, then.compiles_invalidated),
            ..now.clone()
        })
    }

    /// G1 updates the size outside eden at the end of a collection, and the size of eden as it fills.
    fn heap_after_gc_bytes(&self) -> Option<u64> {
        let has_collected = self.so_far.collections.is_some_and(|collections| collections > 0);
        let eden = self.eden.filter(|_| has_collected)?;
        self.so_far.heap_used_bytes?.checked_sub(eden.used_bytes)
    }
}

type Collectors = BTreeMap<String, CollectorUse>;

fn collectors_since(now: &Collectors, then: &Collectors) -> Collectors {
    let since = |(name, now): (&String, &CollectorUse)| {
        let before = then.get(name).copied().unwrap_or_default();
        let pauses = now.pauses.saturating_sub(before.pauses);
        let pause_ns = now.pause_ns.saturating_sub(before.pause_ns);
        (pauses > 0).then(|| (name.clone(), CollectorUse { pauses, pause_ns }))
    };
    now.iter().filter_map(since).collect()
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
