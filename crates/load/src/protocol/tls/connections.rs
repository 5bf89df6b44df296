//! TLS on the connections of one worker, by rustls. Received bytes go in; plain text and bytes to send come out.

use std::io::{BufRead, Write};

use rustls::{ClientConnection, Error, HandshakeKind};
use tare_sys::poll::{CloseCause, Sending, Token, Transport};

use super::Security;
use super::failure::explain;
use crate::problem::Problem;

pub(crate) struct Tls {
    security: Security,
    sessions: Vec<Option<Session>>,
    /// What the bytes received last contained. Moved out while it is in use, so that it is allocated once.
    pub(crate) plaintext: Vec<u8>,
    ciphertext: Vec<u8>,
}

struct Session {
    connection: ClientConnection,
    is_established: bool,
}

/// What received bytes contained, apart from plain text.
#[derive(Debug, Default)]
pub(crate) struct Decrypted {
    pub(crate) established: Option<HandshakeKind>,
    pub(crate) end: Option<CloseCause>,
}

impl Tls {
    pub(crate) fn new(security: Security) -> Self {
        Self { security, sessions: Vec::new(), plaintext: Vec::new(), ciphertext: Vec::new() }
    }

    pub(crate) fn begin(&mut self, io: &mut impl Transport, token: Token) -> Result<(), CloseCause> {
        let connection = self.security.begin();
        let mut connection = connection.map_err(|error| CloseCause::TlsFailed(explain(&error, false)))?;
        connection.set_buffer_limit(None);
        self.make_place(token);
        let session = self.sessions[token.index()].insert(Session { connection, is_established: false });
        session.flush(&mut self.ciphertext, io, token);
        Ok(())
    }

    fn make_place(&mut self, token: Token) {
        if self.sessions.len() <= token.index() {
            self.sessions.resize_with(token.index() + 1, || None);
        }
    }

    pub(crate) fn renumber(&mut self, from: Token, to: Token) {
        self.make_place(to);
        self.sessions.swap(from.index(), to.index());
    }

    /// Whether the connection has a TLS session; a closed one has none.
    pub(crate) fn has(&self, token: Token) -> bool {
        self.sessions.get(token.index()).is_some_and(Option::is_some)
    }

    pub(crate) fn send(&mut self, io: &mut impl Transport, token: Token, bytes: &[u8]) -> Sending {
        let Some(session) = self.sessions.get_mut(token.index()).and_then(Option::as_mut) else {
            return Sending::Accepted;
        };
        // The buffer has no limit, so it accepts everything.
        let _ = session.connection.writer().write_all(bytes);
        session.flush(&mut self.ciphertext, io, token)
    }

    /// Sends the close notification and forgets the session.
    pub(crate) fn close(&mut self, io: &mut impl Transport, token: Token) {
        if let Some(mut session) = self.sessions.get_mut(token.index()).and_then(Option::take) {
            session.connection.send_close_notify();
            session.flush(&mut self.ciphertext, io, token);
        }
    }

    /// Decrypts received bytes to `plaintext`.
    pub(crate) fn receive(&mut self, io: &mut impl Transport, token: Token, bytes: &[u8]) -> Decrypted {
        self.plaintext.clear();
        let Some(session) = self.sessions.get_mut(token.index()).and_then(Option::as_mut) else {
            return Decrypted::default();
        };
        let mut decrypted = Decrypted::default();
        match session.take(bytes, &mut self.plaintext) {
            Ok(true) => decrypted.end = Some(CloseCause::EndOfStream),
            Ok(false) => {}
            Err(error) => decrypted.end = Some(CloseCause::TlsFailed(explain(&error, session.is_established))),
        }
        if !session.is_established && !session.connection.is_handshaking() {
            session.is_established = true;
            decrypted.established = session.connection.handshake_kind();
            if let Some(refused) = self.security.disagreement(&session.connection) {
                decrypted.end = Some(CloseCause::TlsFailed(refused));
            }
        }
        session.flush(&mut self.ciphertext, io, token);
        decrypted
    }

    /// The problem when the transport ends. Without a close notification, data may be missing.
    pub(crate) fn end(&mut self, token: Token, cause: CloseCause) -> CloseCause {
        let Some(session) = self.sessions.get_mut(token.index()).and_then(Option::take) else { return cause };
        match cause {
            cause if !session.is_established => {
                let why = match cause {
                    CloseCause::EndOfStream => {
                        "the server closed it; does it speak TLS on this port at all?".to_owned()
                    }
                    cause => Problem::of_end(&cause).text,
                };
                CloseCause::TlsFailed(format!("connection lost during the handshake: {why}"))
            }
            CloseCause::EndOfStream => {
                let text = "connection closed without TLS's close_notify";
                CloseCause::ReadFailed(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, text))
            }
            cause => cause,
        }
    }
}

impl Session {
    /// Sends what is to be sent, by a buffer that is allocated once.
    fn flush(&mut self, ciphertext: &mut Vec<u8>, io: &mut impl Transport, token: Token) -> Sending {
        ciphertext.clear();
        while self.connection.wants_write() {
            // Writing to a vector cannot fail.
            let _ = self.connection.write_tls(ciphertext);
        }
        if ciphertext.is_empty() { Sending::Accepted } else { io.send_bytes(token, ciphertext) }
    }

    /// Decrypts the available bytes. Returns whether the peer has sent its close notification.
    fn take(&mut self, mut bytes: &[u8], plaintext: &mut Vec<u8>) -> Result<bool, Error> {
        let mut has_ended = false;
        while !bytes.is_empty() && !has_ended {
            self.connection.read_tls(&mut bytes).map_err(|error| Error::General(error.to_string()))?;
            let processed = self.connection.process_new_packets();
            // What came before broken bytes counts.
            let mut reader = self.connection.reader();
            while let Ok(chunk) = reader.fill_buf() {
                let length = chunk.len();
                if length == 0 {
                    break;
                }
                plaintext.extend_from_slice(chunk);
                reader.consume(length);
            }
            has_ended = processed?.peer_has_closed();
        }
        Ok(has_ended)
    }
}

impl Security {
    /// The client's side of a connection, before its handshake.
    fn begin(&self) -> Result<ClientConnection, Error> {
        ClientConnection::new(self.config.clone(), self.server_name.clone())
    }

    /// The problem, if the negotiated protocol is not the required one.
    fn disagreement(&self, connection: &ClientConnection) -> Option<String> {
        let wants_http2 = self.config.alpn_protocols.iter().any(|name| name == b"h2");
        let agreed = connection.alpn_protocol();
        (wants_http2 && agreed != Some(b"h2")).then(|| {
            "the server does not agree to HTTP/2 (ALPN h2); let it offer h2, or speak HTTP/1.1 with it".to_owned()
        })
    }
}
