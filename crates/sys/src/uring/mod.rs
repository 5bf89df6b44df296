//! The poller on io_uring. One request per connection receives for its whole life, and sends leave together. One system
//! call submits, works and waits. Errors of a socket become events, as with every poller.

mod buffers;
mod obstacle;
mod ring;
mod transport;

use std::io;
use std::os::fd::AsFd;

use io_uring::cqueue;

use self::buffers::{Buffers, GROUP};
use self::ring::Ring;
use self::transport::{UringState, Want};
use crate::clock::{self, Nanos};
use crate::poll::{CloseCause, Event, Handler, Poller, Token};

pub use self::obstacle::why_unavailable;
pub use self::transport::UringTransport;

/// A [`Poller`] on io_uring. Only the thread that opened it may use it.
pub struct UringPoller {
    transport: UringTransport,
    /// Connections that can be written to again. They are handled after all completions, because the unsent bytes of
    /// the last submission must be known first.
    writable: Vec<Token>,
    done: Vec<cqueue::Entry>,
    buffers: Buffers,
    ring: Ring,
    /// The kernel has refused to work. Queued entries may point to memory that is gone.
    is_broken: bool,
}

impl UringPoller {
    /// Opens a ring and lends it the memory for received bytes.
    ///
    /// # Errors
    /// When io_uring is forbidden, when the kernel is older than Linux 6.1, or when no memory may be locked.
    pub fn new() -> io::Result<Self> {
        let ring = Ring::new()?;
        let buffers = Buffers::lend_to(&ring)?;
        let transport = UringTransport::default();
        Ok(Self { transport, writable: Vec::new(), done: Vec::new(), buffers, ring, is_broken: false })
    }

    /// Queues all requests and enters the kernel.
    fn submit_and_wait(&mut self, deadline: Option<Nanos>) -> io::Result<()> {
        let look_only = !self.transport.failed.is_empty();
        // Nothing is added meanwhile. The list is taken out for the borrow, and put back to reuse its memory.
        let mut wanted = std::mem::take(&mut self.transport.wanted);
        for (want, key) in wanted.drain(..) {
            self.submit(want, key)?;
        }
        self.transport.wanted = wanted;
        self.ring.enter(if look_only { Some(Nanos::ZERO) } else { deadline })
    }

    fn submit(&mut self, want: Want, key: u64) -> io::Result<()> {
        let Some(token) = self.transport.current(key) else { return Ok(()) };
        let slot = &mut self.transport.slots[token.index()];
        let Some(socket) = slot.socket.as_ref().map(AsFd::as_fd) else { return Ok(()) };
        let key = want.user_data(key);
        match want {
            Want::Connected | Want::Writable => self.ring.poll_out(socket, key),
            Want::Received => self.ring.receive(socket, GROUP, key),
            Want::Sent => match slot.staged.take() {
                // SAFETY: the bytes belong to the slot, and no slot changes before `submit_and_wait` returns. If it
                // fails, nothing is ever submitted again.
                Some(bytes) => unsafe { self.ring.send(socket, bytes, key) },
                None => Ok(()),
            },
        }
    }

    fn complete<H: Handler<UringTransport>>(&mut self, done: &cqueue::Entry, at: Nanos, handler: &mut H) {
        let Some(want) = Want::of(done.user_data()) else { return };
        let is_open = |token: &Token| self.transport.slots[token.index()].state != UringState::Broken;
        let token = self.transport.current(done.user_data()).filter(is_open);
        if want == Want::Received {
            return self.receive(token, done, at, handler);
        }
        let Some(token) = token else { return };
        match want {
            Want::Connected => self.transport.finish_connect(token, at, handler),
            Want::Writable => self.writable.push(token),
            // The first is handled above, the second when completions are collected.
            Want::Received | Want::Sent => {}
        }
    }

    /// Passes received bytes to the handler; `token` is `None` when their connection is closed.
    fn receive<H>(&mut self, token: Option<Token>, done: &cqueue::Entry, at: Nanos, handler: &mut H)
    where
        H: Handler<UringTransport>,
    {
        let buffer = cqueue::buffer_select(done.flags());
        if let (Some(token), Ok(length @ 1..)) = (token, usize::try_from(done.result())) {
            // A completion with bytes always has a buffer.
            let bytes = buffer.map_or(&[][..], |id| self.buffers.filled(id, length));
            handler.on_event(&mut self.transport, token, Event::Received { at, bytes });
        }
        if let Some(id) = buffer {
            self.buffers.give_back(id);
        }
        // The handler may have closed the connection.
        let is_there = self.transport.current(done.user_data()).is_some();
        let Some(token) = token.filter(|_| is_there) else { return };
        match done.result() {
            0 => self.transport.end_reading(token, at, CloseCause::EndOfStream, handler),
            // The kernel ends a receive request when it runs out of buffers or room. It is requested again.
            1.. if cqueue::more(done.flags()) => {}
            1.. => self.transport.want(Want::Received, token),
            error if matches!(-error, libc::ENOBUFS | libc::EAGAIN | libc::EINTR) => {
                self.transport.want(Want::Received, token);
            }
            error => {
                let error = io::Error::from_raw_os_error(-error);
                self.transport.end_reading(token, at, CloseCause::ReadFailed(error), handler);
            }
        }
    }

    /// Collects all completions. Before the next send, the unsent bytes must be known: the order of bytes depends on
    /// it, and unsent bytes are kept only until others are staged.
    fn collect_completions(&mut self) -> io::Result<()> {
        self.done.clear();
        loop {
            self.done.extend(self.ring.completions());
            if !self.ring.has_overflown() {
                break;
            }
            self.ring.enter(Some(Nanos::ZERO))?;
        }
        for done in &self.done {
            if Want::of(done.user_data()) == Some(Want::Sent)
                && let Some(token) = self.transport.current(done.user_data())
            {
                self.transport.keep_unsent(token, done.result());
            }
        }
        Ok(())
    }
}

impl Drop for UringPoller {
    fn drop(&mut self) {
        self.buffers.reclaim(&self.ring);
    }
}

impl Poller for UringPoller {
    type Transport = UringTransport;

    fn transport(&mut self) -> &mut UringTransport {
        &mut self.transport
    }

    fn wait<H: Handler<UringTransport>>(&mut self, deadline: Option<Nanos>, handler: &mut H) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("io_uring has failed before"));
        }
        // A spinning caller sees in shared memory that nothing has completed. When something has, it was just now.
        let polls_without_waiting = deadline == Some(Nanos::ZERO) && self.done.is_empty() && self.transport.is_idle();
        if polls_without_waiting && !self.ring.has_work() {
            return Ok(());
        }
        let seen_at = polls_without_waiting.then(clock::now);
        self.is_broken = true;
        self.submit_and_wait(deadline)?;
        let at = seen_at.unwrap_or_else(clock::now);
        self.collect_completions()?;
        self.is_broken = false;
        for (token, cause) in std::mem::take(&mut self.transport.failed) {
            // The handler may have closed it when another one ended.
            if self.transport.slots[token.index()].state == UringState::Broken {
                self.transport.end(token, at, cause, handler);
            }
        }
        for index in 0..self.done.len() {
            let done = self.done[index].clone();
            self.complete(&done, at, handler);
        }
        for token in std::mem::take(&mut self.writable) {
            if self.transport.slots[token.index()].state == UringState::Open {
                self.transport.flush(token, at, handler);
            }
        }
        Ok(())
    }
}
