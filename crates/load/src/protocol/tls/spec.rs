//! TLS settings of a session.

use std::path::PathBuf;

use tare_sample::TlsTrust;

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

/// A client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A PEM file with the certificate and its chain.
    pub certificate: PathBuf,
    /// A PEM file with its private key.
    pub key: PathBuf,
}
