//! How the kernel schedules a program's threads: the policy of a whole program, and the priority of single threads.

use std::io;

pub use tare_units::SchedulingPolicy;

/// The kernel's number of a policy.
///
/// # Source
/// sched(7).
pub(crate) const fn number(policy: SchedulingPolicy) -> i32 {
    match policy {
        SchedulingPolicy::Normal => libc::SCHED_OTHER,
        SchedulingPolicy::Batch => libc::SCHED_BATCH,
    }
}

/// The policy of a thread; `None` for policies that tare does not set, such as real-time ones.
pub fn policy_of_thread(tid: u32) -> io::Result<Option<SchedulingPolicy>> {
    // SAFETY: the call takes and returns plain numbers. It is the system call itself: musl's function only fails.
    match unsafe { libc::syscall(libc::SYS_sched_getscheduler, tid) } as i32 {
        libc::SCHED_OTHER => Ok(Some(SchedulingPolicy::Normal)),
        libc::SCHED_BATCH => Ok(Some(SchedulingPolicy::Batch)),
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(None),
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
            assert_eq!(policy_of_thread(tid).unwrap(), Some(SchedulingPolicy::Normal));
            set_thread_nice(tid, 19).unwrap();
        })
        .join()
        .unwrap();
        assert!(set_thread_nice((1 << 22) + 1, 19).is_err());
    }
}
