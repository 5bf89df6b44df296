//! Allocation, heap and garbage collection of a JVM, read from counters that it keeps anyway: no agent, no attach.

mod attach;
pub mod hsperf;
pub mod stops;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hsperf::Counters;
use tare_record::{CollectorUse, RuntimeUse};
use tare_sys::procfs::process;

use super::runtime::{Eden, RuntimeSample};

const LIBRARY: &str = "/libjvm.so";

/// A process is a JVM if it has mapped a JVM's library.
pub fn is_jvm(pid: u32) -> bool {
    process::mappings(pid).is_some_and(|mapped| mapped.contains(LIBRARY))
}

#[derive(Debug, Clone)]
pub struct JvmProbe {
    pub pid: u32,
    file: PathBuf,
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
            let probe = Self { pid, file };
            probe.take_sample().filter(|_| !probe.is_of_another()).map(|_| probe)
        })
    }

    /// Whether the process is known to have another file mapped, or none. A JVM that was killed leaves its file to whatever has
    /// its number next. Of containers that share the folder, the JVM of one may have the number of another's. It keeps no
    /// counters if that one came first.
    fn is_of_another(&self) -> bool {
        let folder = self.file.parent().and_then(Path::file_name).unwrap_or_default();
        let end = format!("/{}/{}", folder.to_string_lossy(), self.pid);
        let is_its = |mapped: &str| mapped.lines().any(|line| line.ends_with(&end));
        process::mappings(self.pid).is_some_and(|mapped| !is_its(&mapped))
    }

    /// Whether the JVM carries out diagnostic commands: the first of its capabilities.
    fn takes_commands(&self) -> bool {
        let file = std::fs::read(&self.file).unwrap_or_default();
        let texts = hsperf::parse_counters(&file).map(|counters| counters.texts).unwrap_or_default();
        texts.get("sun.rt.jvmCapabilities").is_some_and(|capabilities| capabilities.starts_with('1'))
    }

    /// The counters so far; `None` after the JVM has ended.
    pub fn take_sample(&self) -> Option<RuntimeSample> {
        let file = std::fs::read(&self.file).ok()?;
        let counters = hsperf::parse_counters(&file)?;
        Some(RuntimeSample { processes: BTreeSet::from([self.pid]), ..sample_of(&counters) })
    }
}

/// The sample from these counters. Figures of absent counters are `None`.
fn sample_of(counters: &Counters<'_>) -> RuntimeSample {
    let numbers = &counters.numbers;
    let of = |name: &str| numbers.get(name).map(|value| value.unsigned_abs());
    let sum = |start: &str, end: &str| {
        let named = numbers.iter().filter(|(name, _)| name.starts_with(start) && name.ends_with(end));
        named.map(|(_, value)| value.unsigned_abs()).reduce(u64::saturating_add)
    };
    // The unit is a tick of the JVM's clock: a nanosecond on Linux, as its frequency states.
    let per_s = of("sun.os.hrt.frequency").filter(|per_s| *per_s > 0);
    let ns = |ticks: u64| Some((u128::from(ticks) * 1_000_000_000 / u128::from(per_s?)) as u64);
    // Shenandoah counts its cycles in the place of their pauses, and its concurrent phases once more.
    let is_of_cycles =
        |(key, name): (&&str, &&str)| key.starts_with("sun.gc.collector.") && name.starts_with("Shenandoah");
    let counts_cycles = counters.texts.iter().any(is_of_cycles);
    let pauses = |figure: &str| if counts_cycles { None } else { sum("sun.gc.collector.", figure) };
    let collector = |(key, name): (&&str, &&str)| {
        let number = key.strip_prefix("sun.gc.collector.")?.strip_suffix(".name").filter(|_| !counts_cycles)?;
        let figure = |what: &str| of(&format!("sun.gc.collector.{number}.{what}"));
        Some(((*name).to_owned(), CollectorUse { pauses: figure("invocations")?, pause_ns: ns(figure("time")?)? }))
    };
    let generations = ["sun.gc.generation.0.capacity", "sun.gc.generation.1.capacity"];
    let so_far = RuntimeUse {
        collections: pauses(".invocations"),
        collecting_ns: pauses(".time").and_then(ns),
        collectors: counters.texts.iter().filter_map(collector).collect(),
        safepoint_ns: of("sun.rt.safepointTime").and_then(ns),
        safepoints: of("sun.rt.safepoints"),
        heap_used_bytes: sum("sun.gc.generation.", ".used"),
        heap_committed_bytes: generations.into_iter().filter_map(of).reduce(u64::saturating_add),
        // Zero until the first collection updates it.
        metaspace_bytes: of("sun.gc.metaspace.used").filter(|bytes| *bytes > 0),
        compiles: of("sun.ci.totalCompiles"),
        compiles_invalidated: of("sun.ci.totalInvalidates"),
        code_bytes: of("sun.ci.nmethodCodeSize"),
        ..RuntimeUse::default()
    };
    RuntimeSample { processes: BTreeSet::new(), so_far, eden: eden_of(of), stops: None }
}

/// The counters of eden; `None` unless they are all there, and the collector is G1.
fn eden_of(of: impl Fn(&str) -> Option<u64>) -> Option<Eden> {
    // G1 alone has a third collector and a third space of the young generation.
    of("sun.gc.collector.2.invocations")?;
    of("sun.gc.generation.0.space.2.used")?;
    Some(Eden {
        young_collections: of("sun.gc.collector.0.invocations")?.saturating_add(of("sun.gc.collector.1.invocations")?),
        used_bytes: of("sun.gc.generation.0.space.0.used")?,
        // The unit is a word of the heap.
        last_cycle_bytes: of("sun.gc.tlab.alloc")?.saturating_mul(8),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::BufRead;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    const MIB: i64 = 1 << 20;

    fn sample(young: i64, eden: i64, last_cycle: i64) -> RuntimeSample {
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
        sample_of(&hsperf::parse_counters(&file).unwrap())
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
        assert_eq!(
            (used.collections, used.collecting_ns, used.safepoint_ns),
            (Some(1), Some(2_000_000), Some(3_000_000))
        );
        assert_eq!((used.heap_used_bytes, used.heap_committed_bytes), (Some(70 << 20), Some(1 << 30)));
        assert_eq!((used.heap_after_gc_bytes, used.metaspace_bytes), (Some(50 << 20), Some(9 << 20)));
        let young = CollectorUse { pauses: 1, pause_ns: 2_000_000 };
        assert_eq!((used.collectors, used.safepoints), (BTreeMap::from([("G1 young".to_owned(), young)]), Some(2)));
    }

    #[test]
    fn looks_in_between_follow_allocation_over_two_collections() {
        let looks = [sample(4, 100 * MIB, 600 * MIB), sample(5, 20 * MIB, 590 * MIB), sample(6, 30 * MIB, 600 * MIB)];
        let of = |from: usize, to: usize| looks[to].since(&looks[from]).unwrap();
        let allocated = [of(0, 1), of(1, 2)].map(|used| used.allocated_bytes);
        assert_eq!(allocated, [Some(510 << 20), Some(610 << 20)]);
        let whole = of(0, 2);
        assert_eq!((whole.collections, whole.safepoints, whole.compiles), (Some(2), Some(4), Some(200)));
        assert_eq!(whole.collectors["G1 young"].pauses, 2);
        assert_eq!(whole.allocated_bytes, None, "one look is not enough");
    }

    #[test]
    fn what_the_compilers_did_is_counted() {
        let used = sample(5, 20 * MIB, 590 * MIB).since(&sample(4, 100 * MIB, 600 * MIB)).unwrap();
        assert_eq!((used.compiles, used.compiles_invalidated, used.code_bytes), (Some(100), Some(1), Some(5 << 20)));
    }

    #[test]
    fn another_collector_has_no_allocation_and_what_is_not_counted_is_unknown() {
        let file = hsperf::tests::file(&[("sun.gc.collector.0.invocations", 4), ("sun.gc.tlab.alloc", 8)]);
        let sample = sample_of(&hsperf::parse_counters(&file).unwrap());
        let used = sample.since(&sample).unwrap();
        assert_eq!(used, RuntimeUse { collections: Some(0), ..RuntimeUse::default() });
    }

    #[test]
    fn a_time_whose_unit_the_jvm_does_not_tell_is_unknown() {
        let numbers =
            |per_s| [("sun.gc.collector.0.time", 5), ("sun.rt.safepointTime", 7), ("sun.os.hrt.frequency", per_s)];
        for (per_s, ns) in [(1_000_000_000, Some(7)), (1_000, Some(7_000_000)), (0, None)] {
            let file = hsperf::tests::file(&numbers(per_s));
            let so_far = sample_of(&hsperf::parse_counters(&file).unwrap()).so_far;
            assert_eq!((so_far.safepoint_ns, so_far.collecting_ns), (ns, ns.map(|ns| ns / 7 * 5)));
        }
        let file = hsperf::tests::file(&numbers(0)[..2]);
        assert_eq!(sample_of(&hsperf::parse_counters(&file).unwrap()).so_far, RuntimeUse::default());
    }

    #[test]
    fn the_cycles_of_shenandoah_are_no_pauses() {
        let numbers = [
            ("sun.gc.collector.1.invocations", 9),
            ("sun.gc.collector.1.time", 4_000_000_000),
            ("sun.os.hrt.frequency", 1_000_000_000),
            ("sun.rt.safepointTime", 2_000_000),
        ];
        let names = [("sun.gc.collector.0.name", "Shenandoah partial"), ("sun.gc.collector.1.name", "Shenandoah full")];
        let file = hsperf::tests::file_with(&numbers, &names);
        let so_far = sample_of(&hsperf::parse_counters(&file).unwrap()).so_far;
        assert_eq!(so_far, RuntimeUse { safepoint_ns: Some(2_000_000), ..RuntimeUse::default() });
    }

    #[test]
    fn a_jvm_is_known_by_its_library_and_another_ones_counters_are_not_its_own() {
        let folder = tempfile::tempdir().unwrap();
        // What it executes is mapped as a library is.
        let program = folder.path().join("libjvm.so");
        // What this process writes may be open in the child of another test, and then the kernel does not execute it.
        assert!(Command::new("cp").arg("/bin/sh").arg(&program).status().unwrap().success());
        let mut command = Command::new(&program);
        command.arg0("sh").args(["-c", "echo runs; read x"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut jvm = command.spawn().unwrap();
        // `spawn` returns before the kernel has mapped the program.
        std::io::BufReader::new(jvm.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        let file = folder.path().join("hsperfdata_me").join(jvm.id().to_string());
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(file, hsperf::tests::file(&[("sun.gc.a", 1)])).unwrap();
        assert!(is_jvm(jvm.id()) && !is_jvm(std::process::id()));
        assert!(JvmProbe::find_in(folder.path(), jvm.id()).is_none(), "it has not mapped that file");
        drop(jvm.stdin.take());
        jvm.wait().unwrap();
    }

    #[test]
    fn a_process_without_counters_has_no_probe() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("hsperfdata_me")).unwrap();
        // What no process of this number has mapped cannot be seen.
        let (unseen, own) = ((1 << 22) + 7, std::process::id());
        let counters = hsperf::tests::file(&[("sun.gc.a", 1)]);
        let found_with = |pid: u32, text: &[u8]| {
            std::fs::write(folder.path().join("hsperfdata_me").join(pid.to_string()), text).unwrap();
            JvmProbe::find_in(folder.path(), pid).is_some()
        };
        assert!(JvmProbe::find_in(folder.path(), unseen).is_none() && !found_with(unseen, b"not counters"));
        assert!(found_with(unseen, &counters));
        assert!(!found_with(own, &counters), "a JVM has left it that had this number");
    }
}
