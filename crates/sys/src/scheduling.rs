//! How the kernel schedules a program's threads: the policy of a whole program, and the priority of single threads.

use std::io;

/// The scheduling policy of a program, inherited by every thread and process that it starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SchedulingPolicy {
    /// `SCHED_OTHER`, the kernel's default: a thread that wakes up may preempt the running one.
    #[default]
    Normal,
    /// `SCHED_BATCH`: a thread that wakes up waits for its turn. This means fewer context switches. It needs no
    /// privilege.
    Batch,
}

impl SchedulingPolicy {
    /// The kernel's number of the policy.
    ///
    /// # Source
    /// sched(7).
    pub(crate) const fn number(self) -> i32 {
        match self {
            Self::Normal => libc::SCHED_OTHER,
            Self::Batch => libc::SCHED_BATCH,
        }
    }

    /// The policy of a thread; `None` for policies that tare does not set, such as real-time ones.
    ///
    /// # Errors
    /// When the thread is gone.
    pub fn of_thread(tid: u32) -> io::Result<Option<Self>> {
        // SAFETY: the call takes and returns plain numbers. It is the system call itself: musl's function only fails.
        match unsafe { libc::syscall(libc::SYS_sched_getscheduler, tid) } as i32 {
            libc::SCHED_OTHER => Ok(Some(Self::Normal)),
            libc::SCHED_BATCH => Ok(Some(Self::Batch)),
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(None),
        }
    }
}

/// Sets the nice value of one thread: −20 is the most favourable, 19 the least.
///
/// # Errors
/// When the thread is gone, or a lower value is not permitted (only for root or with `CAP_SYS_NICE`).
///
/// # Source
/// setpriority(2): on Linux the value belongs to a thread, contrary to POSIX.
pub fn set_thread_nice(tid: u32, nice: i32) -> io::Result<()> {
    // SAFETY: the call takes plain numbers.
    match unsafe { libc::setpriority(libc::PRIO_PROCESS, tid, nice) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_and_nice_value_of_a_thread_can_be_read_and_changed() {
        // A nice value can always be raised, so this test needs no privilege.
        std::thread::spawn(|| {
            let tid = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
            assert_eq!(SchedulingPolicy::of_thread(tid).unwrap(), Some(SchedulingPolicy::Normal));
            set_thread_nice(tid, 19).unwrap();
        })
        .join()
        .unwrap();
        assert!(set_thread_nice((1 << 22) + 1, 19).is_err());
    }
}
