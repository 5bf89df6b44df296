//! Limits on Linux.

/// The folder with an entry for each open file of this process.
pub(super) const OPEN_FILES: &str = "/proc/self/fd";

/// The most open files that a process may ask for: the hard limit decides.
pub(super) const fn most_open_files() -> u64 {
    u64::MAX
}
