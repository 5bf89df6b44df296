//! The poller on epoll: edge-triggered, each socket registered once and never again, read until short, written at once.
//! Errors of a socket become events; what they mean for a request is the caller's business.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags};

use crate::clock::{self, Nanos};
use crate::poll::{CloseCause, Event, Handler, Poller, Sending, Token, Transport};
use crate::socket::{self, SocketOptions};

/// Events taken from the kernel per wait.
const BATCH_EVENTS: usize = 256;
/// The one receive buffer: larger than most answers, small enough to stay in the cache.
const BUFFER_BYTES: usize = 64 * 1024;
/// Full buffers read from one connection before the others get their turn.
const READS_PER_TURN: usize = 16;

/// A [`Poller`] on epoll.
pub struct EpollPoller {
    transport: EpollTransport,
    ready: Vec<libc::epoll_event>,
    buffer: Box<[u8]>,
    has_pwait2: bool,
}

/// The sending half of an [`EpollPoller`].
pub struct EpollTransport {
    epoll: OwnedFd,
    slots: Vec<Slot>,
    /// Connections whose end was met while sending or connecting: told at the next wait, as the seam demands.
    failed: Vec<(Token, CloseCause)>,
    /// Connections that were left with bytes unread; edge-triggering will not name them again.
    unread: Vec<u64>,
}

#[derive(Default)]
struct Slot {
    socket: Option<OwnedFd>,
    state: State,
    /// Tells events of an earlier connection of the same token from those of this one.
    generation: u32,
    unsent: VecDeque<(Arc<[u8]>, usize)>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Connecting,
    Open,
    Listening,
    /// Its failure waits in `failed`.
    Broken,
}

impl EpollPoller {
    /// Opens an epoll instance.
    ///
    /// # Errors
    /// When no file descriptor is left.
    pub fn new() -> io::Result<Self> {
        let transport = EpollTransport {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            slots: Vec::new(),
            failed: Vec::new(),
            unread: Vec::new(),
        };
        Ok(Self {
            transport,
            ready: Vec::with_capacity(BATCH_EVENTS),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            has_pwait2: true,
        })
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
        // SAFETY: the capacity is BATCH_EVENTS, no more was asked for, and the kernel has written the first `count`.
        unsafe { self.ready.set_len(count as usize) };
        Ok(())
    }

    /// epoll_pwait2(2), of Linux 5.11: the wait ends at the nanosecond and not at the next millisecond.
    fn pwait2(&mut self, timeout_ns: Option<u64>) -> i64 {
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000).try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: (ns % 1_000_000_000) as _,
        });
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
        // Rounded up: waking before the deadline would make the caller spin until it.
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
            State::Listening => return self.transport.accept_all(token, handler),
            State::Broken => return,
            State::Connecting => {
                if !self.transport.finish_connect(token, flags, at, handler) {
                    return;
                }
            }
            State::Open => {}
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

    /// Reads until the socket is empty. A short read says so without a further system call, unless the end of the
    /// stream has been announced, which only another read can bring.
    fn read<H>(&mut self, token: Token, key: u64, mut at: Nanos, ending: bool, handler: &mut H)
    where
        H: Handler<EpollTransport>,
    {
        for _ in 0..READS_PER_TURN {
            if self.transport.current(key).is_none() {
                return;
            }
            let Some(socket) = &self.transport.slots[token.index()].socket else { return };
            let received = match rustix::net::recv(socket.as_fd(), &mut self.buffer[..], RecvFlags::empty()) {
                Ok((received, _)) => received,
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                Err(errno) => {
                    return self.transport.end(token, at, CloseCause::ReadFailed(errno.into()), handler);
                }
            };
            if received == 0 {
                return self.transport.end(token, at, CloseCause::EndOfStream, handler);
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

impl Transport for EpollTransport {
    fn connect(&mut self, token: Token, target: &SocketAddr, options: &SocketOptions) {
        self.close(token);
        let attempt = socket::connect(target, options).and_then(|fd| self.register(token, fd, State::Connecting));
        if let Err(error) = attempt {
            self.slot(token).state = State::Broken;
            self.failed.push((token, CloseCause::ConnectFailed(error)));
        }
    }

    fn send(&mut self, token: Token, bytes: &Arc<[u8]>) -> Sending {
        let Some(slot) = self.slots.get_mut(token.index()) else { return Sending::Accepted };
        if slot.state != State::Open {
            return Sending::Accepted;
        }
        if !slot.unsent.is_empty() {
            slot.unsent.push_back((Arc::clone(bytes), 0));
            return Sending::Pending;
        }
        let Some(fd) = &slot.socket else { return Sending::Accepted };
        match write(fd, bytes) {
            Ok(written) if written == bytes.len() => Sending::Accepted,
            Ok(written) => {
                slot.unsent.push_back((Arc::clone(bytes), written));
                Sending::Pending
            }
            Err(error) => {
                slot.state = State::Broken;
                self.failed.push((token, CloseCause::WriteFailed(error)));
                Sending::Accepted
            }
        }
    }

    fn close(&mut self, token: Token) {
        let slot = self.slot(token);
        // Closing the only descriptor of a socket also takes it out of the epoll set.
        slot.socket = None;
        slot.unsent.clear();
        slot.generation = slot.generation.wrapping_add(1);
        if slot.state == State::Broken {
            self.failed.retain(|(failed, _)| *failed != token);
        }
        self.slot(token).state = State::Connecting;
    }
}

impl EpollTransport {
    /// Takes over a connected socket under `token`, as it came with [`Event::Accepted`].
    ///
    /// # Errors
    /// When the kernel will not watch it.
    pub fn adopt(&mut self, token: Token, socket: OwnedFd) -> io::Result<()> {
        self.close(token);
        self.register(token, socket, State::Open)
    }

    /// Watches a listening socket under `token`; each new connection arrives as [`Event::Accepted`].
    ///
    /// # Errors
    /// When the kernel will not watch it.
    pub fn listen(&mut self, token: Token, socket: OwnedFd) -> io::Result<()> {
        self.close(token);
        rustix::io::ioctl_fionbio(&socket, true)?;
        self.register(token, socket, State::Listening)
    }

    fn slot(&mut self, token: Token) -> &mut Slot {
        if token.index() >= self.slots.len() {
            self.slots.resize_with(token.index() + 1, Slot::default);
        }
        &mut self.slots[token.index()]
    }

    /// Registers for everything, once: the only `epoll_ctl` in the life of a connection.
    fn register(&mut self, token: Token, socket: OwnedFd, state: State) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        let key = u64::from(token.0) | u64::from(self.slot(token).generation) << 32;
        epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(key), flags)?;
        let slot = self.slot(token);
        slot.socket = Some(socket);
        slot.state = state;
        Ok(())
    }

    /// The token of an event's key, unless that connection has been closed since.
    fn current(&self, key: u64) -> Option<Token> {
        let token = Token(key as u32);
        let slot = self.slots.get(token.index())?;
        (slot.generation == (key >> 32) as u32 && slot.socket.is_some()).then_some(token)
    }

    fn end<H: Handler<Self>>(&mut self, token: Token, at: Nanos, cause: CloseCause, handler: &mut H) {
        self.close(token);
        handler.on_event(self, token, Event::Closed { at, cause });
    }

    fn finish_connect<H: Handler<Self>>(&mut self, token: Token, flags: u32, at: Nanos, handler: &mut H) -> bool {
        let slot = &mut self.slots[token.index()];
        let Some(fd) = &slot.socket else { return false };
        if let Some(error) = socket::pending_error(fd.as_fd()) {
            self.end(token, at, CloseCause::ConnectFailed(error), handler);
            return false;
        }
        if flags & libc::EPOLLOUT as u32 == 0 {
            return false;
        }
        slot.state = State::Open;
        handler.on_event(self, token, Event::Connected { at });
        true
    }

    fn flush_and_tell<H: Handler<Self>>(&mut self, token: Token, key: u64, at: Nanos, handler: &mut H) {
        if self.current(key).is_none() || self.slots[token.index()].unsent.is_empty() {
            return;
        }
        match self.slots[token.index()].flush() {
            Ok(true) => handler.on_event(self, token, Event::Sent { at }),
            Ok(false) => {}
            Err(error) => self.end(token, at, CloseCause::WriteFailed(error), handler),
        }
    }

    fn accept_all<H: Handler<Self>>(&mut self, token: Token, handler: &mut H) {
        while let Some(listener) = &self.slots[token.index()].socket {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match rustix::net::accept_with(listener, flags) {
                Ok(fd) => {
                    // A socket that died in the queue refuses the option; its first read will tell.
                    let _ = socket::prepare(fd.as_fd());
                    handler.on_event(self, token, Event::Accepted { socket: fd });
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => return,
            }
        }
    }
}

impl Slot {
    /// Writes what waits until the kernel takes no more; true when nothing is left.
    fn flush(&mut self) -> io::Result<bool> {
        let Some(fd) = &self.socket else { return Ok(false) };
        while let Some((bytes, sent)) = self.unsent.front_mut() {
            *sent += write(fd, &bytes[*sent..])?;
            if *sent < bytes.len() {
                return Ok(false);
            }
            self.unsent.pop_front();
        }
        Ok(true)
    }
}

/// Writes until the kernel takes no more; how many bytes it took. After a short write edge-triggering only promises a
/// further event once the kernel has said "again", which is why the loop goes on until it does.
fn write(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match rustix::net::send(fd, &bytes[written..], SendFlags::NOSIGNAL) {
            Ok(count) => written += count,
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(written)
}
