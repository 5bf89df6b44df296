//! How the kernel schedules the threads of a program.

crate::named_values! {
    /// The scheduling policy of a program, inherited by every thread and process that it starts.
    #[derive(Default)]
    pub enum SchedulingPolicy: "a scheduling policy" {
        /// `SCHED_OTHER`, the kernel's default: a thread that wakes up may preempt the one that runs.
        #[default]
        Normal = "normal",
        /// `SCHED_BATCH`: a thread that wakes up waits for its turn. This means fewer context switches. It needs no privilege.
        Batch = "batch",
    }
}
