//! The poller on readiness: the kernel reports which sockets can be read or written to, once per change. A selector asks
//! the kernel through epoll. Each socket is registered once, read until a read is short, and written
//! at once. Errors of a socket become events, and the caller decides what they mean for a request.

mod epoll;
mod outbox;
mod transport;

use std::io;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use self::epoll::Readiness;
use self::transport::SocketState;
use crate::clock::{self, Nanos};
use crate::poll::{CloseCause, Event, Handler, Poller, Token};

pub use self::transport::ReadinessTransport;

/// The only receive buffer: larger than most answers, and small enough for the cache.
const BUFFER_BYTES: usize = 64 * 1024;
/// Full buffers that are read from one connection before the others are read.
const READS_PER_TURN: usize = 16;

pub struct ReadinessPoller {
    transport: ReadinessTransport,
    buffer: Box<[u8]>,
}

impl ReadinessPoller {
    pub fn new() -> io::Result<Self> {
        Ok(Self { transport: ReadinessTransport::new()?, buffer: vec![0; BUFFER_BYTES].into_boxed_slice() })
    }

    fn wait_for_kernel(&mut self, deadline: Option<Nanos>) -> io::Result<()> {
        let look_only = !self.transport.failed.is_empty() || !self.transport.unread.is_empty();
        let timeout_ns = if look_only { Some(0) } else { deadline.map(|deadline| deadline.since(clock::now())) };
        self.transport.epoll.wait(timeout_ns)
    }

    fn dispatch<H: Handler<ReadinessTransport>>(&mut self, ready: Readiness, at: Nanos, handler: &mut H) {
        let key = ready.key;
        let Some(token) = self.transport.current(key) else { return };
        match self.transport.slots[token.index()].state {
            SocketState::Listening => return self.transport.accept_all(token, handler),
            SocketState::Broken => return,
            SocketState::Connecting => {
                if !self.transport.finish_connect(token, ready.is_writable, at, handler) {
                    return;
                }
            }
            SocketState::Open | SocketState::Unwritable => {}
        }
        if ready.is_writable {
            self.transport.flush_and_report(token, key, at, handler);
        }
        if ready.is_ending && self.transport.current(key).is_some() {
            handler.on_event(&mut self.transport, token, Event::Ending);
        }
        if ready.is_readable {
            self.read(token, key, at, ready.is_ending, handler);
        }
    }

    /// Reads until the socket is empty. A short read shows that without another system call. If the end of the stream
    /// has been announced, only another read can return it.
    fn read<H>(&mut self, token: Token, key: u64, mut at: Nanos, ending: bool, handler: &mut H)
    where
        H: Handler<ReadinessTransport>,
    {
        for _ in 0..READS_PER_TURN {
            if self.transport.current(key).is_none() {
                return;
            }
            let Some(socket) = &self.transport.slots[token.index()].socket else { return };
            let received = match rustix::net::recv(socket.as_fd(), &mut self.buffer[..], RecvFlags::empty()) {
                Ok((received, _)) => received,
                Err(Errno::AGAIN) => {
                    let Some(cause) = self.transport.take_failed_write(token) else { return };
                    return self.transport.end(token, at, cause, handler);
                }
                Err(Errno::INTR) => continue,
                Err(errno) => return self.end_reading(token, at, CloseCause::ReadFailed(errno.into()), handler),
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
        H: Handler<ReadinessTransport>,
    {
        let cause = self.transport.take_failed_write(token).unwrap_or(cause);
        self.transport.end(token, at, cause, handler);
    }
}

impl Poller for ReadinessPoller {
    type Transport = ReadinessTransport;

    fn transport(&mut self) -> &mut ReadinessTransport {
        &mut self.transport
    }

    fn wait<H: Handler<ReadinessTransport>>(&mut self, deadline: Option<Nanos>, handler: &mut H) -> io::Result<()> {
        self.wait_for_kernel(deadline)?;
        let at = clock::now();
        for (token, cause) in std::mem::take(&mut self.transport.failed) {
            // The handler may have closed it when another one ended.
            if self.transport.slots[token.index()].state == SocketState::Broken {
                self.transport.end(token, at, cause, handler);
            }
        }
        for key in std::mem::take(&mut self.transport.unread) {
            if let Some(token) = self.transport.current(key) {
                self.read(token, key, at, true, handler);
            }
        }
        for index in 0..self.transport.epoll.count() {
            let ready = self.transport.epoll.readiness_at(index);
            self.dispatch(ready, at, handler);
        }
        if let Some(token) = self.transport.unaccepted.take().and_then(|key| self.transport.current(key)) {
            self.transport.accept_all(token, handler);
        }
        Ok(())
    }
}
