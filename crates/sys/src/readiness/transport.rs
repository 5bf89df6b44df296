//! The sockets of a readiness poller: opening, sending, closing, and the state of each until the next wait.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use super::epoll::Epoll;
use super::outbox::{Outbox, is_end_by_peer};
use crate::clock::Nanos;
use crate::poll::{CloseCause, Event, Handler, Payload, Sending, Token, Transport};
use crate::socket::{self, SocketOptions, Target};

/// The sending half of a [`ReadinessPoller`](super::ReadinessPoller).
pub struct ReadinessTransport {
    pub(super) epoll: Epoll,
    pub(super) slots: Vec<SocketSlot>,
    /// Connections that ended while sending or connecting. Their events follow at the next wait, as the interface
    /// demands.
    pub(super) failed: Vec<(Token, CloseCause)>,
    /// Connections with unread bytes. Epoll does not report them again.
    pub(super) unread: Vec<u64>,
    /// The listener whose connections could not all be accepted, as at the limit of open files. Epoll does not report them again
    /// either.
    pub(super) unaccepted: Option<u64>,
}

#[derive(Default)]
pub(super) struct SocketSlot {
    pub(super) socket: Option<OwnedFd>,
    pub(super) state: SocketState,
    /// Distinguishes events of this connection from those of an earlier one with the same token.
    pub(super) generation: u32,
    pub(super) outbox: Outbox,
    /// Why the connection is [`SocketState::Unwritable`].
    failed_write: Option<io::Error>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SocketState {
    #[default]
    Connecting,
    Open,
    Listening,
    /// A write has failed. What arrived before is read, then the connection ends.
    Unwritable,
    /// Its failure is in `failed`.
    Broken,
}

impl SocketSlot {
    /// The number that names this connection in events of the kernel.
    fn key(&self, token: Token) -> u64 {
        u64::from(token.0) | u64::from(self.generation) << 32
    }
}

impl Transport for ReadinessTransport {
    fn connect(&mut self, token: Token, target: &Target, options: &SocketOptions) {
        self.close(token);
        let attempt =
            socket::start_connect(target, options).and_then(|fd| self.register(token, fd, SocketState::Connecting));
        if let Err(error) = attempt {
            self.slot(token).state = SocketState::Broken;
            self.failed.push((token, CloseCause::ConnectFailed(error)));
        }
    }

    fn send(&mut self, token: Token, payload: &Payload) -> Sending {
        self.send_by(token, |outbox, socket| outbox.send(socket, payload))
    }

    fn send_bytes(&mut self, token: Token, bytes: &[u8]) -> Sending {
        self.send_by(token, |outbox, socket| outbox.send_bytes(socket, bytes))
    }

    fn renumber(&mut self, from: Token, to: Token) {
        self.close(to);
        let old_key = self.slot(from).key(from);
        let generation = self.slot(to).generation;
        let moved = std::mem::take(self.slot(from));
        self.slot(from).generation = moved.generation.wrapping_add(1);
        *self.slot(to) = SocketSlot { generation, ..moved };
        self.failed.iter_mut().filter(|(token, _)| *token == from).for_each(|(token, _)| *token = to);
        // What it has to tell is reported again.
        self.unread.retain(|key| *key != old_key);
        let slot = &self.slots[to.index()];
        let Some(Err(error)) = slot.socket.as_ref().map(|socket| self.epoll.rewatch(socket, slot.key(to))) else {
            return;
        };
        self.fail_write(to, error);
    }

    fn close(&mut self, token: Token) {
        let slot = self.slot(token);
        // Closing the only descriptor of a socket also removes it from epoll.
        slot.socket = None;
        slot.outbox.clear();
        slot.failed_write = None;
        slot.generation = slot.generation.wrapping_add(1);
        if slot.state == SocketState::Broken {
            self.failed.retain(|(failed, _)| *failed != token);
        }
        self.slot(token).state = SocketState::Connecting;
    }
}

impl ReadinessTransport {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { epoll: Epoll::new()?, slots: Vec::new(), failed: Vec::new(), unread: Vec::new(), unaccepted: None })
    }

    /// Takes over a connected socket under `token`, such as one of [`Event::Accepted`].
    pub fn adopt_socket(&mut self, token: Token, socket: OwnedFd) -> io::Result<()> {
        self.close(token);
        self.register(token, socket, SocketState::Open)
    }

    /// Watches a listening socket under `token`. Each new connection arrives as [`Event::Accepted`]. One that cannot be accepted
    /// now is tried again at the end of each wait.
    pub fn watch_listener(&mut self, token: Token, socket: OwnedFd) -> io::Result<()> {
        self.close(token);
        rustix::io::ioctl_fionbio(&socket, true)?;
        self.register(token, socket, SocketState::Listening)
    }

    fn send_by(&mut self, token: Token, send: impl FnOnce(&mut Outbox, &OwnedFd) -> io::Result<Sending>) -> Sending {
        let Some(slot) = self.slots.get_mut(token.index()) else { return Sending::Accepted };
        let (SocketState::Open, Some(socket)) = (slot.state, &slot.socket) else { return Sending::Accepted };
        match send(&mut slot.outbox, socket) {
            Ok(sending) => sending,
            Err(error) => {
                self.fail_write(token, error);
                Sending::Accepted
            }
        }
    }

    fn slot(&mut self, token: Token) -> &mut SocketSlot {
        if token.index() >= self.slots.len() {
            self.slots.resize_with(token.index() + 1, SocketSlot::default);
        }
        &mut self.slots[token.index()]
    }

    /// Registers for all reports, once in the life of a connection.
    fn register(&mut self, token: Token, socket: OwnedFd, state: SocketState) -> io::Result<()> {
        let key = self.slot(token).key(token);
        self.epoll.watch(&socket, key)?;
        let slot = self.slot(token);
        slot.socket = Some(socket);
        slot.state = state;
        Ok(())
    }

    /// The token of an event's key, unless that connection has been closed since.
    pub(super) fn current(&self, key: u64) -> Option<Token> {
        let token = Token(key as u32);
        let slot = self.slots.get(token.index())?;
        (slot.generation == (key >> 32) as u32 && slot.socket.is_some()).then_some(token)
    }

    pub(super) fn end<H: Handler<Self>>(&mut self, token: Token, at: Nanos, cause: CloseCause, handler: &mut H) {
        self.close(token);
        handler.on_event(self, token, Event::Closed { at, cause });
    }

    pub(super) fn finish_connect<H: Handler<Self>>(
        &mut self,
        token: Token,
        is_writable: bool,
        at: Nanos,
        handler: &mut H,
    ) -> bool {
        let slot = &mut self.slots[token.index()];
        let Some(fd) = &slot.socket else { return false };
        if let Some(error) = socket::pending_error(fd.as_fd()) {
            self.end(token, at, CloseCause::ConnectFailed(error), handler);
            return false;
        }
        if !is_writable {
            return false;
        }
        slot.state = SocketState::Open;
        handler.on_event(self, token, Event::Connected { at });
        true
    }

    pub(super) fn flush_and_report<H: Handler<Self>>(&mut self, token: Token, key: u64, at: Nanos, handler: &mut H) {
        let slot = self.current(key).map(|token| &mut self.slots[token.index()]);
        let Some(SocketSlot { socket: Some(socket), outbox, .. }) = slot else { return };
        if outbox.is_empty() {
            return;
        }
        match outbox.flush(&*socket) {
            Ok(true) => handler.on_event(self, token, Event::Sent { at }),
            Ok(false) => {}
            Err(error) => self.fail_write(token, error),
        }
    }

    /// Notes that a write has failed. The events follow at the next wait.
    fn fail_write(&mut self, token: Token, error: io::Error) {
        let slot = &mut self.slots[token.index()];
        if !is_end_by_peer(&error) {
            slot.state = SocketState::Broken;
            return self.failed.push((token, CloseCause::WriteFailed(error)));
        }
        slot.state = SocketState::Unwritable;
        slot.failed_write = Some(error);
        slot.outbox.clear();
        let key = slot.key(token);
        if !self.unread.contains(&key) {
            self.unread.push(key);
        }
    }

    /// The failed write after which a connection was only read.
    pub(super) fn take_failed_write(&mut self, token: Token) -> Option<CloseCause> {
        self.slots[token.index()].failed_write.take().map(CloseCause::WriteFailed)
    }

    pub(super) fn accept_all<H: Handler<Self>>(&mut self, token: Token, handler: &mut H) {
        while let Some(listener) = &self.slots[token.index()].socket {
            match socket::accept(listener.as_fd()) {
                Ok(fd) => {
                    // A socket that died in the queue rejects the option. Its first read reports the error.
                    let _ = socket::prepare_accepted(fd.as_fd());
                    handler.on_event(self, token, Event::Accepted { socket: fd });
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    self.unaccepted = Some(self.slots[token.index()].key(token));
                    return;
                }
            }
        }
    }
}
