//! The selector on kqueue. It compiles, and it has never run.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::batch::Batch;
use super::socket_report::{Filter, Readiness};

/// Longest wait: a day. The kernel refuses waits of some years. A wait that returns early has no reports.
const LONGEST_WAIT_NS: u64 = 24 * 3600 * 1_000_000_000;

/// Watches sockets with a kqueue. `EV_CLEAR` makes it report bytes once per change, like edge-triggered epoll. Room to write
/// is reported once when it is asked for (`EV_ONESHOT`), because every acknowledgement of sent bytes would be a change.
pub(super) struct KqueueSelector {
    kqueue: OwnedFd,
    batch: Batch<libc::kevent>,
}

impl KqueueSelector {
    /// Opens a kqueue.
    ///
    /// # Errors
    /// When no file descriptor is left.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: the call takes nothing and returns a descriptor of ours, or −1.
        let kqueue = unsafe { libc::kqueue() };
        if kqueue < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is open, and nobody else has it.
        let kqueue = unsafe { OwnedFd::from_raw_fd(kqueue) };
        rustix::io::fcntl_setfd(&kqueue, rustix::io::FdFlags::CLOEXEC)?;
        Ok(Self { kqueue, batch: Batch::new() })
    }

    /// Watches a socket for bytes and its end, until it is closed, and for the end of its connect. Reports are under `key`.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn watch(&self, socket: &OwnedFd, key: u64) -> io::Result<()> {
        self.add(&[bytes(socket, key), room(socket, key)])
    }

    /// Asks for a report once more bytes can be written to a watched socket.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn watch_room(&self, socket: &OwnedFd, key: u64) -> io::Result<()> {
        self.add(&[room(socket, key)])
    }

    fn add(&self, changes: &[libc::kevent]) -> io::Result<()> {
        let kqueue = self.kqueue.as_raw_fd();
        // SAFETY: the changes have the stated number, and without room for reports none is written. `udata` is
        // a number, which the kernel returns as it is.
        let added = unsafe {
            libc::kevent(kqueue, changes.as_ptr(), changes.len() as _, std::ptr::null_mut(), 0, std::ptr::null())
        };
        if added < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Waits for a first report, at most this long; `None` waits without limit. An interrupted wait has no reports.
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub(super) fn wait(&mut self, timeout_ns: Option<u64>) -> io::Result<()> {
        let timeout = timeout_ns
            .map(|ns| ns.min(LONGEST_WAIT_NS))
            .map(|ns| libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ });
        let timeout_ptr = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let kqueue = self.kqueue.as_raw_fd();
        let (room, most) = self.batch.room();
        // SAFETY: the descriptor is open for as long as `self`; there is room for `most` reports; the timeout is null or
        // points to a local that outlives the call; there are no changes. The call writes into the room of the batch,
        // and returns the number of reports or −1.
        unsafe {
            let returned = libc::kevent(kqueue, std::ptr::null(), 0, room, most, timeout_ptr);
            self.batch.take(i64::from(returned))
        }
    }

    /// How many reports the last wait returned.
    pub(super) fn count(&self) -> usize {
        self.batch.count()
    }

    /// One report of the last wait; `index` is below their count.
    pub(super) fn readiness_at(&self, index: usize) -> Readiness {
        let event = self.batch.report(index);
        let filter = if event.filter == libc::EVFILT_READ { Filter::Read } else { Filter::Write };
        let has_ended = event.flags & (libc::EV_EOF | libc::EV_ERROR) != 0;
        Readiness::of_filter(event.udata.addr() as u64, filter, has_ended)
    }
}

/// A request to report all bytes that arrive, and the end.
fn bytes(socket: &OwnedFd, key: u64) -> libc::kevent {
    change(socket, key, libc::EVFILT_READ, libc::EV_ADD | libc::EV_CLEAR)
}

/// A request to report room to write, once.
fn room(socket: &OwnedFd, key: u64) -> libc::kevent {
    change(socket, key, libc::EVFILT_WRITE, libc::EV_ADD | libc::EV_ONESHOT)
}

fn change(socket: &OwnedFd, key: u64, filter: i16, flags: u16) -> libc::kevent {
    let udata = std::ptr::without_provenance_mut(key as usize);
    libc::kevent { ident: socket.as_raw_fd() as usize, filter, flags, fflags: 0, data: 0, udata }
}
