//! One end of a WebSocket that stands: fed with pieces cut anywhere, it hands out messages, and lays down what is to be
//! sent. Pings and closes are answered of its own accord.

use std::io::{self, Read, Write};

use bytes::Bytes;
use tungstenite::error::{CapacityError, Error};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig, WebSocketContext};

use super::{FrameError, MAX_MESSAGE_BYTES};

/// Bytes that an end keeps room for; longer messages make room for themselves. Small, since there are thousands of ends.
const BUFFER_BYTES: usize = 1024;

/// Whether a message is text or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8, which has been checked.
    Text,
    /// Anything.
    Binary,
}

/// What arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A message, all its fragments together.
    Message(Kind, Bytes),
    /// A ping, whose answer has been laid down to be sent.
    Ping,
    /// A pong, asked for or not, with what it brings back.
    Pong(Bytes),
    /// The peer ends the WebSocket, with a code and a reason if it gives one; the answer has been laid down to be sent.
    Close(Option<(u16, String)>),
}

/// The state of one end.
#[derive(Debug)]
pub struct Endpoint {
    context: WebSocketContext,
    outgoing: Vec<u8>,
}

impl Endpoint {
    /// The end of the client, which masks what it sends.
    pub fn client() -> Self {
        Self::new(Role::Client)
    }

    /// The end of the server.
    pub fn server() -> Self {
        Self::new(Role::Server)
    }

    fn new(role: Role) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            // What is written is laid down at once.
            .write_buffer_size(0)
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        Self { context: WebSocketContext::new(role, Some(config)), outgoing: Vec::new() }
    }

    /// Takes bytes up to the next thing that they bring; `None` once all are taken and more are needed.
    ///
    /// # Errors
    /// When they break the protocol, which the peer is told; nothing more can be received then.
    pub fn receive(&mut self, bytes: &mut &[u8]) -> Result<Option<Arrival>, FrameError> {
        let mut memory = Memory { incoming: bytes, outgoing: &mut self.outgoing };
        let message = match self.context.read(&mut memory) {
            Ok(message) => message,
            Err(Error::Io(_)) => return Ok(None),
            Err(Error::ConnectionClosed | Error::AlreadyClosed) if memory.incoming.is_empty() => return Ok(None),
            Err(error) => return Err(self.fail(error)),
        };
        // The answer to a ping or a close would otherwise wait for the next call.
        let _ = self.context.flush(&mut memory);
        Ok(Some(match message {
            Message::Text(text) => Arrival::Message(Kind::Text, text.into()),
            Message::Binary(bytes) => Arrival::Message(Kind::Binary, bytes),
            Message::Ping(_) => Arrival::Ping,
            Message::Pong(brought) => Arrival::Pong(brought),
            Message::Frame(_) => Arrival::Pong(Bytes::new()),
            Message::Close(frame) => {
                Arrival::Close(frame.map(|frame| (frame.code.into(), frame.reason.as_str().to_owned())))
            }
        }))
    }

    /// Lays down a message to be sent; after the end, nothing.
    ///
    /// # Errors
    /// When a text is not UTF-8.
    pub fn send(&mut self, kind: Kind, payload: &[u8]) -> Result<(), FrameError> {
        let payload = Bytes::copy_from_slice(payload);
        let message = match kind {
            Kind::Text => Message::Text(payload.try_into().map_err(|_| FrameError::NotUtf8)?),
            Kind::Binary => Message::Binary(payload),
        };
        let _ = self.context.write(&mut Memory { incoming: &mut &[][..], outgoing: &mut self.outgoing }, message);
        Ok(())
    }

    /// Lays down a ping, whose pong brings back the payload, of at most 125 bytes; after the end, nothing.
    ///
    /// # Source
    /// RFC 6455, section 5.5.3.
    pub fn ping(&mut self, payload: &[u8]) {
        let message = Message::Ping(Bytes::copy_from_slice(payload));
        let _ = self.context.write(&mut Memory { incoming: &mut &[][..], outgoing: &mut self.outgoing }, message);
    }

    /// Lays down a close in good order, unless the end has begun.
    pub fn close(&mut self) {
        self.close_with(CloseCode::Normal);
    }

    /// What waits to be sent.
    pub fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    /// Forgets what waited to be sent: it has been.
    pub fn sent(&mut self) {
        self.outgoing.clear();
    }

    fn close_with(&mut self, code: CloseCode) {
        let frame = CloseFrame { code, reason: "".into() };
        // An end that has been reached already needs no other.
        let _ = self.context.close(&mut Memory { incoming: &mut &[][..], outgoing: &mut self.outgoing }, Some(frame));
    }

    fn fail(&mut self, error: Error) -> FrameError {
        let (code, error) = match error {
            Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
                (CloseCode::Size, FrameError::TooLong { bytes: size, most: max_size })
            }
            Error::Utf8(_) => (CloseCode::Invalid, FrameError::NotUtf8),
            Error::Protocol(error) => (CloseCode::Protocol, FrameError::Protocol(error)),
            _ => return FrameError::Ended,
        };
        self.close_with(code);
        error
    }
}

/// The two ends of a connection in memory for the length of one call: bytes that arrived, and room for those that leave.
struct Memory<'a, 'b> {
    incoming: &'a mut &'b [u8],
    outgoing: &'a mut Vec<u8>,
}

impl Read for Memory<'_, '_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        // To read nothing would mean the end of the connection, of which others tell.
        if self.incoming.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { self.incoming.read(room) }
    }
}

impl Write for Memory<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
