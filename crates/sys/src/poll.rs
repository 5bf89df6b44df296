//! The interface between the load loop and the kernel. A loop asks to connect, send and close, and receives events:
//! connected, received, sent, closed. Which system calls that takes, and when, is up to the poller. So the simulated world of
//! tests implements the same traits.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::clock::Nanos;
use crate::socket::{SocketOptions, Target};

/// The caller's number for a connection: small, dense, and reusable once the connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u32);

impl Token {
    /// The token as an index into a table of connections.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Bytes to send. Clones share them and are cheap.
pub type Payload = Arc<[u8]>;

/// Operations of a poller. A handler may call them while it is being called, as TLS does. None of them fails: an error
/// arrives as [`Event::Closed`] at the next [`Poller::wait`].
pub trait Transport {
    /// Opens a connection; [`Event::Connected`] or [`Event::Closed`] follows.
    fn connect(&mut self, token: Token, target: &Target, options: &SocketOptions);

    /// Sends `payload` after everything sent before on this connection, without a copy. Without an open connection it
    /// does nothing. The payload leaves at once or, at the latest, when the next wait begins.
    fn send(&mut self, token: Token, payload: &Payload) -> Sending;

    /// As [`send`](Self::send), for bytes that are used once: what cannot leave now is copied.
    fn send_bytes(&mut self, token: Token, bytes: &[u8]) -> Sending {
        self.send(token, &bytes.into())
    }

    /// Gives an open connection another number, which no connection has. Its events follow under that one. Not while an
    /// event is being handled.
    fn renumber(&mut self, from: Token, to: Token);

    /// Closes the connection. No more of its events are delivered, and the token is free.
    fn close(&mut self, token: Token);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// No event will follow for these bytes, unless they fail.
    Accepted,
    /// The peer reads more slowly than we write. [`Event::Sent`] follows when everything has left.
    Pending,
}

/// Receives the events of all connections of one poller.
pub trait Handler<T: Transport> {
    /// Handles one event. It may use `transport` at once, for this connection or any other.
    fn on_event(&mut self, transport: &mut T, token: Token, event: Event<'_>);
}

/// What happened to a connection.
#[derive(Debug)]
pub enum Event<'a> {
    /// The connection is open, and bytes may be sent on it.
    Connected { at: Nanos },
    /// Bytes arrived, complete and in order. They belong to the poller and are valid during the call only. The first
    /// read after a wait is stamped with the end of the wait: bytes do not count the time that other connections'
    /// events took before them. So bytes that arrive while a batch is handled may be stamped early, by its length at
    /// most.
    Received { at: Nanos, bytes: &'a [u8] },
    /// The peer has ended its stream, and its last bytes may still follow: what is sent now is never answered. A poller tells it
    /// where it knows the end before it delivers those bytes; [`Event::Closed`] follows in any case.
    Ending,
    /// Everything that was [`Sending::Pending`] has been handed to the kernel.
    Sent { at: Nanos },
    /// The connection is closed and its token free. No event follows.
    Closed { at: Nanos, cause: CloseCause },
    /// A listening socket accepted a new connection, non-blocking and with `TCP_NODELAY`. Dropping it closes it.
    Accepted { socket: OwnedFd },
}

/// How a connection ended.
#[derive(Debug)]
pub enum CloseCause {
    /// The peer closed it correctly.
    EndOfStream,
    /// It was never established.
    ConnectFailed(io::Error),
    /// Receiving failed, for example by a reset.
    ReadFailed(io::Error),
    /// Sending failed. If the peer has ended the connection, the bytes that arrived before have been delivered.
    WriteFailed(io::Error),
    /// TLS has failed, for this reason. No poller reports this, only the layer above.
    TlsFailed(String),
}

/// Waits for the kernel and turns its reports into events.
pub trait Poller {
    /// The part of the poller that handlers may use while they are called.
    type Transport: Transport;

    /// The transport, for use outside of a wait.
    fn transport(&mut self) -> &mut Self::Transport;

    /// Delivers events. Waits for the first one until `deadline` (`None`: without limit), and returns after one batch,
    /// which may be empty. With a deadline in the past it polls without waiting. Errors: when the kernel refuses to
    /// wait. A failure of one connection is an event.
    fn wait<H>(&mut self, deadline: Option<Nanos>, handler: &mut H) -> io::Result<()>
    where
        H: Handler<Self::Transport>;
}
