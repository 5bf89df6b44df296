//! Where a server is asked, and the connection to it, with or without TLS.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, ClientConnection, Error, RootCertStore, StreamOwned};
use tare_units::duration;

/// Where a server is asked, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub address: SocketAddr,
    /// The `Host` of requests, where that is not the address.
    pub host: Option<String>,
    /// Whether it is asked in HTTP/2, and otherwise in HTTP/1.1.
    pub is_http2: bool,
    pub security: Option<Security>,
    /// Raised once nothing more is to be asked.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Self { address, host: None, is_http2: false, security: None, cancelled: None }
    }
}

impl Endpoint {
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
    }
}

/// TLS settings of the connections to a server, with the protocols that are offered.
#[derive(Debug, Clone)]
pub struct Security {
    /// Trusted authorities, the client's certificate, and ALPN.
    pub config: Arc<ClientConfig>,
    pub server_name: ServerName<'static>,
}

#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Secure(Box<Secure>),
}

impl Stream {
    /// Connects, and agrees on TLS where that is given. An error says what a suite can do about it.
    pub(super) fn open(address: SocketAddr, security: Option<&Security>, timeout: Duration) -> io::Result<Self> {
        let socket = open_socket(address, timeout)?;
        let Some(security) = security else { return Ok(Self::Plain(socket)) };
        let wants_http2 = security.config.alpn_protocols.first().is_some_and(|name| name == HTTP2);
        let agreed = agree(socket, security);
        // A server may also refuse the handshake where it does not speak what is asked.
        let is_refusal = match &agreed {
            Ok(secure) => secure.conn.alpn_protocol() != Some(HTTP2),
            Err(error) => error.to_string().contains("NoApplicationProtocol"),
        };
        if !wants_http2 || !is_refusal {
            return agreed.map(|secure| Self::Secure(Box::new(secure))).map_err(with_remedy);
        }
        // Some servers serve one connection at a time.
        drop(agreed);
        Err(io::Error::other(format!(
            "the server does not agree to HTTP/2 (ALPN h2){}; write protocol = \"http1\", or let it speak HTTP/2",
            offered_instead(address, security, timeout)
        )))
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

type Secure = StreamOwned<ClientConnection, TcpStream>;

const HTTP2: &[u8] = b"h2";

/// A connection that has no TLS yet.
fn open_socket(address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(&address, timeout)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(timeout))?;
    socket.set_write_timeout(Some(timeout))?;
    Ok(socket)
}

fn agree(mut socket: TcpStream, Security { config, server_name }: &Security) -> io::Result<Secure> {
    let connection = ClientConnection::new(Arc::clone(config), server_name.clone());
    let mut connection = connection.map_err(io::Error::other)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(connection, socket))
}

/// Whether a server that does not answer without TLS agrees to it.
pub(super) fn speaks_tls(address: SocketAddr, timeout: Duration) -> bool {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let Ok(config) = config.with_safe_default_protocol_versions() else { return false };
    let config = Arc::new(config.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    let security = Security { config, server_name: address.ip().into() };
    match open_socket(address, timeout).and_then(|socket| agree(socket, &security)) {
        Ok(_) => true,
        // Its certificate cannot be trusted here, but it has sent one; or it has refused the name.
        Err(error) => matches!(of_tls(&error), Some(Error::InvalidCertificate(_) | Error::AlertReceived(_))),
    }
}

fn of_tls(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

/// Why TLS has failed, with what a suite can do about it.
fn with_remedy(error: io::Error) -> io::Error {
    let remedy = match of_tls(&error) {
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => "write a name that it has, tls = { server_name = \"NAME\" }",
        Some(Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. })) => {
            "renew it, or check nothing, tls = { insecure = true }"
        }
        Some(Error::InvalidCertificate(_)) => {
            "name the file of its authority, or its own, tls = { ca = \"FILE\" }, or check nothing, tls = { insecure = true }"
        }
        Some(Error::InvalidMessage(_)) => "does the server speak TLS on this port? Otherwise ask it without",
        Some(Error::AlertReceived(
            AlertDescription::CertificateRequired | AlertDescription::BadCertificate | AlertDescription::UnknownCA,
        )) => "give a client certificate that it accepts, tls = { certificate = \"FILE\", key = \"FILE\" }",
        // That it refuses HTTP/2 is said elsewhere.
        Some(Error::AlertReceived(AlertDescription::NoApplicationProtocol)) => {
            "the server does not agree to HTTP/1.1; write protocol = \"h2\", or let it speak HTTP/1.1"
        }
        _ => return error,
    };
    let reason = match of_tls(&error) {
        Some(Error::InvalidCertificate(CertificateError::ExpiredContext { time, not_after })) => {
            let since_s = time.as_secs().saturating_sub(not_after.as_secs());
            format!("the server's certificate expired {} ago", duration(since_s as f64))
        }
        _ => error.to_string(),
    };
    let untrusted = "the server's certificate is not trusted";
    // rustls knows no words for these.
    let reason = if reason.contains("CaUsedAsEndEntity") {
        format!("{untrusted}: it is an authority's own, such as one that it has signed itself, and ca does not name it")
    } else if reason.contains("UnknownIssuer") {
        format!("{untrusted}: ca does not name its authority")
    } else {
        reason
    };
    io::Error::new(error.kind(), format!("{reason}; {remedy}"))
}

/// What a server agrees to that does not agree to HTTP/2, for an error.
fn offered_instead(address: SocketAddr, security: &Security, timeout: Duration) -> &'static str {
    let mut config = ClientConfig::clone(&security.config);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let security = Security { config: Arc::new(config), ..security.clone() };
    match open_socket(address, timeout).and_then(|socket| agree(socket, &security)) {
        Ok(secure) if secure.conn.alpn_protocol().is_some() => ", and offers http/1.1",
        Ok(_) => ", and offers no protocol by ALPN",
        Err(_) => "",
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            // A server may refuse a client certificate only after the handshake.
            Self::Secure(stream) => stream.read(buffer).map_err(with_remedy),
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
