//! Limits on macOS.

use crate::procfs::sysctl;

/// The folder with an entry for each open file of this process.
pub(super) const OPEN_FILES: &str = "/dev/fd";

/// The most open files that a process may ask for. The kernel refuses more, even where the hard limit has no number.
pub(super) fn most_open_files() -> u64 {
    sysctl::number(c"kern.maxfilesperproc").unwrap_or(10_240)
}
