//! Processes on macOS: libproc.

use std::collections::HashMap;
use std::io;

use super::{Memory, SchedStat, Stat};
use crate::procfs::{ProcfsError, libproc};

pub use CpuTimeReader as SchedStatReader;

/// Whether the kernel counts a thread's waiting time and switches.
pub const COUNTS_WAITING: bool = false;

pub(super) fn stat(pid: u32) -> Result<Stat, ProcfsError> {
    let about = libproc::process_info(pid)?;
    let state = match about.pbi_status {
        libc::SSTOP => 'T',
        libc::SZOMB => 'Z',
        // A process that is not stopped is said to run, whether its threads do or not.
        _ => 'R',
    };
    Ok(Stat {
        pid,
        comm: libproc::text_of(&about.pbi_comm),
        state,
        parent: about.pbi_ppid,
        threads: libproc::task(pid).map_or(0, |task| task.pti_threadnum.unsigned_abs()),
        start_ticks: about.pbi_start_tvsec * 1_000_000 + about.pbi_start_tvusec,
    })
}

pub(super) fn memory(pid: u32) -> Result<Memory, ProcfsError> {
    let task = libproc::task(pid)?;
    Ok(Memory { rss_bytes: task.pti_resident_size, peak_rss_bytes: None, threads: task.pti_threadnum.unsigned_abs() })
}

/// Whether there is such a process.
pub fn exists(pid: u32) -> bool {
    libproc::process_info(pid).is_ok()
}

/// Whether a process has mapped a file: not known.
pub const fn has_mapped(_pid: u32, _part: &str) -> Option<bool> {
    None
}

/// Resident bytes of one mapping: not known.
///
/// # Errors
/// Always.
pub const fn resident_of_mapping(_pid: u32, _at_least_bytes: u64) -> Result<Option<u64>, ProcfsError> {
    Err(ProcfsError::Unavailable { what: "the resident memory of one mapping" })
}

/// Reads the CPU time of one thread again and again.
#[derive(Debug)]
pub struct CpuTimeReader {
    pid: u32,
    tid: u32,
}

impl CpuTimeReader {
    /// For a thread of a process. No file is needed.
    pub const fn new(pid: u32, tid: u32, _may_keep: bool) -> Self {
        Self { pid, tid }
    }

    /// Whether it keeps a file open.
    pub const fn is_kept_open(&self) -> bool {
        false
    }

    /// The CPU time. The other counters are not known; see [`COUNTS_WAITING`].
    ///
    /// # Errors
    /// `ESRCH` when the thread has ended.
    pub fn read(&self) -> io::Result<Option<SchedStat>> {
        let thread = libproc::thread(self.pid, self.tid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
        Ok(Some(SchedStat { cpu_ns: thread.pth_user_time + thread.pth_system_time, ..SchedStat::default() }))
    }
}

/// The CPU time of a process: all its threads, including those that have ended, but not its children.
///
/// # Units
/// Nanoseconds.
///
/// # Errors
/// When the process is gone or is another user's.
pub fn cpu_time_ns(pid: u32) -> Result<u64, ProcfsError> {
    libproc::cpu_time_ns(pid)
}

/// The threads of a process.
///
/// # Errors
/// When the process is gone or is another user's.
pub fn thread_ids(pid: u32) -> Result<Vec<u32>, ProcfsError> {
    libproc::threads(pid)
}

/// The name of a thread; empty if it has none.
///
/// # Errors
/// When the thread is gone.
pub fn thread_name(pid: u32, tid: u32) -> Result<String, ProcfsError> {
    Ok(libproc::text_of(&libproc::thread(pid, tid)?.pth_name))
}

/// The file name of the program that a process runs; `None` if it may not be read.
pub fn program_name(pid: u32) -> Option<String> {
    Some(libproc::program(pid)?.file_name()?.to_string_lossy().into_owned())
}

/// Every process with its parent.
///
/// # Errors
/// When the processes cannot be listed.
pub fn parents_by_pid() -> Result<HashMap<u32, u32>, ProcfsError> {
    // A process that ends during the walk is left out.
    let all = libproc::all_processes()?.into_iter();
    Ok(all.filter_map(|pid| Some((pid, libproc::process_info(pid).ok()?.pbi_ppid))).collect())
}
