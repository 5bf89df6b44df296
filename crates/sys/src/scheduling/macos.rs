//! Scheduling on macOS, where no policy can be chosen for a thread of another process.

use std::io;

use super::SchedulingPolicy;

impl SchedulingPolicy {
    /// The policy of a thread: there is one for all.
    ///
    /// # Errors
    /// Never.
    pub const fn of_thread(_tid: u32) -> io::Result<Option<Self>> {
        Ok(Some(Self::Normal))
    }
}

/// Sets no nice value: it belongs to a whole process.
///
/// # Errors
/// Always.
pub fn set_thread_nice(_tid: u32, _nice: i32) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "macOS has no nice value of a single thread"))
}
