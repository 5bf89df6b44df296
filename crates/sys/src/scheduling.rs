//! How the kernel schedules a program's threads: the policy of a whole program, and the priority of single threads.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub use self::linux::set_thread_nice;
#[cfg(target_os = "macos")]
pub use self::macos::set_thread_nice;

/// The scheduling policy of a program, inherited by every thread and process that it starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SchedulingPolicy {
    /// `SCHED_OTHER`, the kernel's default: a thread that wakes up may preempt the running one.
    #[default]
    Normal,
    /// `SCHED_BATCH`: a thread that wakes up waits for its turn. This means fewer context switches. It needs no
    /// privilege. macOS does not have it.
    Batch,
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
