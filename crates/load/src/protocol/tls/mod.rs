//! The layer between socket and protocol: none, or TLS. The worker reads and writes plain text in both cases.

mod config;
mod connections;
mod failure;
mod pem;
mod verify;

use std::path::PathBuf;

use tare_sample::TlsTrust;
use tare_sys::poll::{Payload, Sending, Token, Transport};
use tare_sys::socket::{SocketOptions, Target};

pub(crate) use self::config::Security;
pub use self::config::tls_client;
pub(crate) use self::connections::Tls;

/// TLS settings of a session. ALPN negotiates the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSpec {
    /// The name that the server's certificate must have: a DNS name or an IP address. A DNS name is also sent (SNI).
    pub server_name: String,
    pub trust: TlsTrust,
    /// The client's certificate, for servers that ask for one.
    pub identity: Option<Identity>,
    /// Whether a new connection may resume the session of an earlier one.
    pub resumption: bool,
}

impl TlsSpec {
    /// TLS with a server of this name, verified by the authorities of the operating system.
    pub fn new(server_name: &str) -> Self {
        Self { server_name: server_name.to_owned(), trust: TlsTrust::System, identity: None, resumption: true }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A PEM file with the certificate and its chain.
    pub certificate: PathBuf,
    /// A PEM file with its private key.
    pub key: PathBuf,
}

/// A transport of plain text on top of the poller's transport.
pub(crate) struct Channel<'a, T> {
    pub(crate) io: &'a mut T,
    pub(crate) tls: Option<&'a mut Tls>,
}

impl<T: Transport> Transport for Channel<'_, T> {
    fn connect(&mut self, token: Token, target: &Target, options: &SocketOptions) {
        self.io.connect(token, target, options);
    }

    fn send(&mut self, token: Token, payload: &Payload) -> Sending {
        match &mut self.tls {
            None => self.io.send(token, payload),
            Some(tls) => tls.send(self.io, token, payload),
        }
    }

    fn send_bytes(&mut self, token: Token, bytes: &[u8]) -> Sending {
        match &mut self.tls {
            None => self.io.send_bytes(token, bytes),
            Some(tls) => tls.send(self.io, token, bytes),
        }
    }

    fn renumber(&mut self, from: Token, to: Token) {
        if let Some(tls) = &mut self.tls {
            tls.renumber(from, to);
        }
        self.io.renumber(from, to);
    }

    fn close(&mut self, token: Token) {
        if let Some(tls) = &mut self.tls {
            tls.close(self.io, token);
        }
        self.io.close(token);
    }
}
