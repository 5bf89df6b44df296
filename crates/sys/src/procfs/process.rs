//! Processes and their threads: state, family, memory, CPU time.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::collections::{HashMap, HashSet};

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;
use super::ProcfsError;

pub use self::system::{
    COUNTS_WAITING, SchedStatReader, cpu_time_ns, exists, has_mapped, parents_by_pid, program_name,
    resident_of_mapping, thread_ids, thread_name,
};

/// The fields of `/proc/PID/stat` that tare uses. macOS has the same ones elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Process id.
    pub pid: u32,
    /// Name, truncated to 15 bytes by the kernel.
    pub comm: String,
    /// `R` running, `S` asleep, `T` stopped by a signal, `Z` dead but not reaped …
    pub state: char,
    /// Parent's process id.
    pub parent: u32,
    /// Threads of the process.
    pub threads: u32,
    /// When the process started, in clock ticks since boot; on macOS in microseconds since 1970. Together with the id it
    /// identifies a process uniquely.
    pub start_ticks: u64,
}

impl Stat {
    /// Parses the line.
    ///
    /// # Source
    /// proc_pid_stat(5). The name is closed by the *last* parenthesis.
    pub fn parse(text: &str) -> Option<Self> {
        let (pid, rest) = text.split_once(" (")?;
        let (comm, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            pid: pid.parse().ok()?,
            comm: comm.to_owned(),
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            start_ticks: fields.get(19)?.parse().ok()?,
        })
    }

    /// Reads that of a process.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn of_process(pid: u32) -> Result<Self, ProcfsError> {
        system::stat(pid)
    }

    /// Whether the process is alive: neither a zombie nor dead.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// Whether a signal (SIGSTOP, SIGTSTP) or a tracer has stopped it.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// Memory of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Resident memory now (`VmRSS`).
    pub rss_bytes: u64,
    /// Largest resident memory since the program was executed (`VmHWM`); `None` on macOS, which does not keep it.
    pub peak_rss_bytes: Option<u64>,
    /// Threads of the process.
    pub threads: u32,
}

impl Memory {
    /// Parses `/proc/PID/status`. A zombie has no memory and gives zeros.
    pub fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            value.and_then(|value| value.split_ascii_whitespace().next()?.parse::<u64>().ok())
        };
        Some(Self {
            rss_bytes: field("VmRSS").unwrap_or(0) * 1024,
            peak_rss_bytes: Some(field("VmHWM").unwrap_or(0) * 1024),
            threads: u32::try_from(field("Threads")?).ok()?,
        })
    }

    /// Reads that of a process.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn of_process(pid: u32) -> Result<Self, ProcfsError> {
        system::memory(pid)
    }
}

/// The scheduler's counters of one thread, since its start. Without [`COUNTS_WAITING`] only the time on a CPU is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Time on a CPU, in nanoseconds.
    pub cpu_ns: u64,
    /// Time runnable and waiting for a CPU, in nanoseconds, without a wait that has not ended.
    pub waiting_ns: u64,
    /// How often it was scheduled on a CPU: its context switches.
    pub switches: u64,
}

impl SchedStat {
    /// Parses `/proc/PID/task/TID/schedstat`.
    ///
    /// # Source
    /// Documentation/scheduler/sched-stats.rst of the kernel.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace().map(|field| field.parse().ok());
        Some(Self { cpu_ns: fields.next()??, waiting_ns: fields.next()??, switches: fields.next()?? })
    }
}

/// A process and all its descendants, itself first.
///
/// # Errors
/// When the processes cannot be listed.
pub fn process_tree(root: u32) -> Result<Vec<u32>, ProcfsError> {
    Ok(process_tree_in(root, &parents_by_pid()?))
}

/// The same for a given table of parents.
pub fn process_tree_in(root: u32, parents: &HashMap<u32, u32>) -> Vec<u32> {
    let mut found = vec![root];
    let mut seen = HashSet::from([root]);
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let mut children: Vec<u32> =
            parents.iter().filter(|(pid, of)| **of == parent && seen.insert(**pid)).map(|(pid, _)| *pid).collect();
        children.sort_unstable();
        found.append(&mut children);
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_behind_any_name() {
        let line = "42 (a) R (b) T 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 33 0 98765 1 2 3";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.pid, stat.comm.as_str(), stat.state, stat.parent), (42, "a) R (b", 'T', 7));
        assert_eq!((stat.threads, stat.start_ticks), (33, 98765));
        assert!(stat.is_stopped() && stat.is_alive());
        assert_eq!(Stat::parse("42 (java"), None);
    }

    #[test]
    fn memory_is_in_bytes_and_a_zombie_has_none() {
        let text = "Name:\tjava\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t9\n";
        let expected = Memory { rss_bytes: 1 << 20, peak_rss_bytes: Some(2 << 20), threads: 9 };
        assert_eq!(Memory::parse(text), Some(expected));
        assert_eq!(
            Memory::parse("State:\tZ\nThreads:\t1\n"),
            Some(Memory { rss_bytes: 0, peak_rss_bytes: Some(0), threads: 1 })
        );
        assert_eq!(Memory::parse(""), None);
    }

    #[test]
    fn schedstat_gives_the_time_on_a_cpu_the_waiting_and_the_switches() {
        let expected = SchedStat { cpu_ns: 123_456_789, waiting_ns: 42, switches: 7 };
        assert_eq!(SchedStat::parse("123456789 42 7\n"), Some(expected));
        assert_eq!((SchedStat::parse("123456789 42"), SchedStat::parse("")), (None, None));
    }

    #[test]
    fn a_tree_holds_all_descendants_once() {
        let parents = HashMap::from([(1, 0), (5, 1), (6, 5), (7, 5), (8, 7), (9, 1)]);
        assert_eq!(process_tree_in(5, &parents), [5, 6, 7, 8]);
        assert_eq!(process_tree_in(99, &parents), [99]);
    }

    #[test]
    fn we_find_ourselves() {
        let me = std::process::id();
        assert!(thread_ids(me).unwrap().contains(&me));
        assert!(Memory::of_process(me).unwrap().rss_bytes > 0 && Stat::of_process(me).unwrap().is_alive());
        assert!(cpu_time_ns(me).unwrap() > 0 && cpu_time_ns((1 << 22) + 1).is_err());
        assert!(process_tree(1).unwrap().contains(&1) && program_name(me).is_some());
        assert!(!thread_name(me, me).unwrap().is_empty());
        assert!(exists(me) && !exists((1 << 22) + 1));
        let counters = SchedStatReader::new(me, me, true);
        assert!(counters.is_kept_open() && counters.read().unwrap().is_some_and(|counters| counters.switches > 0));
    }
}
