//! The poller on epoll: edge-triggered. Each socket is registered once, read until a read is short, and written at
//! once. Errors of a socket become events, and the caller decides what they mean for a request.

mod transport;

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::net::RecvFlags;

use self::transport::EpollState;
use crate::clock::{self, Nanos};
use crate::poll::{CloseCause, Event, Handler, Poller, Token};
use crate::stamps::{StampLog, StampPair};

pub use self::transport::EpollTransport;

/// Largest number of events that one wait returns.
const BATCH_EVENTS: usize = 256;
/// The only receive buffer: larger than most answers, and small enough for the cache.
const BUFFER_BYTES: usize = 64 * 1024;
/// Full buffers that are read from one connection before the others are read.
const READS_PER_TURN: usize = 16;

/// A [`Poller`] on epoll.
pub struct EpollPoller {
    transport: EpollTransport,
    ready: Vec<libc::epoll_event>,
    buffer: Box<[u8]>,
    has_pwait2: bool,
    /// The kernel's own stamps, if they are to be compared.
    stamps: Option<StampLog>,
}

impl EpollPoller {
    /// Opens an epoll instance.
    ///
    /// # Errors
    /// When no file descriptor is left.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            transport: EpollTransport::new()?,
            ready: Vec::with_capacity(BATCH_EVENTS),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            has_pwait2: true,
            stamps: None,
        })
    }

    /// Also records the kernel's own stamp of all received bytes from now on. This makes receives slower.
    pub fn compare_stamps(&mut self) {
        self.stamps = Some(StampLog::new());
    }

    /// The pairs of stamps since the last call.
    pub fn take_stamps(&mut self) -> Vec<StampPair> {
        self.stamps.as_mut().map_or_else(Vec::new, StampLog::take)
    }

    fn wait_for_kernel(&mut self, deadline: Option<Nanos>) -> io::Result<()> {
        let look_only = !self.transport.failed.is_empty() || !self.transport.unread.is_empty();
        let timeout_ns = match deadline {
            _ if look_only => Some(0),
            Some(deadline) => Some(deadline.since(clock::now())),
            None => None,
        };
        self.ready.clear();
        let mut count = -1;
        if self.has_pwait2 {
            count = self.pwait2(timeout_ns);
            if count < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS) {
                self.has_pwait2 = false;
            }
        }
        if !self.has_pwait2 {
            count = self.wait_whole_ms(timeout_ns);
        }
        if count < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) };
        }
        // SAFETY: the capacity is BATCH_EVENTS, which is also the limit of the call, and the kernel has written the
        // first `count`.
        unsafe { self.ready.set_len(count as usize) };
        Ok(())
    }

    /// epoll_pwait2(2), since Linux 5.11: the wait ends at the nanosecond, not at the next millisecond.
    fn pwait2(&mut self, timeout_ns: Option<u64>) -> i64 {
        let timeout = timeout_ns
            .map(|ns| libc::timespec { tv_sec: (ns / 1_000_000_000) as _, tv_nsec: (ns % 1_000_000_000) as _ });
        let timeout_ptr = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let no_mask = std::ptr::null::<libc::sigset_t>();
        // SAFETY: the descriptor is open for as long as `self`; `ready` has room for BATCH_EVENTS events; the timeout
        // is null or points to a local that outlives the call; a null mask leaves the signals alone.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.transport.epoll.as_raw_fd(),
                self.ready.as_mut_ptr(),
                BATCH_EVENTS as libc::c_int,
                timeout_ptr,
                no_mask,
                0_usize,
            )
        }
    }

    fn wait_whole_ms(&mut self, timeout_ns: Option<u64>) -> i64 {
        // Rounded up: a wake-up before the deadline would make the caller spin until then.
        let timeout_ms = timeout_ns.map_or(-1, |ns| i32::try_from(ns.div_ceil(1_000_000)).unwrap_or(i32::MAX));
        // SAFETY: the descriptor is open for as long as `self`, and `ready` has room for BATCH_EVENTS events.
        let count = unsafe {
            libc::epoll_wait(
                self.transport.epoll.as_raw_fd(),
                self.ready.as_mut_ptr(),
                BATCH_EVENTS as libc::c_int,
                timeout_ms,
            )
        };
        i64::from(count)
    }

    fn dispatch<H: Handler<EpollTransport>>(&mut self, key: u64, flags: u32, at: Nanos, handler: &mut H) {
        let Some(token) = self.transport.current(key) else { return };
        match self.transport.slots[token.index()].state {
            EpollState::Listening => return self.transport.accept_all(token, handler),
            EpollState::Broken => return,
            EpollState::Connecting => {
                if !self.transport.finish_connect(token, flags, at, handler) {
                    return;
                }
            }
            EpollState::Open | EpollState::Unwritable => {}
        }
        if flags & libc::EPOLLOUT as u32 != 0 {
            self.transport.flush_and_tell(token, key, at, handler);
        }
        let readable = libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR;
        if flags & readable as u32 != 0 {
            let ending = flags & (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32 != 0;
            self.read(token, key, at, ending, handler);
        }
    }

    /// Reads until the socket is empty. A short read shows that without another system call. If the end of the stream
    /// has been announced, only another read can return it.
    fn read<H>(&mut self, token: Token, key: u64, mut at: Nanos, ending: bool, handler: &mut H)
    where
        H: Handler<EpollTransport>,
    {
        for _ in 0..READS_PER_TURN {
            if self.transport.current(key).is_none() {
                return;
            }
            let Some(socket) = &self.transport.slots[token.index()].socket else { return };
            let receiving = match &mut self.stamps {
                None => rustix::net::recv(socket.as_fd(), &mut self.buffer[..], RecvFlags::empty())
                    .map(|(received, _)| received)
                    .map_err(io::Error::from),
                Some(stamps) => stamps.receive(socket.as_fd(), &mut self.buffer, at),
            };
            let received = match receiving {
                Ok(received) => received,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let Some(cause) = self.transport.take_failed_write(token) else { return };
                    return self.transport.end(token, at, cause, handler);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return self.end_reading(token, at, CloseCause::ReadFailed(error), handler),
            };
            if received == 0 {
                return self.end_reading(token, at, CloseCause::EndOfStream, handler);
            }
            let bytes = &self.buffer[..received];
            handler.on_event(&mut self.transport, token, Event::Received { at, bytes });
            if received < BUFFER_BYTES && !ending {
                return;
            }
            at = clock::now();
        }
        if !self.transport.unread.contains(&key) {
            self.transport.unread.push(key);
        }
    }

    /// Ends a connection that has nothing more to read. A write that failed before is the cause.
    fn end_reading<H>(&mut self, token: Token, at: Nanos, cause: CloseCause, handler: &mut H)
    where
        H: Handler<EpollTransport>,
    {
        let cause = self.transport.take_failed_write(token).unwrap_or(cause);
        self.transport.end(token, at, cause, handler);
    }
}

impl Poller for EpollPoller {
    type Transport = EpollTransport;

    fn transport(&mut self) -> &mut EpollTransport {
        &mut self.transport
    }

    fn wait<H: Handler<EpollTransport>>(&mut self, deadline: Option<Nanos>, handler: &mut H) -> io::Result<()> {
        self.wait_for_kernel(deadline)?;
        let at = clock::now();
        for (token, cause) in std::mem::take(&mut self.transport.failed) {
            self.transport.end(token, at, cause, handler);
        }
        for key in std::mem::take(&mut self.transport.unread) {
            if let Some(token) = self.transport.current(key) {
                self.read(token, key, at, true, handler);
            }
        }
        for index in 0..self.ready.len() {
            let event = self.ready[index];
            self.dispatch(event.u64, event.events, at, handler);
        }
        Ok(())
    }
}
