//! A WebSocket that checks whether the server pushes what the contract says: for verifying, never for measuring.

use std::io::{self, Read, Write};
use std::time::Duration;

use tare_plan::contract::Request;
use tare_sys::clock;
use tare_wire::ws::{Arrival, Endpoint, Handshake, Kind, Stamped};

use super::client::{Client, Failure};
use super::http2::Deadline;
use super::stream::Stream;

const CHECKED_MESSAGES: usize = 3;
/// Bytes of a message in an error text.
const SHOWN_BYTES: usize = 60;

/// Opens a WebSocket and checks content and order of the first messages, not their timing: it has just started.
pub(super) fn listen(client: &Client, request: &Request) -> Result<(), String> {
    let (mut line, mut endpoint) = Line::open(client, request)?;
    let mut last: Option<Stamped> = None;
    while line.received < CHECKED_MESSAGES {
        let message = line.next_message(&mut endpoint)?;
        line.received += 1;
        let number = line.received;
        let stamp = Stamped::from_message(&message, clock::wall_unix_ns()).ok_or_else(|| {
            let shown = message[..message.len().min(SHOWN_BYTES)].escape_ascii();
            format!("message {number} is \"{shown}\", not the time since 1970 in 13, 16 or 19 digits")
        })?;
        if let Some(before) = last.filter(|before| before.unix_ns > stamp.unix_ns) {
            let by = Duration::from_nanos(before.unix_ns - stamp.unix_ns);
            return Err(format!("message {number} says it was sent {by:?} before the one that came before it"));
        }
        last = Some(stamp);
    }
    endpoint.send_close();
    // The server's reaction to a close is not part of the check.
    let _ = line.stream.write_all(endpoint.outgoing());
    Ok(())
}

/// A connection with bytes that were read and not used yet.
struct Line {
    endpoint: super::Endpoint,
    stream: Stream,
    unread: Vec<u8>,
    received: usize,
    deadline: Deadline,
}

impl Line {
    /// A WebSocket that the server has opened.
    fn open(client: &Client, request: &Request) -> Result<(Self, Endpoint), String> {
        let begun = Handshake::begin(&request.path, &client.host(), &request.header_list()).map_err(Failure::Encode);
        let (mut handshake, bytes) = begun.map_err(in_words)?;
        let stream = client.send_bytes_alone(&bytes).map_err(in_words)?;
        let (endpoint, deadline) = (client.endpoint.clone(), Deadline::after(client.timeout));
        let mut line = Self { endpoint, stream, unread: Vec::new(), received: 0, deadline };
        loop {
            line.read()?;
            let mut bytes = &line.unread[..];
            let is_open = handshake.receive(&mut bytes)?;
            line.unread = bytes.to_vec();
            if is_open {
                return Ok((line, Endpoint::client()));
            }
        }
    }

    /// The next message. Pings before it are answered.
    fn next_message(&mut self, endpoint: &mut Endpoint) -> Result<Vec<u8>, String> {
        loop {
            let mut bytes = &self.unread[..];
            let arrival = endpoint.receive(&mut bytes).map_err(in_words)?;
            self.unread = bytes.to_vec();
            self.stream.write_all(endpoint.outgoing()).map_err(broken)?;
            endpoint.clear_outgoing();
            match arrival {
                Some(Arrival::Message(Kind::Text | Kind::Binary, message)) => return Ok(message.to_vec()),
                Some(Arrival::Close(_)) => return Err(self.closed()),
                Some(Arrival::Ping | Arrival::Pong(_)) => {}
                None => self.read()?,
            }
        }
    }

    fn read(&mut self) -> Result<(), String> {
        let (received, seconds) = (self.received, self.deadline.timeout.as_secs_f64());
        let silent = format!("within {seconds}s came {received} of {CHECKED_MESSAGES} messages");
        if self.deadline.check().is_err() {
            return Err(silent);
        }
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(self.closed()),
            Ok(got) => {
                self.unread.extend_from_slice(&buffer[..got]);
                Ok(())
            }
            // This process was stopped and continued.
            Err(error) if error.kind() == io::ErrorKind::Interrupted && !self.endpoint.is_cancelled() => Ok(()),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Err(silent),
            Err(error) => Err(broken(error)),
        }
    }

    fn closed(&self) -> String {
        format!("the connection was closed after {} of {CHECKED_MESSAGES} messages", self.received)
    }
}

fn broken(error: io::Error) -> String {
    format!("the connection failed: {error}")
}

fn in_words(error: impl std::error::Error) -> String {
    error.to_string()
}
