//! The selector on epoll.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::epoll;

use super::batch::Batch;
use super::socket_report::Readiness;

/// Watches sockets with epoll, edge-triggered.
pub(super) struct EpollSelector {
    epoll: OwnedFd,
    batch: Batch<libc::epoll_event>,
    has_pwait2: bool,
}

impl EpollSelector {
    /// Opens an epoll instance.
    ///
    /// # Errors
    /// When no file descriptor is left.
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, batch: Batch::new(), has_pwait2: true })
    }

    /// Watches a socket for all reports under `key`, until it is closed: the only `epoll_ctl` in its life.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn watch(&self, socket: &OwnedFd, key: u64) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(key), flags)?)
    }

    /// Asks for a report once more bytes can be written to a watched socket. Epoll reports that without a request.
    ///
    /// # Errors
    /// Never.
    #[inline]
    pub(super) const fn watch_room(&self, _socket: &OwnedFd, _key: u64) -> io::Result<()> {
        Ok(())
    }

    /// Waits for a first report, at most this long; `None` waits without limit. An interrupted wait has no reports.
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub(super) fn wait(&mut self, timeout_ns: Option<u64>) -> io::Result<()> {
        let mut returned = -1;
        if self.has_pwait2 {
            returned = self.pwait2(timeout_ns);
            if returned < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) {
                self.has_pwait2 = false;
            }
        }
        if !self.has_pwait2 {
            returned = self.wait_whole_ms(timeout_ns);
        }
        // SAFETY: both calls write into the room of the batch, and return the number of reports or −1.
        unsafe { self.batch.take(returned) }
    }

    /// How many reports the last wait returned.
    pub(super) fn count(&self) -> usize {
        self.batch.count()
    }

    /// One report of the last wait; `index` is below their count.
    pub(super) fn readiness_at(&self, index: usize) -> Readiness {
        let event = self.batch.report(index);
        let has = |flags: libc::c_int| event.events & flags as u32 != 0;
        let is_ending = has(libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR);
        Readiness {
            key: event.u64,
            is_writable: has(libc::EPOLLOUT),
            is_readable: has(libc::EPOLLIN) || is_ending,
            is_ending,
        }
    }

    /// epoll_pwait2(2), since Linux 5.11: the wait ends at the nanosecond, not at the next millisecond.
    fn pwait2(&mut self, timeout_ns: Option<u64>) -> i64 {
        let timeout = timeout_ns
            .map(|ns| libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ });
        let timeout_ptr = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let no_mask = std::ptr::null::<libc::sigset_t>();
        let (room, most) = self.batch.room();
        // SAFETY: the descriptor is open for as long as `self`; there is room for `most` events; the timeout is null or
        // points to a local that outlives the call; a null mask leaves the signals alone.
        unsafe {
            libc::syscall(libc::SYS_epoll_pwait2, self.epoll.as_raw_fd(), room, most, timeout_ptr, no_mask, 0_usize)
        }
    }

    fn wait_whole_ms(&mut self, timeout_ns: Option<u64>) -> i64 {
        // Rounded up: a wake-up before the deadline would make the caller spin until then.
        let timeout_ms = timeout_ns.map_or(-1, |ns| i32::try_from(ns.div_ceil(1_000_000)).unwrap_or(i32::MAX));
        let (room, most) = self.batch.room();
        // SAFETY: the descriptor is open for as long as `self`, and there is room for `most` events.
        i64::from(unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), room, most, timeout_ms) })
    }
}
