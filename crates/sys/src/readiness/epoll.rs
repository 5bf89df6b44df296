//! Watches sockets with epoll, and returns its reports.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

/// Largest number of reports that one wait returns.
const LARGEST: usize = 256;

/// What is watched of a socket.
const ALL: epoll::EventFlags =
    epoll::EventFlags::IN.union(epoll::EventFlags::OUT).union(epoll::EventFlags::RDHUP).union(epoll::EventFlags::ET);

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
    reports: Vec<epoll::Event>,
}

impl Epoll {
    pub(super) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, reports: Vec::with_capacity(LARGEST) })
    }

    /// Watches a socket for all reports under `key`, until it is closed: mostly the only `epoll_ctl` in its life.
    pub(super) fn watch(&self, socket: &OwnedFd, key: u64) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(key), ALL)?)
    }

    /// Reports a watched socket under another key from now on, beginning with what holds of it now.
    pub(super) fn rewatch(&self, socket: &OwnedFd, key: u64) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, epoll::EventData::new_u64(key), ALL)?)
    }

    /// Waits for a first report, at most this long; `None` waits without limit. An interrupted wait has no reports.
    /// Errors: on a kernel older than Linux 5.11: its waits end at whole milliseconds.
    pub(super) fn wait(&mut self, timeout_ns: Option<u64>) -> io::Result<()> {
        self.reports.clear();
        let timeout = timeout_ns.and_then(|ns| Timespec::try_from(Duration::from_nanos(ns)).ok());
        match epoll::wait(&self.epoll, spare_capacity(&mut self.reports), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(Errno::NOSYS) => {
                Err(io::Error::other("this kernel has no epoll_pwait2; tare needs Linux 5.11 or newer"))
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// How many reports the last wait returned.
    pub(super) fn count(&self) -> usize {
        self.reports.len()
    }

    /// One report of the last wait; `index` is below their count.
    pub(super) fn readiness_at(&self, index: usize) -> Readiness {
        let epoll::Event { flags, data } = self.reports[index];
        let has = |any: epoll::EventFlags| flags.intersects(any);
        let is_ending = has(epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR);
        Readiness {
            key: data.u64(),
            is_writable: has(epoll::EventFlags::OUT),
            is_readable: has(epoll::EventFlags::IN) || is_ending,
            is_ending,
        }
    }
}
