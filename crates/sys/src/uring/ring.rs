//! The two queues that are shared with the kernel, and the one system call that hands over and waits.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};

use crate::clock::{self, Nanos};

/// Room for what is handed over at once; more is handed over in between.
const SUBMISSIONS: u32 = 512;
/// Room for what the kernel has done; more is kept by the kernel until there is room again.
const COMPLETIONS: u32 = 4096;

/// An io_uring of one thread.
pub(super) struct Ring {
    ring: IoUring,
    /// Whether a wait may be given the moment of its end rather than its length.
    knows_moments: bool,
}

impl Ring {
    /// Opens a ring whose work is done only while its one thread waits.
    ///
    /// # Source
    /// io_uring_setup(2): `DEFER_TASKRUN`, which came with Linux 6.1, needs `SINGLE_ISSUER`; `TASKRUN_FLAG` has the kernel say
    /// in shared memory that there is work.
    pub(super) fn new() -> io::Result<Self> {
        let mut builder = IoUring::builder();
        builder
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .dontfork();
        let ring = builder.build(SUBMISSIONS)?;
        // Both came with Linux 6.12.
        let knows_moments = ring.params().is_feature_min_timeout();
        Ok(Self { ring, knows_moments })
    }

    /// The ring itself, for registrations.
    pub(super) const fn inner(&self) -> &IoUring {
        &self.ring
    }

    /// Asks once for the moment at which `socket` can be written to, or has failed.
    pub(super) fn poll_out(&mut self, socket: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        let entry = opcode::PollAdd::new(Fd(socket.as_raw_fd()), libc::POLLOUT as u32).build().user_data(key);
        // SAFETY: the entry points to no memory.
        unsafe { self.push(&entry) }
    }

    /// Asks for everything that arrives on `socket`, in buffers of the group.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>, group: u16, key: u64) -> io::Result<()> {
        let entry = opcode::RecvMulti::new(Fd(socket.as_raw_fd()), group).build().user_data(key);
        // SAFETY: the entry points to no memory; that of the group is its owner's affair.
        unsafe { self.push(&entry) }
    }

    /// Sends at the next submission what the kernel takes at once; a completion comes only if that is not everything.
    ///
    /// # Safety
    /// `bytes` must live, unchanged, until [`Ring::enter`] has returned. They need not live longer: `MSG_DONTWAIT` has
    /// the kernel complete the request while it is handed over, in part or with "again", rather than hold it back.
    ///
    /// # Source
    /// io_uring_enter(2), `IORING_OP_SEND`; send(2).
    pub(super) unsafe fn send(&mut self, socket: BorrowedFd<'_>, bytes: &[u8], key: u64) -> io::Result<()> {
        // With MSG_WAITALL a send that falls short is a failure and is told in spite of SKIP_SUCCESS.
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_WAITALL;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(Fd(socket.as_raw_fd()), bytes.as_ptr(), length)
            .flags(flags)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(key);
        // SAFETY: the caller keeps the bytes until the entry has been handed over.
        unsafe { self.push(&entry) }
    }

    /// # Safety
    /// As the entry demands of the memory that it points to, until [`Ring::enter`] has returned.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller's promise.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }

    /// Hands over everything, lets the kernel do what is due, and waits for a first completion until the deadline
    /// (`None`: without end; [`Nanos::ZERO`]: not at all). A wait that is interrupted returns early.
    pub(super) fn enter(&mut self, deadline: Option<Nanos>) -> io::Result<()> {
        let (timeout, how) = match deadline {
            Some(Nanos(ns)) if self.knows_moments => (Some(ns), EnterFlags::ABS_TIMER),
            Some(deadline) => {
                // The length of a wait counts from its beginning, and to hand over takes a while.
                self.ring.submit()?;
                (Some(deadline.since(clock::now())), EnterFlags::empty())
            }
            None => (None, EnterFlags::empty()),
        };
        let timeout = timeout.map(|ns| Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32));
        let arguments = match &timeout {
            Some(timeout) => SubmitArgs::new().timespec(timeout),
            None => SubmitArgs::new(),
        };
        let flags = (EnterFlags::GETEVENTS | EnterFlags::EXT_ARG | how).bits();
        let want = u32::from(deadline != Some(Nanos::ZERO));
        loop {
            let queued = self.ring.submission().len();
            // SAFETY: `SubmitArgs` is what EXT_ARG demands; it and the time that it points to outlive the call. The
            // memory that queued entries point to is alive by the promise of those who queued them.
            let entered = unsafe { self.ring.submitter().enter(queued as u32, want, flags, Some(&arguments)) };
            let left = self.ring.submission().len();
            match entered {
                // The kernel takes as many as it has memory for; the others are offered again.
                Ok(_) if left == 0 || left < queued => {}
                Err(error) if left == 0 && is_end_of_wait(&error) => {}
                Ok(_) => return Err(io::ErrorKind::OutOfMemory.into()),
                Err(error) => return Err(error),
            }
            if left == 0 {
                return Ok(());
            }
        }
    }

    /// Whether the kernel holds back completions for want of room.
    pub(super) fn has_overflown(&mut self) -> bool {
        self.ring.submission().cq_overflow()
    }

    /// Whether there is anything for [`Ring::enter`] to bring to light. What it left for the next time, because it was much,
    /// is not told of.
    pub(super) fn has_work(&mut self) -> bool {
        let is_flagged = {
            let submission = self.ring.submission();
            submission.taskrun() || submission.cq_overflow()
        };
        is_flagged || !self.ring.completion().is_empty()
    }

    /// What the kernel has done since the last look.
    pub(super) fn completions(&mut self) -> impl Iterator<Item = cqueue::Entry> {
        self.ring.completion()
    }
}

/// Whether the wait has ended without a completion, or with completions that there is no room for yet.
fn is_end_of_wait(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY))
}
