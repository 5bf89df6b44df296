//! What a thread is for, by its name. The JVM names its own threads the same way in every release since 11.

/// Work of the application itself.
pub const APPLICATION: &str = "application";
/// Collecting garbage.
pub const GC: &str = "gc";
/// Compiling.
pub const JIT: &str = "jit";
/// Everything else that the JVM does for itself.
pub const VM: &str = "vm";
/// The agent of ours in a JVM, where there is one.
pub const PROBE: &str = "probe";
/// Threads that lived and died between two samples, so that nobody saw their names.
pub const EXITED: &str = "exited threads";

/// The beginnings of names, as the kernel keeps them: 15 bytes. The first that fits decides.
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

/// The kind of a thread of a JVM, or of any other program, all of whose threads are the application's.
pub fn kind_of(thread_name: &str, is_jvm: bool) -> &'static str {
    let of_jvm = JVM_THREADS.iter().find(|(start, _)| is_jvm && thread_name.starts_with(start));
    of_jvm.map_or(APPLICATION, |(_, kind)| kind)
}

/// The pool of a thread: its name without what numbers it (`io-compute-12` → `io-compute`).
pub fn pool_of(thread_name: &str) -> &str {
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
            assert_eq!(kind_of(name, true), kind, "{name}");
        }
        assert_eq!(kind_of("GC Thread#3", false), APPLICATION);
    }

    #[test]
    fn pools_lose_their_numbers() {
        for (name, pool) in [
            ("io-compute-12", "io-compute"),
            ("vert.x-eventloo", "vert.x-eventloo"),
            ("worker#3", "worker"),
            ("7", "7"),
        ] {
            assert_eq!(pool_of(name), pool);
        }
    }
}
