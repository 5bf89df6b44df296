//! The kind of a thread, by its name. HotSpot since release 11 and OpenJ9 each name their own threads in the same way.

pub const APPLICATION: &str = "application";
pub const GC: &str = "gc";
pub const JIT: &str = "jit";
/// All other work of the JVM itself.
pub const VM: &str = "vm";
/// Our agent in a JVM.
pub const PROBE: &str = "probe";
/// Threads and processes that started and ended between two samples, so their names are unknown.
pub const EXITED: &str = "exited threads";

/// Names of threads, or how they begin, by kind. No name is that of two kinds.
const JVM_THREADS: &[(&str, &[&str])] = &[
    (JIT, &["C1 CompilerThread", "C2 CompilerThread", "JVMCI", "Sweeper thread"]),
    (JIT, &["JIT Compilation Thread", "JIT Diagnostic Compilation Thread", "IProfiler"]),
    (GC, &["GC Thread", "GC Worker", "GC Slave", "Concurrent Mark Helper", "G1 ", "RuntimeWorker"]),
    (GC, &["Shenandoah GC Threads", "Shenandoah Control Thread", "Shenandoah Regulator Thread"]),
    (GC, &["Shenandoah Uncommit Thread", "Shenandoah"]),
    (GC, &["ZDirector", "ZDriver", "ZWorker", "ZStat", "ZUncommitter", "ZUnmapper"]),
    (GC, &["XDirector", "XDriver", "XWorker", "XStat", "XUncommitter", "XUnmapper"]),
    (VM, &["VM Thread", "VM Periodic Task Thread", "Reference Handler", "Finalizer", "Signal Dispatcher"]),
    (VM, &["Service Thread", "Monitor Deflation Thread", "Notification Thread", "Common-Cleaner"]),
    (VM, &["Attach Listener", "StringDedupThread", "StringDedup", "JFR "]),
    (VM, &["Training replay thread", "JIT-SamplerThread"]),
    (PROBE, &["tare-hiccups"]),
];

/// As much of a thread's name as the kernel keeps.
const KEPT_BYTES: usize = 15;
/// The least that a JVM keeps before the dots of a name that it shortens itself.
const HEAD_BYTES: usize = 6;

/// The kind of a thread. In a program other than a JVM, all threads are the application's.
pub fn thread_kind(thread_name: &str, is_jvm: bool) -> &'static str {
    let is_of = |names: &[&str]| names.iter().any(|name| is_kept_of(thread_name, name));
    let of_jvm = JVM_THREADS.iter().find(|(_, names)| is_jvm && is_of(names));
    of_jvm.map_or(APPLICATION, |(kind, _)| kind)
}

/// Whether the kernel keeps this of a name that begins so: 15 bytes. JVMs since release 26 shorten longer names
/// themselves, to `C2 Comp..hread0` (JDK-8368124, github.com/openjdk/jdk/pull/27395).
fn is_kept_of(kept: &str, name: &str) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || c == '#';
    let is_shortened = |(head, tail): (&str, &str)| {
        head.len() >= HEAD_BYTES && name.starts_with(head) && name.ends_with(tail.trim_end_matches(is_number))
    };
    kept.starts_with(&name[..name.len().min(KEPT_BYTES)]) || kept.split_once("..").is_some_and(is_shortened)
}

/// The pool of a thread: its name without its number (`io-compute-12` → `io-compute`).
pub fn thread_pool(thread_name: &str) -> &str {
    let pool = thread_name.trim_end_matches(|c: char| c.is_ascii_digit() || "-#_ ".contains(c));
    if pool.is_empty() { thread_name } else { pool }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_told_apart_by_their_names() {
        for (name, kind) in [
            ("C2 CompilerThre", JIT),
            ("G1 Conc#0", GC),
            ("GC Thread#3", GC),
            ("VM Periodic Tas", VM),
            ("XDriver", GC),
            ("Training replay", VM),
            ("io-compute-1", APPLICATION),
            ("java", APPLICATION),
        ] {
            assert_eq!(thread_kind(name, true), kind, "{name}");
        }
        assert_eq!(thread_kind("GC Thread#3", false), APPLICATION);
    }

    #[test]
    fn the_compilers_are_known_by_a_name_that_the_jvm_has_shortened_and_by_those_of_openj9() {
        for (name, kind) in [
            ("C2 Comp..hread0", JIT),
            ("C1 Comp..read12", JIT),
            ("JVMCI-n..hread0", JIT),
            ("JIT Compilation", JIT),
            ("GC Worker", GC),
            ("Shenand..eads#7", GC),
            ("Runtime..ker#12", GC),
            ("VM Peri..Thread", VM),
            ("Referen..andler", VM),
            ("Sweeper..vice-1", APPLICATION),
            ("io-comp..cker-1", APPLICATION),
        ] {
            assert_eq!(thread_kind(name, true), kind, "{name}");
        }
    }

    #[test]
    fn pools_lose_their_numbers() {
        for (name, pool) in [
            ("io-compute-12", "io-compute"),
            ("vert.x-eventloo", "vert.x-eventloo"),
            ("worker#3", "worker"),
            ("7", "7"),
        ] {
            assert_eq!(thread_pool(name), pool);
        }
    }
}
