//! The kind of a thread, by its name. All JVMs since release 11 name their own threads in the same way.

pub const APPLICATION: &str = "application";
/// Garbage collection.
pub const GC: &str = "gc";
pub const JIT: &str = "jit";
/// All other work of the JVM itself.
pub const VM: &str = "vm";
/// Our agent in a JVM.
pub const PROBE: &str = "probe";
/// Threads and processes that started and ended between two samples, so their names are unknown.
pub const EXITED: &str = "exited threads";

/// Prefixes of names, as the kernel keeps them (15 bytes). The first match decides.
const JVM_THREADS: &[(&str, &str)] = &[
    ("C1 CompilerThre", JIT),
    ("C2 CompilerThre", JIT),
    ("JVMCI", JIT),
    ("Sweeper thread", JIT),
    ("GC Thread", GC),
    ("G1 ", GC),
    ("Shenandoah", GC),
    ("ZDirector", GC),
    ("ZDriver", GC),
    ("ZWorker", GC),
    ("ZStat", GC),
    ("ZUncommitter", GC),
    ("ZUnmapper", GC),
    ("XWorker", GC),
    ("RuntimeWorker", GC),
    ("VM Thread", VM),
    ("VM Periodic Tas", VM),
    ("Reference Handl", VM),
    ("Finalizer", VM),
    ("Signal Dispatch", VM),
    ("Service Thread", VM),
    ("Monitor Deflati", VM),
    ("Notification Th", VM),
    ("Common-Cleaner", VM),
    ("Attach Listener", VM),
    ("StringDedup", VM),
    ("JFR ", VM),
    ("tare-hiccups", PROBE),
];

/// The kind of a thread. In a program other than a JVM, all threads are the application's.
pub fn thread_kind(thread_name: &str, is_jvm: bool) -> &'static str {
    let of_jvm = JVM_THREADS.iter().find(|(start, _)| is_jvm && thread_name.starts_with(start));
    of_jvm.map_or(APPLICATION, |(_, kind)| kind)
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
            ("io-compute-1", APPLICATION),
            ("java", APPLICATION),
        ] {
            assert_eq!(thread_kind(name, true), kind, "{name}");
        }
        assert_eq!(thread_kind("GC Thread#3", false), APPLICATION);
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
