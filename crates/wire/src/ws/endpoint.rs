//! One end of an open WebSocket. It receives pieces of any size, returns messages, and prepares bytes to send. It
//! answers pings and closes itself.

use std::io::{self, Read, Write};

use bytes::Bytes;
use tungstenite::error::{CapacityError, Error, ProtocolError};
use tungstenite::protocol::frame::coding;
use tungstenite::protocol::{CloseFrame, Message, Role, WebSocketConfig, WebSocketContext};

use super::MAX_MESSAGE_BYTES;

/// Initial buffer size of an end in bytes; it grows for longer messages. It is small, since there are thousands of
/// ends.
const BUFFER_BYTES: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Valid UTF-8.
    Text,
    Binary,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A message, with all its fragments joined.
    Message(Kind, Bytes),
    /// A ping. Its answer is ready to be sent.
    Ping,
    /// A pong with its payload, requested or not.
    Pong(Bytes),
    /// The peer closes the WebSocket, with an optional code and reason. The answer is ready to be sent.
    Close(Option<(u16, String)>),
}

/// Why bytes break the WebSocket protocol. The peer was informed, and the connection cannot be used any more.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum FrameError {
    /// A frame that breaks the protocol, or is not allowed at this point.
    #[error("{0}")]
    Protocol(ProtocolError),
    /// The peer closes with a code that no close frame may have, or says that the other end has violated the protocol. The
    /// library takes 1014 for the former, which was registered after RFC 6455.
    #[error("a close with an invalid code, with 1014 (bad gateway), or for a violation of the protocol")]
    InvalidCloseCode,
    #[error("a message of {bytes} bytes, more than {most} are not taken")]
    TooLong { bytes: usize, most: usize },
    /// A text message, or the reason of a close, that is not UTF-8.
    #[error("text that is not UTF-8")]
    NotUtf8,
    #[error("bytes after the end of the WebSocket")]
    Ended,
}

#[derive(Debug)]
pub struct Endpoint {
    context: WebSocketContext,
    outgoing: Vec<u8>,
}

impl Endpoint {
    pub fn client() -> Self {
        Self::new(Role::Client)
    }

    pub fn server() -> Self {
        Self::new(Role::Server)
    }

    fn new(role: Role) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            // Written bytes are ready to be sent at once.
            .write_buffer_size(0)
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let context = WebSocketContext::new(role, Some(config));
        Self { context, outgoing: Vec::new() }
    }

    /// Reads bytes up to the next event; `None` when all are read and more are needed. Fails when they break the
    /// protocol. The peer gets a close frame, and nothing more can be received.
    pub fn receive(&mut self, bytes: &mut &[u8]) -> Result<Option<Arrival>, FrameError> {
        let mut memory = Memory { incoming: bytes, outgoing: &mut self.outgoing };
        let message = match self.context.read(&mut memory) {
            Ok(message) => message,
            Err(Error::Io(_)) => return Ok(None),
            Err(Error::ConnectionClosed | Error::AlreadyClosed) if memory.incoming.is_empty() => return Ok(None),
            Err(error) => return Err(self.fail(error)),
        };
        // Otherwise the answer to a ping or a close would wait for the next call.
        let _ = self.context.flush(&mut memory);
        Ok(Some(match message {
            Message::Text(text) => Arrival::Message(Kind::Text, text.into()),
            Message::Binary(bytes) => Arrival::Message(Kind::Binary, bytes),
            Message::Ping(_) => Arrival::Ping,
            Message::Pong(brought) => Arrival::Pong(brought),
            Message::Frame(_) => Arrival::Pong(Bytes::new()),
            Message::Close(None) => Arrival::Close(None),
            // The library puts these in place of a code that no close frame may have.
            Message::Close(Some(CloseFrame { code: coding::CloseCode::Protocol, reason }))
                if reason.as_str() == "Protocol violation" =>
            {
                return Err(FrameError::InvalidCloseCode);
            }
            Message::Close(Some(frame)) => Arrival::Close(Some((frame.code.into(), frame.reason.as_str().to_owned()))),
        }))
    }

    /// Prepares a message to be sent; does nothing after a close.
    pub fn send_message(&mut self, kind: Kind, payload: &[u8]) -> Result<(), FrameError> {
        let payload = Bytes::copy_from_slice(payload);
        let message = match kind {
            Kind::Text => Message::Text(payload.try_into().map_err(|_| FrameError::NotUtf8)?),
            Kind::Binary => Message::Binary(payload),
        };
        self.write(message);
        Ok(())
    }

    /// Prepares a ping. Its pong returns the payload, of at most 125 bytes (RFC 6455, section 5.5.3).
    pub fn send_ping(&mut self, payload: &[u8]) {
        self.write(Message::Ping(Bytes::copy_from_slice(payload)));
    }

    /// Does nothing after a close.
    fn write(&mut self, message: Message) {
        let _ = self.context.write(&mut Memory { incoming: &mut &[][..], outgoing: &mut self.outgoing }, message);
    }

    /// Prepares a close frame, unless the close has begun.
    pub fn send_close(&mut self) {
        self.close_with(coding::CloseCode::Normal);
    }

    /// The bytes that wait to be sent.
    pub fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    /// Clears the waiting bytes after they were sent.
    pub fn clear_outgoing(&mut self) {
        self.outgoing.clear();
    }

    fn close_with(&mut self, code: coding::CloseCode) {
        let frame = CloseFrame { code, reason: "".into() };
        // A close is prepared only once.
        let _ = self.context.close(&mut Memory { incoming: &mut &[][..], outgoing: &mut self.outgoing }, Some(frame));
    }

    fn fail(&mut self, error: Error) -> FrameError {
        let (code, error) = match error {
            Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
                (coding::CloseCode::Size, FrameError::TooLong { bytes: size, most: max_size })
            }
            Error::Utf8(_) => (coding::CloseCode::Invalid, FrameError::NotUtf8),
            Error::Protocol(error) => (coding::CloseCode::Protocol, FrameError::Protocol(error)),
            _ => return FrameError::Ended,
        };
        self.close_with(code);
        error
    }
}

/// Both ends of a connection in memory, for one call: received bytes, and a buffer for bytes to send.
struct Memory<'a, 'b> {
    incoming: &'a mut &'b [u8],
    outgoing: &'a mut Vec<u8>,
}

impl Read for Memory<'_, '_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        // Reading no bytes would mean the end of the connection, which the caller handles elsewhere.
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
