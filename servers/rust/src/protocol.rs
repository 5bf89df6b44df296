//! What a server speaks: HTTP/1.1, or what `TARE_PROTOCOL` says instead: `h2c`, HTTP/2 without TLS, or `h2`, over TLS.

use std::env;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::serve::{Listener, ListenerExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// Connections whose handshake is done, and that nobody has taken yet.
const WAITING: usize = 1024;

/// Whether it is HTTP/2.
pub fn is_http2() -> bool {
    ["h2c", "h2"].contains(&spoken().as_str())
}

fn spoken() -> String {
    env::var("TARE_PROTOCOL").unwrap_or_default()
}

/// The listener of connections without TLS. They send each answer at once.
pub fn plain(listener: TcpListener) -> impl Listener<Io = TcpStream, Addr = SocketAddr> {
    listener.tap_io(|stream| {
        // An error means that the connection broke. The next read reports that.
        let _ = stream.set_nodelay(true);
    })
}

/// What makes a connection one over TLS, with the certificate and the key in `TARE_CERTIFICATE` (PEM); `None` without TLS.
pub fn acceptor() -> io::Result<Option<TlsAcceptor>> {
    if spoken() != "h2" {
        return Ok(None);
    }
    let pem = env::var("TARE_CERTIFICATE").map_err(io::Error::other)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(io::Error::other)?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(chain.map_err(io::Error::other)?, key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

/// Connections over TLS. Each handshake is a task of its own, so that a slow client delays nobody.
pub struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// Accepts from `listener` until the process ends.
    pub fn new(listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(WAITING);
        let mut listener = plain(listener);
        tokio::spawn(async move {
            loop {
                let (stream, client) = listener.accept().await;
                let (acceptor, sender) = (acceptor.clone(), sender.clone());
                tokio::spawn(async move {
                    // A client that does not agree on TLS, or is gone, gets no answer.
                    if let Ok(stream) = acceptor.accept(stream).await {
                        let _ = sender.send((stream, client)).await;
                    }
                });
            }
        });
        Ok(Self { ready, address })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The task that accepts ends with the process only.
            None => pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
