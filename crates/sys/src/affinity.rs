//! CPU sets as people write them ("0,2-3"), and pinning of threads, tasks and whole processes to them.
//! Owns no policy: which core is the server's and which the generator's is decided by the plan.

use std::collections::{BTreeSet, HashSet};
use std::{fmt, fs, io};

use rustix::thread::{Pid, sched_getaffinity, sched_setaffinity};

use crate::procfs;

/// A set of logical CPUs, ordered, never holding one twice.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CpuSet(BTreeSet<usize>);

/// Why a CPU list could not be read, or a task could not be pinned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AffinityError {
    /// The text is not a list of CPUs.
    #[error("\"{text}\" is not a list of CPUs: {reason}; write it like \"0\", \"0,2\" or \"0,2-3\"")]
    Syntax {
        /// What was written.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The kernel refused.
    #[error("cannot pin task {tid} to CPUs {cpus}: {source}; CPUs that may be used here: {allowed}")]
    Refused {
        /// The task, 0 for the calling thread.
        tid: u32,
        /// The set that was asked for.
        cpus: CpuSet,
        /// The set that this process may use.
        allowed: CpuSet,
        /// The kernel's reason.
        source: io::Error,
    },
    /// `/proc` or the CPU mask could not be read.
    #[error("cannot read {what}: {source}")]
    Read {
        /// The file or call.
        what: String,
        /// The kernel's reason.
        source: io::Error,
    },
}

impl CpuSet {
    /// The most CPUs that the kernel's plain `cpu_set_t` can name.
    pub const LIMIT: usize = rustix::thread::CpuSet::MAX_CPU;

    /// A set of these CPUs.
    pub fn of(cpus: impl IntoIterator<Item = usize>) -> Self {
        Self(cpus.into_iter().collect())
    }

    /// Every CPU that this thread may run on (what `taskset`, cpusets and containers left).
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn allowed() -> Result<Self, AffinityError> {
        Self::of_task(0)
    }

    /// Every CPU that the kernel has online, also those that this process may not use.
    ///
    /// # Errors
    /// When `/sys/devices/system/cpu/online` cannot be read.
    pub fn online() -> Result<Self, AffinityError> {
        let path = "/sys/devices/system/cpu/online";
        let text = fs::read_to_string(path).map_err(|source| AffinityError::Read { what: path.into(), source })?;
        text.trim().parse()
    }

    /// The CPUs that a task is pinned to; 0 means the calling thread.
    ///
    /// # Errors
    /// When there is no such task.
    pub fn of_task(tid: u32) -> Result<Self, AffinityError> {
        let mask = sched_getaffinity(task(tid))
            .map_err(|e| AffinityError::Read { what: format!("the CPU mask of task {tid}"), source: e.into() })?;
        Ok(Self((0..Self::LIMIT).filter(|&cpu| mask.is_set(cpu)).collect()))
    }

    /// Whether the set holds this CPU.
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    /// How many CPUs the set holds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set holds no CPU.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The CPUs in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    /// Every CPU that is in either set.
    pub fn union(&self, other: &Self) -> Self {
        Self(&self.0 | &other.0)
    }

    /// Every CPU of this set that is not in the other.
    pub fn difference(&self, other: &Self) -> Self {
        Self(&self.0 - &other.0)
    }

    /// Whether the two sets share a CPU.
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.0.is_disjoint(&other.0)
    }

    /// The kernel's form of the set.
    pub(crate) fn mask(&self) -> rustix::thread::CpuSet {
        let mut mask = rustix::thread::CpuSet::new();
        self.iter().filter(|&cpu| cpu < Self::LIMIT).for_each(|cpu| mask.set(cpu));
        mask
    }
}

impl std::str::FromStr for CpuSet {
    type Err = AffinityError;

    fn from_str(text: &str) -> Result<Self, AffinityError> {
        let wrong = |reason: String| AffinityError::Syntax { text: text.to_owned(), reason };
        let number = |part: &str| -> Result<usize, AffinityError> {
            let cpu = part.trim().parse().map_err(|_| wrong(format!("\"{}\" is not a number", part.trim())))?;
            if cpu < Self::LIMIT { Ok(cpu) } else { Err(wrong(format!("CPU {cpu} is above {}", Self::LIMIT - 1))) }
        };
        let mut cpus = BTreeSet::new();
        for part in text.split(',') {
            match part.split_once('-') {
                Some((first, last)) => {
                    let (first, last) = (number(first)?, number(last)?);
                    if first > last {
                        return Err(wrong(format!("the range {first}-{last} runs backwards")));
                    }
                    cpus.extend(first..=last);
                }
                None if part.trim().is_empty() => return Err(wrong("a part of it is empty".into())),
                None => drop(cpus.insert(number(part)?)),
            }
        }
        Ok(Self(cpus))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if_eq(&(last + 1)) {
                last = next;
            }
            match last - first {
                0 => write!(f, "{separator}{first}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

/// Pins the calling thread.
///
/// # Errors
/// When none of the CPUs exists or may be used here.
pub fn pin_current_thread(cpus: &CpuSet) -> Result<(), AffinityError> {
    pin_task(0, cpus)
}

/// Pins one thread of any process; 0 means the calling thread.
///
/// # Errors
/// When there is no such task, it is another user's, or none of the CPUs may be used.
pub fn pin_task(tid: u32, cpus: &CpuSet) -> Result<(), AffinityError> {
    sched_setaffinity(task(tid), &cpus.mask()).map_err(|e| AffinityError::Refused {
        tid,
        cpus: cpus.clone(),
        allowed: CpuSet::allowed().unwrap_or_default(),
        source: e.into(),
    })
}

/// Pins every thread of a process, also those that are born meanwhile: a new thread inherits its creator's mask, so
/// passes are made until one finds nobody new. A process that never stops making threads is left after some passes:
/// by then every creator is pinned.
///
/// # Errors
/// When the process is gone, is another user's, or none of the CPUs may be used.
pub fn pin_process(pid: u32, cpus: &CpuSet) -> Result<(), AffinityError> {
    const PASSES: usize = 8;
    let path = format!("/proc/{pid}/task");
    let mut seen = HashSet::new();
    for _ in 0..PASSES {
        let tasks = fs::read_dir(&path).map_err(|source| AffinityError::Read { what: path.clone(), source })?;
        let tids = tasks.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let new: Vec<u32> = tids.filter(|tid| seen.insert(*tid)).collect();
        if new.is_empty() {
            break;
        }
        for tid in new {
            match pin_task(tid, cpus) {
                // A thread that has ended between the listing and the call needs no pinning.
                Err(AffinityError::Refused { source, .. }) if source.raw_os_error() == Some(libc::ESRCH) => {}
                other => other?,
            }
        }
    }
    Ok(())
}

/// Pins a process and all its descendants, as they are now; who is born later inherits.
///
/// # Errors
/// When the process is gone, is another user's, or none of the CPUs may be used.
pub fn pin_process_tree(pid: u32, cpus: &CpuSet) -> Result<(), AffinityError> {
    pin_process(pid, cpus)?;
    let descendants = procfs::process::tree(pid).unwrap_or_default();
    for descendant in descendants.into_iter().skip(1) {
        // A descendant that has ended meanwhile cannot be listed and needs no pinning.
        match pin_process(descendant, cpus) {
            Err(AffinityError::Read { .. }) => {}
            other => other?,
        }
    }
    Ok(())
}

fn task(tid: u32) -> Option<Pid> {
    i32::try_from(tid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read_and_written_back() {
        for (text, shown) in [("0", "0"), ("0,2-3", "0,2-3"), ("3,1,2", "1-3"), (" 5 , 7 ", "5,7"), ("4-4", "4")] {
            assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_is_wrong_with_a_list_is_said() {
        for (text, says) in [
            ("", "empty"),
            ("0,,1", "empty"),
            ("a", "\"a\" is not a number"),
            ("3-1", "runs backwards"),
            ("1-", "\"\" is not a number"),
            ("5000", "above 1023"),
        ] {
            let error = text.parse::<CpuSet>().unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("0,2-3"), "{error}");
        }
    }

    #[test]
    fn a_pinned_thread_reports_the_cpu_it_was_pinned_to() {
        let one = CpuSet::of(CpuSet::allowed().unwrap().iter().take(1));
        std::thread::spawn(move || {
            pin_current_thread(&one).unwrap();
            assert_eq!(CpuSet::allowed().unwrap(), one);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused_with_those_that_are() {
        let absent = CpuSet::of([CpuSet::LIMIT - 1]);
        std::thread::spawn(move || {
            let error = pin_current_thread(&absent).unwrap_err().to_string();
            assert!(error.contains("may be used here"), "{error}");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn sets_answer_questions_about_themselves() {
        let set = CpuSet::of([0, 2]);
        assert!(set.contains(2) && !set.contains(1) && set.len() == 2 && !set.is_empty());
        assert!(set.overlaps(&CpuSet::of([2, 3])) && set.difference(&CpuSet::of([2])) == CpuSet::of([0]));
        assert_eq!(set.union(&CpuSet::of([1])).to_string(), "0-2");
        assert!(CpuSet::online().unwrap().len() >= CpuSet::allowed().unwrap().len());
    }
}
