//! The unsent bytes of one connection whose peer reads more slowly than we write.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

use crate::poll::{Payload, Sending};
use crate::socket::SEND_FLAGS;

/// Payloads in order, and how many bytes of each have left.
#[derive(Default)]
pub(super) struct Outbox(VecDeque<(Payload, usize)>);

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Sends as much as the kernel accepts now, and keeps the rest.
    pub(super) fn send(&mut self, socket: impl AsFd, payload: &Payload) -> io::Result<Sending> {
        self.send_first(socket, payload, |sent| (payload.clone(), sent))
    }

    /// As [`send`](Self::send), and keeps a copy of the rest.
    pub(super) fn send_bytes(&mut self, socket: impl AsFd, bytes: &[u8]) -> io::Result<Sending> {
        self.send_first(socket, bytes, |sent| (Payload::from(&bytes[sent..]), 0))
    }

    fn send_first(
        &mut self,
        socket: impl AsFd,
        bytes: &[u8],
        rest: impl FnOnce(usize) -> (Payload, usize),
    ) -> io::Result<Sending> {
        let sent = if self.is_empty() { write(socket.as_fd(), bytes, 0)? } else { 0 };
        if self.is_empty() && sent == bytes.len() {
            return Ok(Sending::Accepted);
        }
        self.0.push_back(rest(sent));
        Ok(Sending::Pending)
    }

    /// Writes waiting bytes until the kernel accepts no more. Returns whether nothing is left.
    pub(super) fn flush(&mut self, socket: impl AsFd) -> io::Result<bool> {
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
pub(super) fn is_end_by_peer(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// Writes from `start` on until the kernel accepts no more. Returns the number of bytes written. A short write does not
/// end the loop: an edge-triggered poller promises another event only after the kernel has returned "again".
fn write(socket: BorrowedFd<'_>, bytes: &[u8], start: usize) -> io::Result<usize> {
    let mut at = start;
    while at < bytes.len() {
        match rustix::net::send(socket, &bytes[at..], SEND_FLAGS) {
            Ok(count) => at += count,
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(at - start)
}
