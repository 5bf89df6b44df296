//! How a connection is to be secured, as its author writes it.

use std::path::PathBuf;

/// TLS as a session is to speak it; the protocol within is agreed upon by ALPN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSpec {
    /// The name that the server's certificate must be of, a DNS name or an IP address; a DNS name is also sent (SNI).
    pub server_name: String,
    /// Whom to believe that the server is who it says.
    pub trust: Trust,
    /// How this side identifies itself, where the server asks for it.
    pub identity: Option<Identity>,
}

impl TlsSpec {
    /// TLS towards a server of that name, which the authorities of this system vouch for.
    pub fn new(server_name: &str) -> Self {
        Self { server_name: server_name.to_owned(), trust: Trust::System, identity: None }
    }
}

/// Whom to believe that a server is who it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The authorities that the operating system trusts.
    System,
    /// The authorities in this PEM file, and no others; also a server whose own certificate is in it.
    Authorities(PathBuf),
    /// Anybody: certificates are not checked.
    Anybody,
}

/// A client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A PEM file with the certificate, and those that vouch for it.
    pub certificate: PathBuf,
    /// A PEM file with its private key.
    pub key: PathBuf,
}
