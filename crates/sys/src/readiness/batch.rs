//! The reports of one wait, in memory that the kernel writes to.

use std::io;
use std::os::raw::c_int;

/// Largest number of reports that one wait returns.
const LARGEST: usize = 256;

/// Reports of the last wait; `R` is the kernel's form of one. The same memory serves every wait.
pub(super) struct Batch<R> {
    reports: Vec<R>,
}

impl<R> Batch<R> {
    pub(super) fn new() -> Self {
        Self { reports: Vec::with_capacity(LARGEST) }
    }

    /// Forgets the reports. Returns where the kernel may write new ones, and how many.
    pub(super) fn room(&mut self) -> (*mut R, c_int) {
        self.reports.clear();
        (self.reports.as_mut_ptr(), LARGEST as c_int)
    }

    /// Takes what a wait has returned: the number of its reports, or a negative number and an error of the system.
    /// An interrupted wait has no reports.
    ///
    /// # Errors
    /// The error of the system.
    ///
    /// # Safety
    /// The kernel has written as many reports into the [`room`](Self::room) as `returned` says.
    pub(super) unsafe fn take(&mut self, returned: i64) -> io::Result<()> {
        let Ok(count) = usize::try_from(returned) else {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) };
        };
        debug_assert!(count <= LARGEST, "the kernel was given room for {LARGEST} reports");
        // SAFETY: the capacity is LARGEST, the limit of the wait, and the kernel has written the first `count`.
        unsafe { self.reports.set_len(count) };
        Ok(())
    }

    /// How many reports the last wait returned.
    pub(super) fn count(&self) -> usize {
        self.reports.len()
    }

    /// One report of the last wait; `index` is below their count.
    pub(super) fn report(&self, index: usize) -> &R {
        &self.reports[index]
    }
}
