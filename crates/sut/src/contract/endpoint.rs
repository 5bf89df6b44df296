//! Where a server is asked, and how it is spoken to.

use std::net::SocketAddr;

use super::stream::Security;

/// Where a server is asked, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub address: SocketAddr,
    /// The `Host` of requests, where that is not the address.
    pub host: Option<String>,
    /// Whether it is asked in HTTP/2, and otherwise in HTTP/1.1.
    pub is_http2: bool,
    /// TLS; `None` without.
    pub security: Option<Security>,
}

/// HTTP/1.1 without TLS.
impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Self {
        Self { address, host: None, is_http2: false, security: None }
    }
}
