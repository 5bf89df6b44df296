//! Processes on Linux: files under `/proc`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Memory, SchedStat, Stat};
use crate::procfs::ProcfsError;
use crate::procfs::files::{numbers_in, read_as};

/// Whether the kernel counts a thread's waiting time and switches.
pub const COUNTS_WAITING: bool = true;

pub(super) fn stat(pid: u32) -> Result<Stat, ProcfsError> {
    read_as(format!("/proc/{pid}/stat"), Stat::parse)
}

pub(super) fn memory(pid: u32) -> Result<Memory, ProcfsError> {
    read_as(format!("/proc/{pid}/status"), Memory::parse)
}

/// Whether there is such a process.
pub fn exists(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Whether a process has mapped a file whose path contains `part`; `None` where that is not known, as on macOS. A process
/// that may not be read has mapped none.
pub fn has_mapped(pid: u32, part: &str) -> Option<bool> {
    Some(fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains(part)))
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

    /// Whether it keeps a file open.
    pub const fn is_kept_open(&self) -> bool {
        self.file.is_some()
    }

    /// The counters; `None` if the kernel wrote something unexpected.
    ///
    /// # Errors
    /// `ENOENT` or `ESRCH` when the thread has ended; otherwise the file could not be opened.
    pub fn read(&self) -> io::Result<Option<SchedStat>> {
        let mut text = [0; 96];
        let got = match &self.file {
            Some(file) => file.read_at(&mut text, 0),
            None => File::open(&self.path).and_then(|file| file.read_at(&mut text, 0)),
        }?;
        Ok(text.get(..got).and_then(|text| std::str::from_utf8(text).ok()).and_then(SchedStat::parse))
    }
}

/// Resident bytes of the first anonymous mapping of at least `at_least_bytes`. A program with a large heap has one.
///
/// Reading ends there, because the kernel counts the pages of each mapping as it is read.
///
/// # Errors
/// When the process is gone or is another user's. Without such a mapping the result is `Ok(None)`.
///
/// # Source
/// proc_pid_smaps(5).
pub fn resident_of_mapping(pid: u32, at_least_bytes: u64) -> Result<Option<u64>, ProcfsError> {
    let path = PathBuf::from(format!("/proc/{pid}/smaps"));
    let file = fs::File::open(&path).map_err(|source| ProcfsError::Read { path, source })?;
    Ok(resident_in(BufReader::new(file).lines().map_while(Result::ok), at_least_bytes))
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

/// The CPU time of a process: all its threads, including those that have ended, but not its children.
///
/// # Units
/// Nanoseconds.
///
/// # Errors
/// When the process is gone.
///
/// # Source
/// clock_getcpuclockid(3). It is exact; `/proc/PID/stat` counts in ticks of 10 ms.
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

/// The threads of a process.
///
/// # Errors
/// When the process is gone.
pub fn thread_ids(pid: u32) -> Result<Vec<u32>, ProcfsError> {
    numbers_in(format!("/proc/{pid}/task"))
}

/// The name of a thread, truncated to 15 bytes by the kernel.
///
/// # Errors
/// When the thread is gone.
pub fn thread_name(pid: u32, tid: u32) -> Result<String, ProcfsError> {
    read_as(format!("/proc/{pid}/task/{tid}/comm"), |text| Some(text.trim_end_matches('\n').to_owned()))
}

/// The file name of the program that a process runs; `None` if it may not be read.
pub fn program_name(pid: u32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(path.file_name()?.to_string_lossy().trim_end_matches(" (deleted)").to_owned())
}

/// Every process with its parent.
///
/// # Errors
/// When `/proc` is not mounted.
pub fn parents_by_pid() -> Result<HashMap<u32, u32>, ProcfsError> {
    // A process that ends during the walk is left out.
    Ok(numbers_in("/proc")?.into_iter().filter_map(|pid| Some((pid, Stat::of_process(pid).ok()?.parent))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_mapping_is_found_by_its_size_and_files_are_passed_over() {
        let text = "c0000000-c0100000 rw-p 00000000 00:00 0\nSize: 1024 kB\nRss: 4 kB\n\
            c1000000-c3000000 r--p 00000000 08:01 77 /big.jar\nRss: 9 kB\n\
            d0000000-d2000000 rw-p 00000000 00:00 0 [heap]\nSize: 32768 kB\nRss: 20480 kB\n";
        let lines = || text.lines().map(str::to_owned);
        assert_eq!(resident_in(lines(), 16 << 20), Some(20 << 20));
        assert_eq!(resident_in(lines(), 64 << 20), None);
        assert!(resident_of_mapping(std::process::id(), u64::MAX).unwrap().is_none());
    }
}
