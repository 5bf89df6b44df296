//! Errors that keep the reference server from serving.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;

/// Why the reference server could not serve.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The port could not be bound.
    #[error("cannot listen on {address}: {source}; choose another port, or 0 for any")]
    Listen {
        address: SocketAddr,
        /// The kernel's reason.
        source: io::Error,
    },
    /// The poller could not be opened or refused to wait.
    #[error("cannot wait for socket events: {0}; raise `ulimit -n` if it says that too many files are open")]
    Poll(#[source] io::Error),
    /// SIGTERM could not be ignored, or the thread could not be started.
    #[error("cannot set up the reference server: {0}")]
    SetUp(#[source] io::Error),
}
