//! The unsent bytes of one connection whose peer reads more slowly than we write. All pollers use it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

use crate::payload::Payload;
use crate::poll::Sending;
use crate::socket::SEND_FLAGS;

/// Payloads in order, and how many bytes of each have left.
#[derive(Default)]
pub(crate) struct Outbox(VecDeque<(Payload, usize)>);

impl Outbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Sends as much as the kernel accepts now, and keeps the rest.
    pub(crate) fn send(&mut self, socket: impl AsFd, payload: &Payload) -> io::Result<Sending> {
        let mut sent = 0;
        if self.is_empty() {
            sent = write(socket.as_fd(), payload, 0)?;
            if sent == payload.len() {
                return Ok(Sending::Accepted);
            }
        }
        self.0.push_back((payload.clone(), sent));
        Ok(Sending::Pending)
    }

    /// Keeps a payload behind all others.
    pub(crate) fn push(&mut self, payload: Payload) {
        self.0.push_back((payload, 0));
    }

    /// Keeps a payload before all others.
    pub(crate) fn push_front(&mut self, payload: Payload) {
        self.0.push_front((payload, 0));
    }

    /// Writes waiting bytes until the kernel accepts no more. Returns whether nothing is left.
    pub(crate) fn flush(&mut self, socket: impl AsFd) -> io::Result<bool> {
        while let Some((payload, sent)) = self.0.front_mut() {
            *sent += write(socket.as_fd(), payload, *sent)?;
            if *sent < payload.len() {
                return Ok(false);
            }
            self.0.pop_front();
        }
        Ok(true)
    }
}

/// Whether a write failed because the peer has ended the connection. Its last bytes may have arrived before.
pub(crate) fn is_end_by_peer(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// Writes from `start` on until the kernel accepts no more. Returns the number of bytes written. A short write does not
/// end the loop: an edge-triggered poller promises another event only after the kernel has returned "again".
fn write(socket: BorrowedFd<'_>, payload: &Payload, start: usize) -> io::Result<usize> {
    let mut at = start;
    while at < payload.len() {
        match rustix::net::send(socket, &payload[at..], SEND_FLAGS) {
            Ok(count) => at += count,
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(at - start)
}
