//! CPU masks on Linux.

use std::collections::HashSet;
use std::fs;

use rustix::thread::{Pid, sched_getaffinity, sched_setaffinity};

use super::{AffinityError, CpuSet, allowed_cpus};

/// A set of CPUs as the kernel takes it.
pub(crate) type KernelMask = rustix::thread::CpuSet;

/// Every CPU that is online, including those that this process may not use.
///
/// # Errors
/// [`AffinityError::Read`] when `/sys/devices/system/cpu/online` cannot be read.
pub fn online_cpus() -> Result<CpuSet, AffinityError> {
    let path = "/sys/devices/system/cpu/online";
    let text = fs::read_to_string(path).map_err(|source| AffinityError::Read { what: path.into(), source })?;
    Ok(text.trim().parse()?)
}

/// The CPUs that a task is pinned to; 0 means the calling thread.
///
/// # Errors
/// [`AffinityError::Read`] when there is no such task.
pub fn cpus_of_task(tid: u32) -> Result<CpuSet, AffinityError> {
    let mask = sched_getaffinity(task(tid))
        .map_err(|e| AffinityError::Read { what: format!("the CPU mask of task {tid}"), source: e.into() })?;
    Ok(CpuSet::from_indices((0..CpuSet::LIMIT).filter(|&cpu| mask.is_set(cpu))))
}

/// The set as a mask of the kernel.
pub(crate) fn kernel_mask(cpus: &CpuSet) -> KernelMask {
    let mut mask = KernelMask::new();
    cpus.iter().filter(|&cpu| cpu < CpuSet::LIMIT).for_each(|cpu| mask.set(cpu));
    mask
}

const _: () = assert!(CpuSet::LIMIT == KernelMask::MAX_CPU);

/// Pins one thread of any process; 0 means the calling thread.
///
/// # Errors
/// When there is no such task, it is another user's, or none of the CPUs may be used.
pub fn pin_thread(tid: u32, cpus: &CpuSet) -> Result<(), AffinityError> {
    sched_setaffinity(task(tid), &kernel_mask(cpus)).map_err(|e| AffinityError::Refused {
        tid,
        cpus: cpus.clone(),
        allowed: allowed_cpus().unwrap_or_default(),
        source: e.into(),
    })
}

/// Pins every thread of a process, including those that start meanwhile. A new thread inherits its creator's mask, so
/// passes are repeated until one finds no new thread. For a process that never stops starting threads, the number of
/// passes is limited: by then every creator is pinned.
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
            match pin_thread(tid, cpus) {
                // A thread that has ended since the listing needs no pinning.
                Err(AffinityError::Refused { source, .. }) if source.raw_os_error() == Some(libc::ESRCH) => {}
                other => other?,
            }
        }
    }
    Ok(())
}

fn task(tid: u32) -> Option<Pid> {
    i32::try_from(tid).ok().and_then(Pid::from_raw)
}
