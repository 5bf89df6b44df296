//! A connection to a server, with or without TLS.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

/// TLS settings of the connections to a server, with the protocols that are offered.
#[derive(Debug, Clone)]
pub struct Security {
    /// Trusted authorities, the client's certificate, and ALPN.
    pub config: Arc<ClientConfig>,
    /// The name that the certificate must have.
    pub server_name: ServerName<'static>,
}

const NO_HTTP2: &str =
    "the server does not agree to HTTP/2 (ALPN h2); write protocol = \"http1\", or let it speak HTTP/2";

/// An open connection.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Connects, and agrees on TLS where that is given.
    ///
    /// # Errors
    /// When the server cannot be reached, is not trusted, or speaks another protocol.
    pub(super) fn open(address: SocketAddr, security: Option<&Security>, timeout: Duration) -> io::Result<Self> {
        let mut socket = TcpStream::connect_timeout(&address, timeout)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(timeout))?;
        socket.set_write_timeout(Some(timeout))?;
        let Some(Security { config, server_name }) = security else { return Ok(Self::Plain(socket)) };
        let connection = ClientConnection::new(Arc::clone(config), server_name.clone());
        let mut connection = connection.map_err(io::Error::other)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).map_err(explained)?;
        }
        let wanted = config.alpn_protocols.first();
        let is_http2 = wanted.is_some_and(|name| name == b"h2");
        if is_http2 && connection.alpn_protocol() != Some(b"h2") {
            return Err(io::Error::other(NO_HTTP2));
        }
        Ok(Self::Secure(Box::new(StreamOwned::new(connection, socket))))
    }

    /// How long a read waits for a byte.
    pub(super) fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        let socket = match self {
            Self::Plain(socket) => socket,
            Self::Secure(stream) => &stream.sock,
        };
        socket.set_read_timeout(Some(timeout))
    }
}

/// A server may refuse the handshake where it does not speak what is offered.
fn explained(error: io::Error) -> io::Error {
    let is_refusal = error.to_string().contains("NoApplicationProtocol");
    if is_refusal { io::Error::other(NO_HTTP2) } else { error }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Secure(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Secure(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Secure(stream) => stream.flush(),
        }
    }
}
