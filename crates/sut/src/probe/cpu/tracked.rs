//! CPU use of one process of a server, by its threads.

use std::collections::{BTreeMap, HashMap};

use tare_sys::procfs::process::{self, SchedStat, SchedStatReader, Stat};

use super::{ByPool, add_pools, add_remainder};
use crate::SutError;
use crate::probe::jvm::is_jvm;
use crate::probe::kind::{thread_kind, thread_pool};

#[derive(Debug, Default)]
pub(super) struct Process {
    is_jvm: bool,
    name: String,
    pub(super) parent: u32,
    total_ns: u64,
    threads: HashMap<u32, Thread>,
    /// Last known use of ended threads, by name.
    ended: BTreeMap<String, SchedStat>,
    /// CPU of its children that it has waited for, with that of theirs.
    reaped_ns: u64,
    /// As much of that is known from looks at those children.
    known_reaped_ns: u64,
    /// Last known use of children that have ended, with that of theirs.
    of_children: ByPool,
    of_children_ns: u64,
}

/// With less CPU than this, a process may have threads that the kernel has not counted yet.
const LEAST_NS: u64 = 100_000_000;

#[derive(Debug)]
struct Thread {
    name: String,
    used: SchedStat,
    /// Kept open if the limit allows.
    counters: SchedStatReader,
    seen: bool,
}

impl Process {
    pub(super) fn new(pid: u32) -> Self {
        let program = process::program_name(pid).unwrap_or_default();
        let name = process::thread_name(pid, pid).unwrap_or_default();
        let parent = Stat::of_process(pid).map(|stat| stat.parent).unwrap_or_default();
        // One that is about to load its library, or may not be read, is known by its name.
        let is_jvm = program == "java" || name == "java" || is_jvm(pid);
        Self { is_jvm, name, parent, ..Self::default() }
    }

    pub(super) fn update(&mut self, pid: u32, files_left: &mut usize) -> Result<(), SutError> {
        let tids = process::thread_ids(pid)?;
        self.threads.values_mut().for_each(|thread| thread.seen = false);
        for tid in tids {
            let thread = self.threads.entry(tid).or_insert_with(|| Thread::new(pid, tid, files_left));
            // A new thread has its creator's or the program's name until it sets its own.
            if thread.name.is_empty() || thread.name == self.name {
                thread.name = process::thread_name(pid, tid).unwrap_or_default();
            }
            thread.seen = thread.update();
        }
        for (_, dead) in self.threads.extract_if(|_, thread| !thread.seen) {
            *files_left += usize::from(dead.counters.is_kept_open());
            *self.ended.entry(dead.name).or_default() += dead.used;
        }
        // Read after the threads, so that their sum cannot exceed it.
        self.read_clock(pid)
    }

    pub(super) fn read_clock(&mut self, pid: u32) -> Result<(), SutError> {
        self.total_ns = process::cpu_time_ns(pid)?;
        Ok(())
    }

    /// Reads what it has waited for. One that has ended keeps what was seen last.
    pub(super) fn read_reaped(&mut self, pid: u32) {
        self.reaped_ns = Stat::of_process(pid).map_or(self.reaped_ns, |stat| stat.reaped_ns());
    }

    /// Whether it is a JVM of whose threads the kernel counts none, so that the CPU of its compilers is not known.
    pub(super) fn hides_its_compilers(&self) -> bool {
        let is_counted = self.threads.values().any(|thread| thread.used.cpu_ns > 0);
        self.is_jvm && self.total_ns > LEAST_NS && !is_counted
    }

    /// How many files are kept open for its threads.
    pub(super) fn open_files(&self) -> usize {
        self.threads.values().filter(|thread| thread.counters.is_kept_open()).count()
    }

    /// CPU of children that ended between two looks. Many servers start one for each request, which nobody sees.
    fn unseen_ns(&self) -> u64 {
        self.reaped_ns.saturating_sub(self.known_reaped_ns)
    }

    /// All that it and its ended children have used.
    pub(super) fn used_ns(&self) -> u64 {
        self.total_ns + self.of_children_ns + self.unseen_ns()
    }

    /// Takes over what an ended process has used.
    pub(super) fn take_over(&mut self, ended: &Self, has_waited_for_it: bool) {
        self.of_children_ns += ended.add_to(&mut self.of_children);
        if has_waited_for_it {
            self.known_reaped_ns += ended.total_ns + ended.reaped_ns.max(ended.known_reaped_ns);
        }
    }

    /// Adds its use and that of its ended children. Returns all of it.
    pub(super) fn add_to(&self, sum: &mut ByPool) -> u64 {
        let living = self.threads.values().map(|thread| (thread.name.as_str(), thread.used));
        let ended = self.ended.iter().map(|(name, used)| (name.as_str(), *used));
        let mut known = 0;
        for (name, used) in living.chain(ended) {
            *sum.entry((thread_kind(name, self.is_jvm), thread_pool(name).to_owned())).or_default() += used;
            known += used.cpu_ns;
        }
        add_pools(sum, &self.of_children);
        let all_ns = self.used_ns().max(known + self.of_children_ns);
        add_remainder(sum, all_ns - known - self.of_children_ns);
        all_ns
    }
}

impl Thread {
    fn new(pid: u32, tid: u32, files_left: &mut usize) -> Self {
        let counters = SchedStatReader::new(pid, tid, *files_left > 0);
        *files_left -= usize::from(counters.is_kept_open());
        Self { name: String::new(), used: SchedStat::default(), counters, seen: true }
    }

    /// Reads the thread's use. Returns whether the thread still exists.
    fn update(&mut self) -> bool {
        match self.counters.read() {
            Ok(counters) => {
                self.used = counters.unwrap_or(self.used);
                true
            }
            // This also holds if a new thread has the same id: the open file belongs to the old one.
            Err(gone) if matches!(gone.raw_os_error(), Some(NO_SUCH_FILE | NO_SUCH_PROCESS)) => false,
            // Without free descriptors the thread still exists; only its newest figure is missing.
            Err(_) => true,
        }
    }
}

/// Opening and reading fail with `ENOENT` or `ESRCH` for an ended thread.
const NO_SUCH_FILE: i32 = 2;
const NO_SUCH_PROCESS: i32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compilers_are_hidden_where_no_thread_of_a_busy_jvm_has_used_any_cpu() {
        let process = |is_jvm, total_ns, of_thread: Option<u64>| {
            let thread = |cpu_ns| {
                let used = SchedStat { cpu_ns, ..SchedStat::default() };
                (7, Thread { used, ..Thread::new(1, 7, &mut 0) })
            };
            let threads = of_thread.map(thread).into_iter().collect();
            Process { is_jvm, total_ns, threads, ..Process::default() }
        };
        assert!(process(true, 2 * LEAST_NS, None).hides_its_compilers(), "a kernel without the file of each thread");
        assert!(process(true, 2 * LEAST_NS, Some(0)).hides_its_compilers(), "one that writes zeros");
        for other in [process(true, 2 * LEAST_NS, Some(1)), process(true, 1, None), process(false, 2 * LEAST_NS, None)]
        {
            assert!(!other.hides_its_compilers(), "{other:?}");
        }
    }
}
