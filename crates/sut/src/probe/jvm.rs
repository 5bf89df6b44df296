//! Allocation, heap and garbage collection of a JVM, read from counters that it keeps anyway: no agent, no attach.

pub mod hsperf;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hsperf::Counters;
use tare_record::{CollectorUse, JvmUse};

/// The file with the counters of a process.
#[derive(Debug, Clone)]
pub struct JvmProbe {
    pid: u32,
    file: PathBuf,
}

/// Counters of a JVM, or of another runtime that tells its own ([`super::told`]), so far. Totals only grow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JvmSample {
    /// Those whose counters these are.
    pub processes: BTreeSet<u32>,
    /// Stop-the-world collections of any kind.
    pub collections: u64,
    /// Time in them.
    pub collecting_ns: u64,
    /// Collections and their time, by the JVM's name of each collector.
    pub collectors: BTreeMap<String, CollectorUse>,
    /// Time in safepoints, including collections.
    pub safepoint_ns: u64,
    /// Number of safepoints; `None` where the runtime does not count them.
    pub safepoints: Option<u64>,
    /// Heap with objects, including dead ones, at the counter's last update. For G1: filled regions.
    pub heap_used_bytes: u64,
    /// Heap reserved from the system.
    pub heap_committed_bytes: u64,
    /// Size of the metaspace: classes and their data.
    pub metaspace_bytes: Option<u64>,
    /// Methods that the JIT compilers compiled, at any tier, including recompilations.
    pub compiles: u64,
    /// Compiled methods that were discarded because an assumption became wrong.
    pub compiles_invalidated: u64,
    /// Size of the compiled code, in bytes.
    pub code_bytes: u64,
    /// Bytes allocated so far, where the runtime counts them.
    pub allocated_bytes: Option<u64>,
    /// Basis of the allocation count of a JVM; `None` for collectors other than G1.
    pub(super) eden: Option<Eden>,
}

/// Counters of G1 at and between young collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Eden {
    young_collections: u64,
    /// Filled since the last collection, in whole regions.
    used_bytes: u64,
    /// Allocated between the last two collections.
    last_cycle_bytes: u64,
}

impl JvmProbe {
    /// Opens the counters of process `pid`; `None` if it is not a JVM, or keeps no counters (`-XX:-UsePerfData`).
    pub fn find_counters(pid: u32) -> Option<Self> {
        Self::find_in(&std::env::temp_dir(), pid).or_else(|| Self::find_in(Path::new("/tmp"), pid))
    }

    /// JVMs keep them in `hsperfdata_USER/PID` of the folder for temporary files.
    fn find_in(folder: &Path, pid: u32) -> Option<Self> {
        let of_user = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("hsperfdata_");
        let mut users = std::fs::read_dir(folder).ok()?.flatten().filter(of_user);
        users.find_map(|user| {
            let file = user.path().join(pid.to_string());
            Self { pid, file }.keeps_counters()
        })
    }

    fn keeps_counters(self) -> Option<Self> {
        self.take_sample().map(|_| self)
    }

    /// The process.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// The counters so far; `None` after the JVM has ended.
    pub fn take_sample(&self) -> Option<JvmSample> {
        let file = std::fs::read(&self.file).ok()?;
        let counters = hsperf::parse_counters(&file)?;
        Some(JvmSample { processes: BTreeSet::from([self.pid]), ..JvmSample::of(&counters) })
    }
}

impl JvmSample {
    fn of(counters: &Counters<'_>) -> Self {
        let numbers = &counters.numbers;
        let of = |name: &str| numbers.get(name).map_or(0, |value| value.unsigned_abs());
        let sum = |start: &str, end: &str| {
            let named = numbers.iter().filter(|(name, _)| name.starts_with(start) && name.ends_with(end));
            named.fold(0_u64, |sum, (_, value)| sum.saturating_add(value.unsigned_abs()))
        };
        // The unit is a tick of the JVM's clock: a nanosecond on Linux, as its frequency states.
        let ns = |ticks: u64| {
            let per_s = of("sun.os.hrt.frequency").max(1);
            (u128::from(ticks) * 1_000_000_000 / u128::from(per_s)) as u64
        };
        let is_g1 = ["sun.gc.collector.2.invocations", "sun.gc.tlab.alloc", "sun.gc.generation.0.space.2.used"]
            .iter()
            .all(|name| numbers.contains_key(name));
        let collector = |(key, name): (&&str, &&str)| {
            let number = key.strip_prefix("sun.gc.collector.")?.strip_suffix(".name")?;
            let figure = |what: &str| of(&format!("sun.gc.collector.{number}.{what}"));
            Some(((*name).to_owned(), CollectorUse { pauses: figure("invocations"), pause_ns: ns(figure("time")) }))
        };
        Self {
            processes: BTreeSet::new(),
            collections: sum("sun.gc.collector.", ".invocations"),
            collecting_ns: ns(sum("sun.gc.collector.", ".time")),
            collectors: counters.texts.iter().filter_map(collector).collect(),
            safepoint_ns: ns(of("sun.rt.safepointTime")),
            safepoints: Some(of("sun.rt.safepoints")),
            allocated_bytes: None,
            heap_used_bytes: sum("sun.gc.generation.", ".used"),
            heap_committed_bytes: of("sun.gc.generation.0.capacity").saturating_add(of("sun.gc.generation.1.capacity")),
            // Zero until the first collection updates it.
            metaspace_bytes: Some(of("sun.gc.metaspace.used")).filter(|bytes| *bytes > 0),
            compiles: of("sun.ci.totalCompiles"),
            compiles_invalidated: of("sun.ci.totalInvalidates"),
            code_bytes: of("sun.ci.nmethodCodeSize"),
            eden: is_g1.then(|| Eden {
                young_collections: of("sun.gc.collector.0.invocations")
                    .saturating_add(of("sun.gc.collector.1.invocations")),
                used_bytes: of("sun.gc.generation.0.space.0.used"),
                // The unit is a word of the heap.
                last_cycle_bytes: of("sun.gc.tlab.alloc").saturating_mul(8),
            }),
        }
    }

    /// The use since `earlier`, without the requests and the memory outside the heap; `None` if a process came or ended
    /// meanwhile: its part is not known.
    ///
    /// Allocation is counted in eden, in steps of a region (1 MiB with 1 GiB of heap). Objects of half a region or more
    /// are allocated elsewhere and not counted. It is unknown for collectors other than G1, and after several young
    /// collections.
    pub fn since(&self, earlier: &Self) -> Option<JvmUse> {
        (self.processes == earlier.processes).then(|| JvmUse {
            collections: self.collections.saturating_sub(earlier.collections),
            collecting_ns: self.collecting_ns.saturating_sub(earlier.collecting_ns),
            collectors: self.collectors_since(earlier),
            safepoint_ns: self.safepoint_ns.saturating_sub(earlier.safepoint_ns),
            safepoints: difference(self.safepoints, earlier.safepoints),
            allocated_bytes: match (self.eden, earlier.eden) {
                (Some(now), Some(then)) => now.allocated_since(&then),
                _ => difference(self.allocated_bytes, earlier.allocated_bytes),
            },
            heap_used_bytes: self.heap_used_bytes,
            heap_committed_bytes: self.heap_committed_bytes,
            heap_after_gc_bytes: self.heap_after_gc_bytes(),
            metaspace_bytes: self.metaspace_bytes,
            compiles: self.compiles.saturating_sub(earlier.compiles),
            compiles_invalidated: self.compiles_invalidated.saturating_sub(earlier.compiles_invalidated),
            code_bytes: self.code_bytes,
            ..JvmUse::default()
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
        let eden = self.eden.filter(|_| self.collections > 0)?;
        self.heap_used_bytes.checked_sub(eden.used_bytes)
    }
}

/// What a total grew by; `None` if either is unknown, or it fell.
fn difference(now: Option<u64>, earlier: Option<u64>) -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: i64 = 1 << 20;

    fn sample(young: i64, eden: i64, last_cycle: i64) -> JvmSample {
        let numbers = [
            ("sun.gc.collector.0.invocations", young),
            ("sun.gc.collector.0.time", young * 2_000_000),
            ("sun.gc.collector.1.invocations", 0),
            ("sun.gc.collector.2.invocations", 3),
            ("sun.gc.generation.0.capacity", 600 * MIB),
            ("sun.gc.generation.0.space.0.used", eden),
            ("sun.gc.generation.0.space.2.used", 0),
            ("sun.gc.generation.1.capacity", 424 * MIB),
            ("sun.gc.generation.1.space.0.used", 50 * MIB),
            ("sun.gc.tlab.alloc", last_cycle / 8),
            ("sun.os.hrt.frequency", 1_000_000_000),
            ("sun.rt.safepointTime", young * 3_000_000),
            ("sun.rt.safepoints", young * 2),
            ("sun.gc.metaspace.used", 9 * MIB),
            ("sun.ci.totalCompiles", 100 * young),
            ("sun.ci.totalInvalidates", young),
            ("sun.ci.nmethodCodeSize", young * MIB),
        ];
        let names = [("sun.gc.collector.0.name", "G1 young"), ("sun.gc.collector.1.name", "G1 full")];
        let file = hsperf::tests::file_with(&numbers, &names);
        JvmSample::of(&hsperf::parse_counters(&file).unwrap())
    }

    #[test]
    fn allocation_is_followed_over_a_collection_but_not_over_two() {
        let before = sample(4, 100 * MIB, 600 * MIB);
        for (after, allocated) in [
            (sample(4, 130 * MIB, 600 * MIB), Some(30 * MIB)),
            (sample(5, 20 * MIB, 590 * MIB), Some(510 * MIB)),
            (sample(6, 20 * MIB, 590 * MIB), None),
        ] {
            assert_eq!(after.since(&before).unwrap().allocated_bytes, allocated.map(i64::unsigned_abs), "{after:?}");
        }
    }

    #[test]
    fn collections_and_heap_are_totals_of_all_kinds() {
        let used = sample(5, 20 * MIB, 590 * MIB).since(&sample(4, 100 * MIB, 600 * MIB)).unwrap();
        assert_eq!((used.collections, used.collecting_ns, used.safepoint_ns), (1, 2_000_000, 3_000_000));
        assert_eq!((used.heap_used_bytes, used.heap_committed_bytes), (70 << 20, 1 << 30));
        assert_eq!((used.heap_after_gc_bytes, used.metaspace_bytes), (Some(50 << 20), Some(9 << 20)));
        let young = CollectorUse { pauses: 1, pause_ns: 2_000_000 };
        assert_eq!((used.collectors, used.safepoints), (BTreeMap::from([("G1 young".to_owned(), young)]), Some(2)));
    }

    #[test]
    fn looks_in_between_follow_allocation_over_two_collections() {
        let looks = [sample(4, 100 * MIB, 600 * MIB), sample(5, 20 * MIB, 590 * MIB), sample(6, 30 * MIB, 600 * MIB)];
        let mut used = looks[1].since(&looks[0]).unwrap();
        used.append(looks[2].since(&looks[1]).unwrap());
        assert_eq!(used.allocated_bytes, Some(510 << 20).map(|first: u64| first + (610 << 20)));
        assert_eq!((used.collections, used.safepoints, used.compiles), (2, Some(4), 200));
        assert_eq!(used.collectors["G1 young"].pauses, 2);
        assert_eq!(looks[2].since(&looks[0]).unwrap().allocated_bytes, None, "one look is not enough");
    }

    #[test]
    fn what_the_compilers_did_is_counted() {
        let used = sample(5, 20 * MIB, 590 * MIB).since(&sample(4, 100 * MIB, 600 * MIB)).unwrap();
        assert_eq!((used.compiles, used.compiles_invalidated, used.code_bytes), (100, 1, 5 << 20));
    }

    #[test]
    fn another_collector_has_no_allocation() {
        let file = hsperf::tests::file(&[("sun.gc.collector.0.invocations", 4), ("sun.gc.tlab.alloc", 8)]);
        let sample = JvmSample::of(&hsperf::parse_counters(&file).unwrap());
        assert_eq!(sample.since(&sample).unwrap().allocated_bytes, None);
    }

    #[test]
    fn a_process_without_counters_has_no_probe() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("hsperfdata_me")).unwrap();
        assert!(JvmProbe::find_in(folder.path(), 7).is_none());
        std::fs::write(folder.path().join("hsperfdata_me/7"), "not counters").unwrap();
        assert!(JvmProbe::find_in(folder.path(), 7).is_none());
        std::fs::write(folder.path().join("hsperfdata_me/7"), hsperf::tests::file(&[("sun.gc.a", 1)])).unwrap();
        assert!(JvmProbe::find_in(folder.path(), 7).is_some());
    }
}
