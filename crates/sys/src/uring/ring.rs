//! The two queues shared with the kernel, and the one system call that submits and waits.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};

use crate::clock::{self, Nanos};

/// Size of the submission queue. When it is full, entries are submitted early.
const SUBMISSIONS: u32 = 512;
/// Size of the completion queue. The kernel keeps further completions until there is room.
const COMPLETIONS: u32 = 4096;

/// An io_uring of one thread.
pub(super) struct Ring {
    ring: IoUring,
    /// Whether a wait can have a deadline instead of a length.
    knows_moments: bool,
}

impl Ring {
    /// Opens a ring whose work is done only while its one thread waits.
    ///
    /// # Source
    /// io_uring_setup(2): `DEFER_TASKRUN`, since Linux 6.1, needs `SINGLE_ISSUER`. With `TASKRUN_FLAG` the kernel says
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
        // Both exist since Linux 6.12.
        let knows_moments = ring.params().is_feature_min_timeout();
        Ok(Self { ring, knows_moments })
    }

    /// The ring itself, for registrations.
    pub(super) const fn inner(&self) -> &IoUring {
        &self.ring
    }

    /// Requests one completion, for the moment at which `socket` can be written to or has failed.
    pub(super) fn poll_out(&mut self, socket: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        let entry = opcode::PollAdd::new(Fd(socket.as_raw_fd()), libc::POLLOUT as u32).build().user_data(key);
        // SAFETY: the entry points to no memory.
        unsafe { self.push(&entry) }
    }

    /// Requests all bytes that arrive on `socket`, in buffers of the group.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>, group: u16, key: u64) -> io::Result<()> {
        let entry = opcode::RecvMulti::new(Fd(socket.as_raw_fd()), group).build().user_data(key);
        // SAFETY: the entry points to no memory; the owner of the group keeps the group's memory alive.
        unsafe { self.push(&entry) }
    }

    /// Sends as much as the kernel accepts at the next submission. A completion follows only if that is not everything.
    ///
    /// # Safety
    /// `bytes` must live, unchanged, until [`Ring::enter`] has returned, and not longer. With `MSG_DONTWAIT` the kernel
    /// completes the request during the submission, in part or with "again", and never keeps it.
    ///
    /// # Source
    /// io_uring_enter(2), `IORING_OP_SEND`; send(2).
    pub(super) unsafe fn send(&mut self, socket: BorrowedFd<'_>, bytes: &[u8], key: u64) -> io::Result<()> {
        // With MSG_WAITALL an incomplete send is a failure, which is reported despite SKIP_SUCCESS.
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_WAITALL;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let entry = opcode::Send::new(Fd(socket.as_raw_fd()), bytes.as_ptr(), length)
            .flags(flags)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(key);
        // SAFETY: the caller keeps the bytes alive until the entry has been submitted.
        unsafe { self.push(&entry) }
    }

    /// # Safety
    /// The memory that the entry points to must be valid, as the entry demands, until [`Ring::enter`] has returned.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller's promise.
        if unsafe { self.ring.submission().push(entry) }.is_ok() {
            return Ok(());
        }
        self.ring.submit()?;
        // SAFETY: the caller's promise. If the kernel has taken no entry, it has no memory for more.
        unsafe { self.ring.submission().push(entry) }.map_err(|_| io::ErrorKind::OutOfMemory.into())
    }

    /// Submits everything, lets the kernel do what is due, and waits for a first completion until the deadline. `None`
    /// waits without limit, [`Nanos::ZERO`] not at all. An interrupted wait returns early.
    pub(super) fn enter(&mut self, deadline: Option<Nanos>) -> io::Result<()> {
        let (timeout, how) = match deadline {
            Some(Nanos(ns)) if self.knows_moments => (Some(ns), EnterFlags::ABS_TIMER),
            Some(deadline) => {
                // The length of a wait counts from its start, and submitting takes time.
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
            // SAFETY: `SubmitArgs` is what EXT_ARG demands, and it outlives the call together with its time. Those who
            // queued entries have promised that the memory behind them is valid.
            let entered = unsafe { self.ring.submitter().enter(queued as u32, want, flags, Some(&arguments)) };
            let left = self.ring.submission().len();
            match entered {
                // The kernel accepts as many as it has memory for. The rest is submitted again.
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

    /// Whether the kernel holds back completions because the queue is full.
    pub(super) fn has_overflown(&mut self) -> bool {
        self.ring.submission().cq_overflow()
    }

    /// Whether [`Ring::enter`] would find new completions. It does not count those that the last call left because
    /// there were too many.
    pub(super) fn has_work(&mut self) -> bool {
        let is_flagged = {
            let submission = self.ring.submission();
            submission.taskrun() || submission.cq_overflow()
        };
        is_flagged || !self.ring.completion().is_empty()
    }

    /// The completions since the last call.
    pub(super) fn completions(&mut self) -> impl Iterator<Item = cqueue::Entry> {
        self.ring.completion()
    }
}

/// Whether the wait ended without a completion, or with completions that do not fit the queue yet.
fn is_end_of_wait(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY))
}
