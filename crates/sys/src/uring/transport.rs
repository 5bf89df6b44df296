//! The sockets of an io_uring poller: what has been asked for since the last submission, and what each connection needs
//! remembered. It asks the kernel for nothing itself but what may not wait.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::Shutdown;

use crate::clock::Nanos;
use crate::outbox::Outbox;
use crate::payload::Payload;
use crate::poll::{CloseCause, Event, Handler, Sending, Token, Transport};
use crate::socket::{self, SocketOptions, Target};

/// Up to this size a payload is sent with the next submission, together with others; a larger one is worth a system
/// call of its own.
const MAX_STAGED_BYTES: usize = 16 * 1024;

/// The sending half of an [`UringPoller`](super::UringPoller).
#[derive(Default)]
pub struct UringTransport {
    pub(super) slots: Vec<UringSlot>,
    /// What to ask the kernel for at the next submission, in order.
    pub(super) wanted: Vec<(Want, u64)>,
    /// Connections whose end was met while sending or connecting: told at the next wait, as the seam demands.
    pub(super) failed: Vec<(Token, CloseCause)>,
}

/// What the kernel is asked for, and what a completion is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Want {
    /// The end of a connect.
    Connected = 1 << KIND_SHIFT,
    /// Whatever arrives.
    Received = 2 << KIND_SHIFT,
    /// What is staged to leave.
    Sent = 3 << KIND_SHIFT,
    /// That more can be written.
    Writable = 4 << KIND_SHIFT,
}

const KIND_SHIFT: u32 = 61;
const GENERATION_BITS: u32 = KIND_SHIFT - u32::BITS;

impl Want {
    /// What a completion is about.
    pub(super) const fn of(user_data: u64) -> Option<Self> {
        match user_data >> KIND_SHIFT {
            1 => Some(Self::Connected),
            2 => Some(Self::Received),
            3 => Some(Self::Sent),
            4 => Some(Self::Writable),
            _ => None,
        }
    }

    /// The number under which the kernel is asked for this.
    pub(super) const fn user_data(self, key: u64) -> u64 {
        self as u64 | key
    }
}

#[derive(Default)]
pub(super) struct UringSlot {
    pub(super) socket: Option<OwnedFd>,
    pub(super) state: UringState,
    /// Tells completions of an earlier connection of the same token from those of this one.
    generation: u32,
    pub(super) staged: Staged,
    pub(super) outbox: Outbox,
    /// Somebody was told [`Sending::Pending`].
    pub(super) owes_sent: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum UringState {
    #[default]
    Connecting,
    Open,
    /// Its failure waits in `failed`.
    Broken,
}

/// What leaves with the next submission; kept until something else is staged, since the kernel may have taken a part.
#[derive(Default)]
pub(super) struct Staged {
    payload: Option<Payload>,
    /// Several payloads, one behind the other; empty while there is one.
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

    /// Adds a payload to what waits; true if nothing did.
    fn add(&mut self, payload: &Payload) -> bool {
        if self.is_waiting {
            if self.joined.is_empty() {
                self.joined.extend_from_slice(self.payload.as_deref().unwrap_or_default());
            }
            self.joined.extend_from_slice(payload);
            return false;
        }
        self.is_waiting = true;
        self.joined.clear();
        // Workers share their requests: to count a reference anew each time would have them fight over the counter.
        if !self.payload.as_ref().is_some_and(|staged| staged.is_same(payload)) {
            self.payload = Some(payload.clone());
        }
        true
    }

    /// The bytes, if they have not been handed over before; from now on they have.
    pub(super) fn take(&mut self) -> Option<&[u8]> {
        std::mem::take(&mut self.is_waiting).then_some(self.bytes())
    }
}

impl Transport for UringTransport {
    fn connect(&mut self, token: Token, target: &Target, options: &SocketOptions) {
        self.close(token);
        let slot = self.slot(token);
        match socket::connect(target, options) {
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
                self.fail(token, CloseCause::WriteFailed(error));
                Sending::Accepted
            }
        }
    }

    fn close(&mut self, token: Token) {
        let slot = self.slot(token);
        if let Some(socket) = slot.socket.take() {
            if slot.staged.take().is_some() {
                // What was accepted leaves before the end, as far as the kernel takes it now.
                let _ = rustix::net::send(&socket, slot.staged.bytes(), rustix::net::SendFlags::NOSIGNAL);
            }
            // The kernel holds the socket as long as it is asked for something; this ends all that is asked for.
            let _ = rustix::net::shutdown(&socket, Shutdown::Both);
        }
        slot.outbox.clear();
        slot.owes_sent = false;
        slot.generation = (slot.generation + 1) % (1 << GENERATION_BITS);
        if std::mem::take(&mut slot.state) == UringState::Broken {
            self.failed.retain(|(failed, _)| *failed != token);
        }
    }
}

impl UringTransport {
    /// Whether there is nothing to ask the kernel for, and nothing to tell.
    pub(super) const fn is_silent(&self) -> bool {
        self.wanted.is_empty() && self.failed.is_empty()
    }

    pub(super) fn slot(&mut self, token: Token) -> &mut UringSlot {
        if token.index() >= self.slots.len() {
            self.slots.resize_with(token.index() + 1, UringSlot::default);
        }
        &mut self.slots[token.index()]
    }

    /// Asks the kernel for something at the next submission.
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

    /// Takes note that the kernel did not take all of what was staged; `result` is its answer.
    pub(super) fn fall_short(&mut self, token: Token, result: i32) {
        let slot = &mut self.slots[token.index()];
        let sent = match usize::try_from(result) {
            Ok(sent) => sent,
            Err(_) if matches!(-result, libc::EAGAIN | libc::EINTR) => 0,
            Err(_) => {
                let error = io::Error::from_raw_os_error(-result);
                return self.fail(token, CloseCause::WriteFailed(error));
            }
        };
        let rest = Payload::from(slot.staged.bytes().get(sent..).unwrap_or_default());
        let is_first = slot.outbox.is_empty();
        slot.outbox.push_front(rest);
        if is_first {
            self.want(Want::Writable, token);
        }
    }

    /// Goes on with what is still to be sent.
    pub(super) fn flush<H: Handler<Self>>(&mut self, token: Token, at: Nanos, handler: &mut H) {
        let slot = &mut self.slots[token.index()];
        let Some(socket) = &slot.socket else { return };
        match slot.outbox.flush(socket) {
            Ok(true) if std::mem::take(&mut slot.owes_sent) => handler.on_event(self, token, Event::Sent { at }),
            Ok(true) => {}
            Ok(false) => self.want(Want::Writable, token),
            Err(error) => self.end(token, at, CloseCause::WriteFailed(error), handler),
        }
    }

    fn fail(&mut self, token: Token, cause: CloseCause) {
        self.slots[token.index()].state = UringState::Broken;
        self.failed.push((token, cause));
    }
}
