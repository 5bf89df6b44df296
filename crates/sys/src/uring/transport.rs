//! The sockets of an io_uring poller: the requests since the last submission, and the state of each connection. It
//! makes system calls only for operations that cannot wait.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::Shutdown;

use crate::clock::Nanos;
use crate::outbox::{Outbox, is_end_by_peer};
use crate::payload::Payload;
use crate::poll::{CloseCause, Event, Handler, Sending, Token, Transport};
use crate::socket::{self, SocketOptions, Target};

/// A payload of up to this size is sent with the next submission, together with others. A larger one is sent by a
/// system call of its own.
const MAX_STAGED_BYTES: usize = 16 * 1024;

/// The sending half of an [`UringPoller`](super::UringPoller).
#[derive(Default)]
pub struct UringTransport {
    pub(super) slots: Vec<UringSlot>,
    /// Requests for the next submission, in order.
    pub(super) wanted: Vec<(Want, u64)>,
    /// Connections that ended while sending or connecting. Their events follow at the next wait, as the interface
    /// demands.
    pub(super) failed: Vec<(Token, CloseCause)>,
}

/// The kind of a request and of its completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Want {
    Connected = 1 << KIND_SHIFT,
    Received = 2 << KIND_SHIFT,
    /// Sending the staged bytes.
    Sent = 3 << KIND_SHIFT,
    /// Waiting until more can be written.
    Writable = 4 << KIND_SHIFT,
}

const KIND_SHIFT: u32 = 61;
const GENERATION_BITS: u32 = KIND_SHIFT - u32::BITS;

impl Want {
    /// The connection and kind that a completion belongs to.
    pub(super) const fn of(user_data: u64) -> Option<Self> {
        match user_data >> KIND_SHIFT {
            1 => Some(Self::Connected),
            2 => Some(Self::Received),
            3 => Some(Self::Sent),
            4 => Some(Self::Writable),
            _ => None,
        }
    }

    /// The number that identifies this request to the kernel.
    pub(super) const fn user_data(self, key: u64) -> u64 {
        self as u64 | key
    }
}

#[derive(Default)]
pub(super) struct UringSlot {
    pub(super) socket: Option<OwnedFd>,
    pub(super) state: UringState,
    /// Distinguishes completions of this connection from those of an earlier one with the same token.
    generation: u32,
    pub(super) staged: Staged,
    pub(super) outbox: Outbox,
    /// [`Sending::Pending`] was returned.
    pub(super) owes_sent: bool,
    /// Why the connection is [`UringState::Unwritable`].
    failed_write: Option<io::Error>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum UringState {
    #[default]
    Connecting,
    Open,
    /// A write has failed. What arrived before is read, then the connection ends.
    Unwritable,
    /// Its failure is in `failed`.
    Broken,
}

/// The bytes of the next submission. They are kept until others are staged, since the kernel may have sent only a part.
#[derive(Default)]
pub(super) struct Staged {
    payload: Option<Payload>,
    /// Several payloads, joined; empty while there is only one.
    joined: Vec<u8>,
    is_waiting: bool,
}

impl Staged {
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.payload {
            Some(payload) if self.joined.is_empty() => payload,
            _ => &self.joined,
        }
    }

    /// Adds a payload. Returns whether it is the first.
    fn add(&mut self, payload: &Payload) -> bool {
        if self.is_waiting {
            return self.add_bytes(payload);
        }
        self.is_waiting = true;
        self.joined.clear();
        // Workers share their requests. If each changed the reference counter, they would contend for it.
        if !self.payload.as_ref().is_some_and(|staged| staged.is_same(payload)) {
            self.payload = Some(payload.clone());
        }
        true
    }

    /// Adds a copy of bytes. Returns whether they are the first.
    fn add_bytes(&mut self, bytes: &[u8]) -> bool {
        let is_first = !std::mem::replace(&mut self.is_waiting, true);
        if is_first {
            self.joined.clear();
        } else if self.joined.is_empty() {
            self.joined.extend_from_slice(self.payload.as_deref().unwrap_or_default());
        }
        self.joined.extend_from_slice(bytes);
        is_first
    }

    /// The bytes, if they have not been submitted. They count as submitted from now on.
    pub(super) fn take(&mut self) -> Option<&[u8]> {
        std::mem::take(&mut self.is_waiting).then_some(self.bytes())
    }
}

impl Transport for UringTransport {
    fn connect(&mut self, token: Token, target: &Target, options: &SocketOptions) {
        self.close(token);
        let slot = self.slot(token);
        match socket::start_connect(target, options) {
            Ok(socket) => {
                slot.socket = Some(socket);
                self.want(Want::Connected, token);
            }
            Err(error) => {
                slot.state = UringState::Broken;
                self.failed.push((token, CloseCause::ConnectFailed(error)));
            }
        }
    }

    fn send(&mut self, token: Token, payload: &Payload) -> Sending {
        let Some(slot) = self.slots.get_mut(token.index()) else { return Sending::Accepted };
        let (UringState::Open, Some(socket)) = (slot.state, &slot.socket) else { return Sending::Accepted };
        if slot.outbox.is_empty() && payload.len() <= MAX_STAGED_BYTES {
            if slot.staged.add(payload) {
                self.want(Want::Sent, token);
            }
            return Sending::Accepted;
        }
        if slot.staged.is_waiting {
            slot.outbox.push(payload.clone());
            slot.owes_sent = true;
            self.want(Want::Writable, token);
            return Sending::Pending;
        }
        let is_first = slot.outbox.is_empty();
        match slot.outbox.send(socket, payload) {
            Ok(Sending::Accepted) => Sending::Accepted,
            Ok(Sending::Pending) => {
                slot.owes_sent = true;
                if is_first {
                    self.want(Want::Writable, token);
                }
                Sending::Pending
            }
            Err(error) => {
                self.fail_write(token, error);
                Sending::Accepted
            }
        }
    }

    fn send_bytes(&mut self, token: Token, bytes: &[u8]) -> Sending {
        let slot = self.slots.get_mut(token.index());
        let is_small = !bytes.is_empty() && bytes.len() <= MAX_STAGED_BYTES;
        match slot {
            Some(slot) if is_small && slot.state == UringState::Open && slot.outbox.is_empty() => {
                if slot.staged.add_bytes(bytes) {
                    self.want(Want::Sent, token);
                }
                Sending::Accepted
            }
            _ => self.send(token, &bytes.into()),
        }
    }

    fn close(&mut self, token: Token) {
        let slot = self.slot(token);
        if let Some(socket) = slot.socket.take() {
            if slot.staged.take().is_some() {
                // Accepted payloads leave before the close, as far as the kernel accepts them now.
                let _ = rustix::net::send(&socket, slot.staged.bytes(), rustix::net::SendFlags::NOSIGNAL);
            }
            // The kernel keeps the socket while requests are open. This ends all of them.
            let _ = rustix::net::shutdown(&socket, Shutdown::Both);
        }
        slot.outbox.clear();
        slot.owes_sent = false;
        slot.failed_write = None;
        slot.generation = (slot.generation + 1) % (1 << GENERATION_BITS);
        if std::mem::take(&mut slot.state) == UringState::Broken {
            self.failed.retain(|(failed, _)| *failed != token);
        }
    }
}

impl UringTransport {
    /// Whether there are no requests to submit and no events to report.
    pub(super) const fn is_idle(&self) -> bool {
        self.wanted.is_empty() && self.failed.is_empty()
    }

    pub(super) fn slot(&mut self, token: Token) -> &mut UringSlot {
        if token.index() >= self.slots.len() {
            self.slots.resize_with(token.index() + 1, UringSlot::default);
        }
        &mut self.slots[token.index()]
    }

    /// Adds a request to the next submission.
    pub(super) fn want(&mut self, want: Want, token: Token) {
        let generation = u64::from(self.slots[token.index()].generation);
        self.wanted.push((want, u64::from(token.0) | generation << u32::BITS));
    }

    /// The token of a key, unless that connection has been closed since.
    pub(super) fn current(&self, key: u64) -> Option<Token> {
        let token = Token(key as u32);
        let slot = self.slots.get(token.index())?;
        let generation = (key >> u32::BITS) as u32 & ((1 << GENERATION_BITS) - 1);
        (slot.generation == generation && slot.socket.is_some()).then_some(token)
    }

    pub(super) fn end<H: Handler<Self>>(&mut self, token: Token, at: Nanos, cause: CloseCause, handler: &mut H) {
        self.close(token);
        handler.on_event(self, token, Event::Closed { at, cause });
    }

    pub(super) fn finish_connect<H: Handler<Self>>(&mut self, token: Token, at: Nanos, handler: &mut H) {
        let slot = &mut self.slots[token.index()];
        let Some(socket) = &slot.socket else { return };
        if let Some(error) = socket::pending_error(socket.as_fd()) {
            return self.end(token, at, CloseCause::ConnectFailed(error), handler);
        }
        slot.state = UringState::Open;
        self.want(Want::Received, token);
        handler.on_event(self, token, Event::Connected { at });
    }

    /// Keeps the staged bytes that the kernel did not send, for the next attempt; `result` is its answer.
    pub(super) fn keep_unsent(&mut self, token: Token, result: i32) {
        let slot = &mut self.slots[token.index()];
        if slot.state != UringState::Open {
            return;
        }
        let sent = match usize::try_from(result) {
            Ok(sent) => sent,
            Err(_) if matches!(-result, libc::EAGAIN | libc::EINTR) => 0,
            Err(_) => {
                let error = io::Error::from_raw_os_error(-result);
                return self.fail_write(token, error);
            }
        };
        let rest = Payload::from(slot.staged.bytes().get(sent..).unwrap_or_default());
        let is_first = slot.outbox.is_empty();
        slot.outbox.push_front(rest);
        if is_first {
            self.want(Want::Writable, token);
        }
    }

    /// Continues with the unsent bytes.
    pub(super) fn flush<H: Handler<Self>>(&mut self, token: Token, at: Nanos, handler: &mut H) {
        let slot = &mut self.slots[token.index()];
        let Some(socket) = &slot.socket else { return };
        match slot.outbox.flush(socket) {
            Ok(true) if std::mem::take(&mut slot.owes_sent) => handler.on_event(self, token, Event::Sent { at }),
            Ok(true) => {}
            Ok(false) => self.want(Want::Writable, token),
            Err(error) => self.fail_write(token, error),
        }
    }

    /// Ends a connection that has nothing more to read. A write that failed before is the cause.
    pub(super) fn end_reading<H>(&mut self, token: Token, at: Nanos, cause: CloseCause, handler: &mut H)
    where
        H: Handler<Self>,
    {
        let failed_write = self.slots[token.index()].failed_write.take();
        self.end(token, at, failed_write.map_or(cause, CloseCause::WriteFailed), handler);
    }

    /// Notes that a write has failed. The events follow at the next wait, or when the receive request has ended.
    fn fail_write(&mut self, token: Token, error: io::Error) {
        let slot = &mut self.slots[token.index()];
        if !is_end_by_peer(&error) {
            slot.state = UringState::Broken;
            return self.failed.push((token, CloseCause::WriteFailed(error)));
        }
        slot.state = UringState::Unwritable;
        slot.failed_write = Some(error);
        slot.outbox.clear();
    }
}
