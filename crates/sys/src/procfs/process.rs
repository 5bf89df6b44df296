//! Processes and their threads: state, memory, CPU time.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use super::machine::clock_tick_ns;
use super::{ProcfsError, numbers_in, read_as};

/// The fields of `/proc/PID/stat` that tare uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Name, truncated to 15 bytes by the kernel.
    pub comm: String,
    /// `R` running, `S` asleep, `T` stopped by a signal, `Z` dead but not reaped …
    pub state: char,
    pub parent: u32,
    /// CPU time of its children that it has waited for, with that of theirs, in clock ticks.
    pub reaped_ticks: u64,
}

impl Stat {
    /// Parses the line. Source: proc_pid_stat(5). The name is closed by the *last* parenthesis.
    pub fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once(" (")?;
        let (comm, rest) = rest.rsplit_once(") ")?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        // User and system time: the fields 16 and 17, where the parent is the fourth.
        let mut reaped = fields.skip(11).map_while(|ticks| ticks.parse::<u64>().ok());
        let reaped_ticks = reaped.next()?.saturating_add(reaped.next()?);
        Some(Self { comm: comm.to_owned(), state, parent, reaped_ticks })
    }

    pub fn of_process(pid: u32) -> Result<Self, ProcfsError> {
        read_as(format!("/proc/{pid}/stat"), Self::parse)
    }

    /// [`reaped_ticks`](Self::reaped_ticks) in nanoseconds.
    pub fn reaped_ns(&self) -> u64 {
        self.reaped_ticks.saturating_mul(clock_tick_ns())
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Resident memory now (`VmRSS`).
    pub rss_bytes: u64,
    /// Largest resident memory since the program was executed (`VmHWM`).
    pub peak_rss_bytes: u64,
}

impl Memory {
    /// Parses `/proc/PID/status`. A zombie has no memory and gives zeros.
    pub fn parse(text: &str) -> Option<Self> {
        let field = |name| first_word(text, name).and_then(|word| word.parse::<u64>().ok());
        let _is_a_status = field("Threads")?;
        Some(Self { rss_bytes: field("VmRSS").unwrap_or(0) * 1024, peak_rss_bytes: field("VmHWM").unwrap_or(0) * 1024 })
    }

    pub fn of_process(pid: u32) -> Result<Self, ProcfsError> {
        read_as(format!("/proc/{pid}/status"), Self::parse)
    }
}

/// The first word of a field of `/proc/PID/status`.
fn first_word<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value?.split_ascii_whitespace().next()
}

/// Whether a process has a handler for SIGQUIT. It may have none, or be gone.
pub fn catches_quit(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|status| has_bit(&status, "SigCgt", libc::SIGQUIT - 1))
}

/// Whether this process ignores a signal, as what `nohup` starts ignores SIGHUP.
pub fn ignores(signal: i32) -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| has_bit(&status, "SigIgn", signal - 1))
}

/// Whether this process may count events and sample the kernel, whatever `perf_event_paranoid` says to other users: as root
/// may, except in a user namespace (perf_event_open(2), capabilities(7)).
pub fn may_sample_kernel() -> bool {
    let read = |file: &str| fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
    is_allowed_to_sample(&read("status"), &read("uid_map"))
}

fn is_allowed_to_sample(status: &str, uid_map: &str) -> bool {
    const SYS_ADMIN: i32 = 21;
    const PERFMON: i32 = 38;
    let is_of_machine = uid_map.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    is_of_machine && [SYS_ADMIN, PERFMON].into_iter().any(|capability| has_bit(status, "CapEff", capability))
}

fn has_bit(status: &str, mask: &str, bit: i32) -> bool {
    let mask = first_word(status, mask).and_then(|mask| u64::from_str_radix(mask, 16).ok());
    mask.is_some_and(|mask| mask >> bit & 1 == 1)
}

/// The scheduler's counters of one thread, since its start.
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
    /// Parses `/proc/PID/task/TID/schedstat`. Source: Documentation/scheduler/sched-stats.rst of the kernel.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split_ascii_whitespace().map(|field| field.parse().ok());
        Some(Self { cpu_ns: fields.next()??, waiting_ns: fields.next()??, switches: fields.next()?? })
    }

    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            waiting_ns: self.waiting_ns.saturating_sub(earlier.waiting_ns),
            switches: self.switches.saturating_sub(earlier.switches),
        }
    }
}

impl std::ops::AddAssign for SchedStat {
    fn add_assign(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.waiting_ns += other.waiting_ns;
        self.switches += other.switches;
    }
}

pub fn exists(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Whether the monotonic clock of a process is this one's: a JVM that is restored from a checkpoint may be in a time
/// namespace of its own. Source: time_namespaces(7).
pub fn has_our_clock(pid: u32) -> bool {
    let clock = |process: &str| fs::read_link(format!("/proc/{process}/ns/time")).ok();
    // A kernel without such namespaces has one clock.
    clock("self").zip(clock(&pid.to_string())).is_none_or(|(ours, theirs)| ours == theirs)
}

/// What a process has mapped, a line for each mapping with the path of its file at the end; `None` if that may not be
/// read. Source: proc_pid_maps(5): the path of a file that was removed or replaced is followed by ` (deleted)`.
pub fn mappings(pid: u32) -> Option<String> {
    let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
    Some(String::from_utf8_lossy(&maps).into_owned())
}

/// Reads the counters of one thread again and again.
#[derive(Debug)]
pub struct SchedStatReader {
    path: String,
    /// Kept open if that is wanted: reading an open file costs a sixth of opening and reading it.
    file: Option<File>,
}

impl SchedStatReader {
    /// For a thread of a process. `may_keep` permits it to keep a file open.
    pub fn new(pid: u32, tid: u32, may_keep: bool) -> Self {
        let path = format!("/proc/{pid}/task/{tid}/schedstat");
        let file = may_keep.then(|| File::open(&path).ok()).flatten();
        Self { path, file }
    }

    pub const fn is_kept_open(&self) -> bool {
        self.file.is_some()
    }

    /// The counters; `None` if the kernel wrote something unexpected. Errors: `ENOENT` or `ESRCH` when the thread has
    /// ended; otherwise the file could not be opened.
    pub fn read(&self) -> io::Result<Option<SchedStat>> {
        let mut text = [0; 96];
        let got = match &self.file {
            Some(file) => file.read_at(&mut text, 0),
            None => File::open(&self.path).and_then(|file| file.read_at(&mut text, 0)),
        }?;
        Ok(text.get(..got).and_then(|text| std::str::from_utf8(text).ok()).and_then(SchedStat::parse))
    }
}

/// Resident bytes of the first anonymous mapping of at least `at_least_bytes`, as a program with a large heap has one;
/// `None` without, and where it may not be read. Reading ends there, because the kernel counts the pages of each
/// mapping as it is read. Source: proc_pid_smaps(5).
pub fn resident_of_mapping(pid: u32, at_least_bytes: u64) -> Option<u64> {
    let file = File::open(format!("/proc/{pid}/smaps")).ok()?;
    resident_in(BufReader::new(file).lines().map_while(Result::ok), at_least_bytes)
}

fn resident_in(lines: impl Iterator<Item = String>, at_least_bytes: u64) -> Option<u64> {
    let mut is_it = false;
    for line in lines {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        match fields.as_slice() {
            // `c0000000-100000000 rw-p 00000000 00:00 0`, followed by the name of a mapped file.
            [range, _, _, _, "0", name @ ..] if name.first().is_none_or(|name| name.starts_with('[')) => {
                is_it = length_of(range).is_some_and(|length| length >= at_least_bytes);
            }
            ["Rss:", kib, ..] if is_it => return Some(kib.parse::<u64>().ok()? * 1024),
            _ => {}
        }
    }
    None
}

/// The length of `c0000000-100000000`.
fn length_of(range: &str) -> Option<u64> {
    let (from, to) = range.split_once('-')?;
    u64::from_str_radix(to, 16).ok()?.checked_sub(u64::from_str_radix(from, 16).ok()?)
}

/// The CPU time of a process: all its threads, including those that have ended, but not its children. Unit:
/// nanoseconds. Errors: when the process is gone. Source: clock_getcpuclockid(3). It is exact; `/proc/PID/stat` counts
/// in ticks of 10 ms.
pub fn cpu_time_ns(pid: u32) -> Result<u64, ProcfsError> {
    let gone = |code| ProcfsError::Read {
        path: format!("the CPU clock of process {pid}").into(),
        source: std::io::Error::from_raw_os_error(code),
    };
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both calls write one plain value to this stack.
    let code = unsafe {
        match libc::clock_getcpuclockid(pid.cast_signed(), &raw mut clock) {
            0 if libc::clock_gettime(clock, &raw mut time) == 0 => 0,
            0 => libc::ESRCH,
            code => code,
        }
    };
    if code != 0 {
        return Err(gone(code));
    }
    Ok(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

pub fn thread_ids(pid: u32) -> Result<Vec<u32>, ProcfsError> {
    numbers_in(format!("/proc/{pid}/task"))
}

/// The name of a thread, truncated to 15 bytes by the kernel.
pub fn thread_name(pid: u32, tid: u32) -> Result<String, ProcfsError> {
    read_as(format!("/proc/{pid}/task/{tid}/comm"), |text| Some(text.trim_end_matches('\n').to_owned()))
}

/// The file name of the program that a process runs; `None` if it may not be read.
pub fn program_name(pid: u32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(path.file_name()?.to_string_lossy().trim_end_matches(" (deleted)").to_owned())
}

/// The user as whom a process runs; `None` if it is gone.
pub fn user_of(pid: u32) -> Option<u32> {
    fs::metadata(format!("/proc/{pid}")).ok().map(|folder| folder.uid())
}

/// A process with its command line, its words separated by blanks. Threads of the kernel have none and are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub pid: u32,
    pub parent: u32,
    pub line: String,
}

/// The command lines of all processes that may be seen, by number.
pub fn commands() -> Result<Vec<Command>, ProcfsError> {
    let command = |pid: u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&words).replace('\0', " ").trim_end().to_owned();
        let parent = Stat::of_process(pid).ok()?.parent;
        (!line.is_empty()).then_some(Command { pid, parent, line })
    };
    let mut all: Vec<Command> = numbers_in("/proc")?.into_iter().filter_map(command).collect();
    all.sort_unstable_by_key(|command| command.pid);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_behind_any_name() {
        let line = "42 (a) R (b) T 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 33 0 98765 1 2 3";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.comm.as_str(), stat.state, stat.parent, stat.reaped_ticks), ("a) R (b", 'T', 7, 15));
        assert!(stat.is_stopped() && stat.is_alive());
        assert_eq!(Stat::parse("42 (java"), None);
    }

    #[test]
    fn memory_is_in_bytes_and_a_zombie_has_none() {
        let text = "Name:\tjava\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t9\n";
        let expected = Memory { rss_bytes: 1 << 20, peak_rss_bytes: 2 << 20 };
        assert_eq!(Memory::parse(text), Some(expected));
        assert_eq!(Memory::parse("State:\tZ\nThreads:\t1\n"), Some(Memory::default()));
        assert_eq!(Memory::parse(""), None);
    }

    #[test]
    fn a_signal_is_caught_or_ignored_if_its_bit_is_set() {
        let status = |mask: &str| format!("Name:\tjava\nSigIgn:\tffffffffffffffff\nSigCgt:\t{mask}\n");
        assert!(has_bit(&status("0000000000000004"), "SigCgt", libc::SIGQUIT - 1));
        assert!(has_bit(&status("0"), "SigIgn", libc::SIGHUP - 1));
        for without in ["fffffffffffffffb", "0", "", "x"] {
            assert!(!has_bit(&status(without), "SigCgt", libc::SIGQUIT - 1), "{without}");
        }
        assert!(!catches_quit(std::process::id()) && !catches_quit((1 << 22) + 1));
    }

    #[test]
    fn root_may_sample_the_kernel_except_in_a_user_namespace() {
        let (all, status) = ("0 0 4294967295\n", |mask: &str| format!("CapPrm:\t0\nCapEff:\t{mask}\n"));
        for mask in ["000001ffffffffff", "0000000000200000", "0000004000000000"] {
            assert!(is_allowed_to_sample(&status(mask), all), "{mask}");
            assert!(!is_allowed_to_sample(&status(mask), "0 1000 1\n"), "{mask}");
        }
        assert!(!is_allowed_to_sample(&status("00000000a80425fb"), all), "root in a container of Docker");
    }

    #[test]
    fn schedstat_gives_the_time_on_a_cpu_the_waiting_and_the_switches() {
        let expected = SchedStat { cpu_ns: 123_456_789, waiting_ns: 42, switches: 7 };
        assert_eq!(SchedStat::parse("123456789 42 7\n"), Some(expected));
        assert_eq!((SchedStat::parse("123456789 42"), SchedStat::parse("")), (None, None));
    }

    #[test]
    fn we_find_ourselves() {
        let me = std::process::id();
        assert!(thread_ids(me).unwrap().contains(&me));
        assert!(Memory::of_process(me).unwrap().rss_bytes > 0 && Stat::of_process(me).unwrap().is_alive());
        assert!(cpu_time_ns(me).unwrap() > 0 && cpu_time_ns((1 << 22) + 1).is_err());
        assert!(program_name(me).is_some());
        assert!(!thread_name(me, me).unwrap().is_empty());
        assert!(exists(me) && !exists((1 << 22) + 1));
        assert!(commands().unwrap().iter().any(|command| command.pid == me && command.parent > 0));
        assert!(user_of(me).is_some() && user_of((1 << 22) + 1).is_none());
        assert!(mappings(me).is_some_and(|mapped| mapped.contains('/')) && mappings((1 << 22) + 1).is_none());
        assert!(has_our_clock(me) && has_our_clock((1 << 22) + 1));
        let counters = SchedStatReader::new(me, me, true);
        assert!(counters.is_kept_open() && counters.read().unwrap().is_some_and(|counters| counters.switches > 0));
    }

    #[test]
    fn the_large_mapping_is_found_by_its_size_and_files_are_passed_over() {
        let text = "c0000000-c0100000 rw-p 00000000 00:00 0\nSize: 1024 kB\nRss: 4 kB\n\
            c1000000-c3000000 r--p 00000000 08:01 77 /big.jar\nRss: 9 kB\n\
            d0000000-d2000000 rw-p 00000000 00:00 0 [heap]\nSize: 32768 kB\nRss: 20480 kB\n";
        let lines = || text.lines().map(str::to_owned);
        assert_eq!(resident_in(lines(), 16 << 20), Some(20 << 20));
        assert_eq!(resident_in(lines(), 64 << 20), None);
        assert!(resident_of_mapping(std::process::id(), u64::MAX).is_none());
    }
}
