//! A WebSocket that checks whether the server pushes what the contract says: for verifying, never for measuring.

use std::io::{self, Read, Write};
use std::time::Duration;

use tare_plan::contract::Request;
use tare_sys::clock;
use tare_wire::ws::{Arrival, Endpoint, FrameError, Handshake, HandshakeError, Kind, Stamped};

use super::client::{Client, Failure};
use super::stream::Stream;

const CHECKED_MESSAGES: usize = 3;
/// A stamp further from this machine's clock is not a time.
const PLAUSIBLE: Duration = Duration::from_secs(86_400);
/// Bytes of a message in an error text.
const SHOWN_BYTES: usize = 60;

/// Why a server's pushes are wrong.
#[derive(Debug, thiserror::Error)]
pub(super) enum Complaint {
    #[error(transparent)]
    Client(#[from] Failure),
    #[error("the connection failed: {0}")]
    Broken(io::Error),
    #[error("the connection was closed after {received} of {CHECKED_MESSAGES} messages")]
    Closed { received: usize },
    #[error("within {}s came {received} of {CHECKED_MESSAGES} messages", timeout.as_secs_f64())]
    Silent { received: usize, timeout: Duration },
    #[error("{0}")]
    Handshake(#[from] HandshakeError),
    #[error("{0}")]
    Frame(#[from] FrameError),
    #[error("message {number} is \"{shown}\", not the time since 1970 in 13, 16 or 19 digits")]
    NoStamp { number: usize, shown: String },
    #[error("message {number} says it was sent {by:?} before the one that came before it")]
    Backwards { number: usize, by: Duration },
}

/// Opens a WebSocket and checks content and order of the first messages, not their timing: it has just started.
pub(super) fn listen(client: &Client, request: &Request) -> Result<(), Complaint> {
    let (mut line, mut endpoint) = Line::open(client, request)?;
    let mut last: Option<Stamped> = None;
    while line.received < CHECKED_MESSAGES {
        let message = line.next_message(&mut endpoint)?;
        line.received += 1;
        let stamp = plausible_stamp(&message).ok_or_else(|| Complaint::NoStamp {
            number: line.received,
            shown: message[..message.len().min(SHOWN_BYTES)].escape_ascii().to_string(),
        })?;
        if let Some(before) = last.filter(|before| before.unix_ns > stamp.unix_ns) {
            let by = Duration::from_nanos(before.unix_ns - stamp.unix_ns);
            return Err(Complaint::Backwards { number: line.received, by });
        }
        last = Some(stamp);
    }
    endpoint.send_close();
    // The server's reaction to a close is not part of the check.
    let _ = line.stream.write_all(endpoint.outgoing());
    Ok(())
}

fn plausible_stamp(message: &[u8]) -> Option<Stamped> {
    let near = |stamp: &Stamped| stamp.unix_ns.abs_diff(clock::wall_unix_ns()) < PLAUSIBLE.as_nanos() as u64;
    Stamped::from_message(message).filter(near)
}

/// A connection with bytes that were read and not used yet.
struct Line {
    stream: Stream,
    unread: Vec<u8>,
    received: usize,
    timeout: Duration,
    deadline: clock::Nanos,
}

impl Line {
    /// A WebSocket that the server has opened.
    fn open(client: &Client, request: &Request) -> Result<(Self, Endpoint), Complaint> {
        let headers: Vec<(String, String)> = request.headers.iter().map(|(n, v)| (n.clone(), v.clone())).collect();
        let begun = Handshake::begin(&request.path, &client.host(), &headers).map_err(Failure::Encode)?;
        let ((mut handshake, bytes), timeout) = (begun, client.timeout);
        let stream = client.send_bytes_alone(&bytes)?;
        let mut line = Self { stream, unread: Vec::new(), received: 0, timeout, deadline: clock::now() + timeout };
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
    fn next_message(&mut self, endpoint: &mut Endpoint) -> Result<Vec<u8>, Complaint> {
        loop {
            let mut bytes = &self.unread[..];
            let arrival = endpoint.receive(&mut bytes)?;
            self.unread = bytes.to_vec();
            self.stream.write_all(endpoint.outgoing()).map_err(Complaint::Broken)?;
            endpoint.clear_outgoing();
            match arrival {
                Some(Arrival::Message(Kind::Text | Kind::Binary, message)) => return Ok(message.to_vec()),
                Some(Arrival::Close(_)) => return Err(Complaint::Closed { received: self.received }),
                Some(Arrival::Ping | Arrival::Pong(_)) => {}
                None => self.read()?,
            }
        }
    }

    fn read(&mut self) -> Result<(), Complaint> {
        let silent = Complaint::Silent { received: self.received, timeout: self.timeout };
        if clock::now() >= self.deadline {
            return Err(silent);
        }
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(Complaint::Closed { received: self.received }),
            Ok(got) => {
                self.unread.extend_from_slice(&buffer[..got]);
                Ok(())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => Err(silent),
            Err(error) => Err(Complaint::Broken(error)),
        }
    }
}
