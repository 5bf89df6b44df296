//! The CPUs that tasks may use, and pinning of threads, tasks and whole processes to a set of them. The plan decides
//! which cores are the server's and which the generator's.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::io;

use tare_units::CpuListError;
pub use tare_units::CpuSet;

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;
use crate::procfs;

pub(crate) use self::system::{KernelMask, kernel_mask};
pub use self::system::{cpus_of_task, online_cpus, pin_process, pin_thread};

/// Why the CPUs of a task could not be read or set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AffinityError {
    /// A list of CPUs could not be parsed.
    #[error(transparent)]
    List(#[from] CpuListError),
    /// The kernel refused.
    #[error("cannot pin task {tid} to CPUs {cpus}: {source}; CPUs that may be used here: {allowed}")]
    Refused {
        /// The task, 0 for the calling thread.
        tid: u32,
        /// The requested set.
        cpus: CpuSet,
        /// The set that this process may use.
        allowed: CpuSet,
        /// The kernel's reason.
        source: io::Error,
    },
    /// `/proc` or the CPU mask could not be read.
    #[error("cannot read {what}: {source}")]
    Read {
        /// The file or system call.
        what: String,
        /// The kernel's reason.
        source: io::Error,
    },
    /// Programs cannot choose their CPUs on this system.
    #[error("macOS does not let programs choose their CPUs")]
    Unavailable,
}

/// Every CPU that this thread may run on, within the limits of `taskset`, cpusets and containers.
///
/// # Errors
/// [`AffinityError::Read`] when the kernel does not return the mask.
pub fn allowed_cpus() -> Result<CpuSet, AffinityError> {
    cpus_of_task(0)
}

/// Pins the calling thread.
///
/// # Errors
/// When none of the CPUs exists or may be used here, and [`AffinityError::Unavailable`] on macOS.
pub fn pin_current_thread(cpus: &CpuSet) -> Result<(), AffinityError> {
    pin_thread(0, cpus)
}

/// Pins a process and all its current descendants. Later ones inherit the mask.
///
/// # Errors
/// When the process is gone, is another user's, or none of the CPUs may be used, and [`AffinityError::Unavailable`] on
/// macOS.
pub fn pin_process_tree(pid: u32, cpus: &CpuSet) -> Result<(), AffinityError> {
    pin_process(pid, cpus)?;
    let descendants = procfs::process::process_tree(pid).unwrap_or_default();
    for descendant in descendants.into_iter().skip(1) {
        // A descendant that has ended meanwhile cannot be listed and needs no pinning.
        match pin_process(descendant, cpus) {
            Err(AffinityError::Read { .. }) => {}
            other => other?,
        }
    }
    Ok(())
}

/// The result without [`AffinityError::Unavailable`]: where programs cannot choose their CPUs, threads run on any of them.
///
/// # Errors
/// Any other.
pub fn ignore_unavailable(pinned: Result<(), AffinityError>) -> Result<(), AffinityError> {
    match pinned {
        Err(AffinityError::Unavailable) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
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
    fn a_cpu_that_is_not_there_is_refused_with_those_that_are() {
        let absent = CpuSet::from_indices([CpuSet::LIMIT - 1]);
        std::thread::spawn(move || {
            let error = pin_current_thread(&absent).unwrap_err().to_string();
            assert!(error.contains("may be used here"), "{error}");
        })
        .join()
        .unwrap();
    }

    #[test]
    fn every_allowed_cpu_is_online() {
        assert!(allowed_cpus().unwrap().difference(&online_cpus().unwrap()).is_empty());
    }

    #[test]
    fn only_where_no_program_can_choose_its_cpus_is_a_missing_pin_no_error() {
        assert!(ignore_unavailable(Ok(())).is_ok() && ignore_unavailable(Err(AffinityError::Unavailable)).is_ok());
        let refused = AffinityError::Read { what: "the mask".to_owned(), source: io::ErrorKind::Other.into() };
        assert!(ignore_unavailable(Err(refused)).is_err());
    }
}
