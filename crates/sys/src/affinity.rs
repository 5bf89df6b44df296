//! The CPUs that tasks may use, and pinning of threads, tasks and whole processes to a set of them. The plan decides
//! which cores are the server's and which the generator's.

use std::collections::HashSet;
use std::{fs, io};

use rustix::thread::{Pid, sched_getaffinity, sched_setaffinity};
pub use tare_units::CpuSet;
use tare_units::distinct;

use crate::procfs::process::thread_ids;
use crate::procfs::tree::process_tree;

/// How often tasks are listed while they are pinned. By the last time even those of a program that never stops starting some were
/// started by pinned ones.
const PASSES: usize = 8;

pub(crate) type KernelMask = rustix::thread::CpuSet;

/// Why the CPUs of a task could not be read or set.
#[derive(Debug, thiserror::Error)]
pub enum AffinityError {
    /// Task 0 is the calling thread.
    #[error("cannot pin task {tid} to CPUs {cpus}: {source}; CPUs that may be used here: {allowed}")]
    Refused { tid: u32, cpus: CpuSet, allowed: CpuSet, source: io::Error },
    #[error("cannot read {what}: {source}")]
    Read { what: String, source: io::Error },
}

/// Every CPU that this thread may run on, within the limits of `taskset`, cpusets and containers.
pub fn allowed_cpus() -> Result<CpuSet, AffinityError> {
    cpus_of_task(0)
}

/// These CPUs by physical core, each core with those of its hardware threads that are among them. Where the kernel does not say
/// which belong together, each CPU is a core.
pub fn physical_cores(cpus: &CpuSet) -> Vec<CpuSet> {
    by_core(cpus, |cpu| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        fs::read_to_string(path).ok()?.trim().parse().ok()
    })
}

fn by_core(cpus: &CpuSet, threads_beside: impl Fn(usize) -> Option<CpuSet>) -> Vec<CpuSet> {
    let core_of = |cpu| {
        let threads = threads_beside(cpu).unwrap_or_default();
        CpuSet::from_indices(cpus.iter().filter(|&other| other == cpu || threads.contains(other)))
    };
    distinct(cpus.iter().map(core_of))
}

/// Pins the calling thread. Errors: when none of the CPUs exists or may be used here.
pub fn pin_current_thread(cpus: &CpuSet) -> Result<(), AffinityError> {
    pin_thread(0, cpus)
}

/// Pins a process and all its descendants, including those that start meanwhile. Later ones inherit the mask. Errors:
/// when the process is gone, is another user's, or none of the CPUs may be used.
pub fn pin_process_tree(pid: u32, cpus: &CpuSet) -> Result<(), AffinityError> {
    let tasks = || -> Result<Vec<u32>, AffinityError> {
        let path = format!("/proc/{pid}/task");
        fs::metadata(&path).map_err(|source| AffinityError::Read { what: path, source })?;
        let tree = process_tree(pid).unwrap_or_else(|_| vec![pid]);
        // A descendant that has ended meanwhile has no threads to pin.
        Ok(tree.into_iter().flat_map(|process| thread_ids(process).unwrap_or_default()).collect())
    };
    pin_until_none_is_new(tasks, |tid| match pin_thread(tid, cpus) {
        // A thread that has ended since the listing needs no pinning.
        Err(AffinityError::Refused { source, .. }) if source.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        pinned => pinned,
    })
}

/// Pins all tasks of a list, which inherit the mask of the one that starts them. Those that an unpinned one has started meanwhile
/// are in the next list.
fn pin_until_none_is_new(
    list: impl Fn() -> Result<Vec<u32>, AffinityError>,
    mut pin: impl FnMut(u32) -> Result<(), AffinityError>,
) -> Result<(), AffinityError> {
    let mut seen = HashSet::new();
    for _ in 0..PASSES {
        let new: Vec<u32> = list()?.into_iter().filter(|task| seen.insert(*task)).collect();
        if new.is_empty() {
            break;
        }
        new.into_iter().try_for_each(&mut pin)?;
    }
    Ok(())
}

/// The CPUs that a task is pinned to; 0 means the calling thread.
pub fn cpus_of_task(tid: u32) -> Result<CpuSet, AffinityError> {
    let mask = sched_getaffinity(task(tid))
        .map_err(|e| AffinityError::Read { what: format!("the CPU mask of task {tid}"), source: e.into() })?;
    Ok(CpuSet::from_indices((0..CpuSet::LIMIT).filter(|&cpu| mask.is_set(cpu))))
}

pub(crate) fn kernel_mask(cpus: &CpuSet) -> KernelMask {
    let mut mask = KernelMask::new();
    cpus.iter().filter(|&cpu| cpu < CpuSet::LIMIT).for_each(|cpu| mask.set(cpu));
    mask
}

const _: () = assert!(CpuSet::LIMIT == KernelMask::MAX_CPU);

/// Pins one thread of any process; 0 means the calling thread. Errors: when there is no such task, it is another
/// user's, or none of the CPUs may be used.
fn pin_thread(tid: u32, cpus: &CpuSet) -> Result<(), AffinityError> {
    sched_setaffinity(task(tid), &kernel_mask(cpus)).map_err(|e| AffinityError::Refused {
        tid,
        cpus: cpus.clone(),
        allowed: allowed_cpus().unwrap_or_default(),
        source: e.into(),
    })
}

fn task(tid: u32) -> Option<Pid> {
    i32::try_from(tid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    #[test]
    fn a_pinned_thread_reports_the_cpu_it_was_pinned_to() {
        let one = CpuSet::from_indices(allowed_cpus().unwrap().iter().take(1));
        std::thread::spawn(move || {
            pin_current_thread(&one).unwrap();
            assert_eq!(allowed_cpus().unwrap(), one);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn what_an_unpinned_task_starts_meanwhile_is_pinned_too() {
        let (tasks, pinned) = (RefCell::new(vec![1, 2]), RefCell::new(Vec::new()));
        let pin = |task: u32| {
            // The second one is about to be pinned, and starts two others.
            if task == 2 {
                tasks.borrow_mut().extend([3, 4]);
            }
            pinned.borrow_mut().push(task);
            Ok(())
        };
        pin_until_none_is_new(|| Ok(tasks.borrow().clone()), pin).unwrap();
        assert_eq!(pinned.into_inner(), [1, 2, 3, 4]);
        let endless = Cell::new(0);
        pin_until_none_is_new(|| Ok(vec![endless.replace(endless.get() + 1)]), |_| Ok(())).unwrap();
        assert_eq!(endless.get(), PASSES as u32);
    }

    #[test]
    fn hardware_threads_of_a_core_stand_together_as_far_as_they_are_asked_for() {
        let cores = |cpus: &str, threads_beside: &dyn Fn(usize) -> Option<CpuSet>| {
            let texts: Vec<String> =
                by_core(&cpus.parse().unwrap(), threads_beside).iter().map(CpuSet::to_string).collect();
            texts.join(" ")
        };
        let neighbours = |cpu: usize| Some(CpuSet::from_indices([cpu & !1, cpu | 1]));
        assert_eq!(cores("0-5", &neighbours), "0-1 2-3 4-5");
        assert_eq!(cores("1-4", &neighbours), "1 2-3 4", "a task that may not use all");
        let four_apart = |cpu: usize| Some(CpuSet::from_indices([cpu % 4, cpu % 4 + 4]));
        assert_eq!(cores("0-7", &four_apart), "0,4 1,5 2,6 3,7");
        assert_eq!(cores("0-2", &|_| None), "0 1 2", "a kernel that does not say");
        assert!(!physical_cores(&allowed_cpus().unwrap()).is_empty());
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused_with_those_that_are() {
        let absent = CpuSet::from_indices([CpuSet::LIMIT - 1]);
        std::thread::spawn(move || {
            let error = pin_current_thread(&absent).unwrap_err().to_string();
            assert!(error.contains("may be used here"), "{error}");
        })
        .join()
        .unwrap();
    }
}
