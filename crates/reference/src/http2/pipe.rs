//! The two ends of a connection in memory: received bytes wait to be read, and written bytes wait to be sent. It never
//! blocks, so that the caller can drive the protocol step by step.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A handle for both ends. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipe(Rc<RefCell<Ends>>);

#[derive(Debug, Default)]
struct Ends {
    arrived: Vec<u8>,
    read: usize,
    to_send: Vec<u8>,
}

impl Pipe {
    pub(super) fn push_received(&self, bytes: &[u8]) {
        let mut ends = self.0.borrow_mut();
        if ends.read == ends.arrived.len() {
            ends.arrived.clear();
            ends.read = 0;
        }
        ends.arrived.extend_from_slice(bytes);
    }

    /// Passes the written bytes to the caller, and clears them.
    pub(super) fn drain_written<R>(&self, send: impl FnOnce(&[u8]) -> R) -> R {
        let mut ends = self.0.borrow_mut();
        let result = send(&ends.to_send);
        ends.to_send.clear();
        result
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut ends = self.0.borrow_mut();
        let unread = &ends.arrived[ends.read..];
        if unread.is_empty() {
            return Poll::Pending;
        }
        let count = unread.len().min(room.remaining());
        room.put_slice(&unread[..count]);
        ends.read += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().to_send.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
