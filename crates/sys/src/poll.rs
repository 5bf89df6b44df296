//! The seam between the load loop and the kernel: a loop speaks of "connect, send, close" and hears of "connected,
//! received, sent, closed". Which system calls that takes, and when, is the poller's own affair, so that one that asks
//! for readiness (epoll) and one that asks for completion (io_uring) stand side by side.

use std::io;
use std::os::fd::OwnedFd;

use crate::clock::Nanos;
use crate::payload::Payload;
use crate::socket::{SocketOptions, Target};

/// The caller's number for a connection: small, dense, and free for reuse once the connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u32);

impl Token {
    /// The token as an index into a table of connections.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a handler may ask for, also while it is being called: this is how an answer is followed by the next request
/// at once. Nothing here fails: what goes wrong arrives as [`Event::Closed`] at the next [`Poller::wait`].
pub trait Transport {
    /// Opens a connection; [`Event::Connected`] or [`Event::Closed`] follows.
    fn connect(&mut self, token: Token, target: &Target, options: &SocketOptions);

    /// Sends `payload` after everything sent before on this connection, without copying it.
    /// A token without an open connection ignores it. It leaves at once or, at the latest, when the next wait begins.
    fn send(&mut self, token: Token, payload: &Payload) -> Sending;

    /// Closes the connection; no event of it will be delivered any more, and the token is free.
    fn close(&mut self, token: Token);
}

/// Whether a send still needs the poller's attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// The poller will say nothing more of these bytes unless they fail.
    Accepted,
    /// The peer does not read as fast as we write: [`Event::Sent`] tells when everything has left.
    Pending,
}

/// Receives the events of all connections of one poller.
pub trait Handler<T: Transport> {
    /// Takes one event; `transport` may be used at once, for this connection or any other.
    fn on_event(&mut self, transport: &mut T, token: Token, event: Event<'_>);
}

/// What happened to a connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The connection stands and may be sent on.
    Connected {
        /// When it was learnt.
        at: Nanos,
    },
    /// Bytes arrived. They are the poller's and gone after the call.
    Received {
        /// When they were known to be there: for the first read after a wait, when the wait ended, so that bytes which
        /// queued behind other connections' are not charged for that. What arrives while that batch is still worked
        /// off may thereby be stamped early, by the length of the batch at most.
        at: Nanos,
        /// What arrived, in order, nothing left out.
        bytes: &'a [u8],
    },
    /// Everything that was [`Sending::Pending`] has been handed to the kernel.
    Sent {
        /// When it was learnt.
        at: Nanos,
    },
    /// The connection is gone and its token free; nothing follows.
    Closed {
        /// When it was learnt.
        at: Nanos,
        /// How it ended.
        cause: CloseCause,
    },
    /// A listening socket brought a new connection, non-blocking and with `TCP_NODELAY`.
    Accepted {
        /// The new connection; dropped, it is closed.
        socket: OwnedFd,
    },
}

/// How a connection ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum CloseCause {
    /// The peer finished in good order.
    EndOfStream,
    /// It was never established.
    ConnectFailed(io::Error),
    /// Receiving failed, as by a reset.
    ReadFailed(io::Error),
    /// Sending failed.
    WriteFailed(io::Error),
    /// What secures the connection has failed, for this reason; no poller says so, only what lies above it.
    TlsFailed(String),
}

/// Waits for the kernel and turns what it says into events.
pub trait Poller {
    /// The half of the poller that handlers may use while they are called.
    type Transport: Transport;

    /// The transport, for use outside of a wait.
    fn transport(&mut self) -> &mut Self::Transport;

    /// Delivers what has happened, waiting for the first event until `deadline` (`None`: as long as it takes).
    /// Returns after one batch, also an empty one; a deadline in the past only looks.
    ///
    /// # Errors
    /// When the kernel refuses to wait at all; what befalls one connection is an event.
    fn wait<H>(&mut self, deadline: Option<Nanos>, handler: &mut H) -> io::Result<()>
    where
        H: Handler<Self::Transport>;
}
