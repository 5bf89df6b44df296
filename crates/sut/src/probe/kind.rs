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

/// Beginnings of names, as the kernel keeps them (15 bytes), by kind. No name begins with those of two kinds.
const JVM_THREADS: &[(&str, &[&str])] = &[
    (JIT, &["C1 CompilerThre", "C2 CompilerThre", "JVMCI", "Sweeper thread"]),
    (GC, &["GC Thread", "G1 ", "Shenandoah", "XWorker", "RuntimeWorker"]),
    (GC, &["ZDirector", "ZDriver", "ZWorker", "ZStat", "ZUncommitter", "ZUnmapper"]),
    (VM, &["VM Thread", "VM Periodic Tas", "Reference Handl", "Finalizer", "Signal Dispatch", "Service Thread"]),
    (VM, &["Monitor Deflati", "Notification Th", "Common-Cleaner", "Attach Listener", "StringDedup", "JFR "]),
    (PROBE, &["tare-hiccups"]),
];

/// The kind of a thread. In a program other than a JVM, all threads are the application's.
pub fn thread_kind(thread_name: &str, is_jvm: bool) -> &'static str {
    let is_of = |starts: &[&str]| starts.iter().any(|start| thread_name.starts_with(start));
    let of_jvm = JVM_THREADS.iter().find(|(_, starts)| is_jvm && is_of(starts));
    of_jvm.map_or(APPLICATION, |(kind, _)| kind)
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
