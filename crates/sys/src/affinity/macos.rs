//! CPUs on macOS, where the scheduler alone decides which thread runs on which of them.

use std::thread::available_parallelism;

use super::{AffinityError, CpuSet};

pub(crate) use NoMask as KernelMask;

/// Stands for a set of CPUs that the kernel would not take.
pub(crate) struct NoMask;

/// Every CPU that is online.
///
/// # Errors
/// When the system does not say how many there are.
pub fn online_cpus() -> Result<CpuSet, AffinityError> {
    let count = available_parallelism()
        .map_err(|source| AffinityError::Read { what: "the number of CPUs".to_owned(), source })?;
    Ok(CpuSet::from_indices(0..count.get()))
}

/// The CPUs that a task may use: all of them.
///
/// # Errors
/// As for [`online_cpus`].
pub fn cpus_of_task(_tid: u32) -> Result<CpuSet, AffinityError> {
    online_cpus()
}

/// The set as a mask of the kernel, which has none.
pub(crate) const fn kernel_mask(_cpus: &CpuSet) -> NoMask {
    NoMask
}

/// Pins no thread.
///
/// # Errors
/// Always [`AffinityError::Unavailable`].
pub const fn pin_thread(_tid: u32, _cpus: &CpuSet) -> Result<(), AffinityError> {
    Err(AffinityError::Unavailable)
}

/// Pins no process.
///
/// # Errors
/// Always [`AffinityError::Unavailable`].
pub const fn pin_process(_pid: u32, _cpus: &CpuSet) -> Result<(), AffinityError> {
    Err(AffinityError::Unavailable)
}
