//! Watches sockets with epoll, and returns its reports.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::raw::c_int;

use rustix::event::epoll;

/// Largest number of reports that one wait returns.
const LARGEST: usize = 256;

/// What the kernel reports of one socket. It reports each change once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Readiness {
    /// The number under which the socket is watched.
    pub key: u64,
    /// The socket may accept bytes, or its connect has ended.
    pub is_writable: bool,
    /// The socket may have bytes, new connections, its end or an error.
    pub is_readable: bool,
    /// The peer has ended the stream, or the socket has failed. Only another read can return that.
    pub is_ending: bool,
}

/// Watches sockets, edge-triggered.
pub(super) struct Epoll {
    epoll: OwnedFd,
    /// Reports of the last wait. The same memory serves every wait.
    reports: Vec<libc::epoll_event>,
    has_pwait2: bool,
}

impl Epoll {
    /// Opens an epoll instance.
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, reports: Vec::with_capacity(LARGEST), has_pwait2: true })
    }

    /// Watches a socket for all reports under `key`, until it is closed: the only `epoll_ctl` in its life.
    pub(super) fn watch(&self, socket: &OwnedFd, key: u64) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(key), flags)?)
    }

    /// Waits for a first report, at most this long; `None` waits without limit. An interrupted wait has no reports.
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
        self.reports.clear();
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
    pub(super) fn readiness_at(&self, index: usize) -> Readiness {
        let event = &self.reports[index];
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
        let (room, most) = (self.reports.as_mut_ptr(), LARGEST as c_int);
        // SAFETY: the descriptor is open for as long as `self`; there is room for `most` events; the timeout is null or
        // points to a local that outlives the call; a null mask leaves the signals alone.
        unsafe {
            libc::syscall(libc::SYS_epoll_pwait2, self.epoll.as_raw_fd(), room, most, timeout_ptr, no_mask, 0_usize)
        }
    }

    fn wait_whole_ms(&mut self, timeout_ns: Option<u64>) -> i64 {
        // Rounded up: a wake-up before the deadline would make the caller spin until then.
        let timeout_ms = timeout_ns.map_or(-1, |ns| i32::try_from(ns.div_ceil(1_000_000)).unwrap_or(i32::MAX));
        let (room, most) = (self.reports.as_mut_ptr(), LARGEST as c_int);
        // SAFETY: the descriptor is open for as long as `self`, and there is room for `most` events.
        i64::from(unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), room, most, timeout_ms) })
    }
}
