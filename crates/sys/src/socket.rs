//! Non-blocking stream sockets: how they are opened, and their common options. Pollers send and receive on them.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::{fmt, io};

use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix, ipproto, sockopt};

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;

pub use self::system::{CONGESTION_REMEDY, abstract_address};
pub(crate) use self::system::{SEND_FLAGS, accept};

/// Options of a connection's socket beyond the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Congestion control algorithm (`reno`, `bbr`, …); `None` keeps the kernel's default.
    pub congestion: Option<String>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// An address and a port.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl Target {
    /// The address; `None` for a file.
    pub const fn tcp_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }

    /// Whether it is on this machine: a file, or an address to which a local socket can be bound.
    pub fn is_on_this_machine(&self) -> bool {
        self.tcp_address().is_none_or(|mut address| {
            address.set_port(0);
            UdpSocket::bind(address).is_ok()
        })
    }

    /// The address as the kernel expects it.
    pub(crate) fn encode(&self) -> io::Result<SocketAddrAny> {
        Ok(match self {
            Self::Tcp(address) => (*address).into(),
            Self::Unix(path) => SocketAddrUnix::new(path)?.into(),
        })
    }

    /// Opens a non-blocking socket that can connect to it, with `TCP_NODELAY` for TCP.
    ///
    /// # Errors
    /// When no file descriptor is left, or the congestion control algorithm is unknown.
    pub(crate) fn open(&self, options: &SocketOptions) -> io::Result<OwnedFd> {
        match self {
            Self::Tcp(address) => open(address, options),
            Self::Unix(_) => system::open_stream(AddressFamily::UNIX, None),
        }
    }
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Starts a non-blocking connect with `TCP_NODELAY`. The socket becomes writable when the connect ends.
///
/// # Errors
/// Errors that the kernel reports at once: no file descriptors left, unknown congestion control, no route, no such
/// file.
pub fn start_connect(target: &Target, options: &SocketOptions) -> io::Result<OwnedFd> {
    let socket = target.open(options)?;
    match rustix::net::connect(&socket, &target.encode()?) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(socket),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens a non-blocking listening socket; port 0 selects a free one. The backlog is the kernel's largest, so that a
/// thousand clients may connect at the same time.
///
/// # Errors
/// When the address is in use or not ours.
pub fn open_listener(address: &SocketAddr) -> io::Result<OwnedFd> {
    let socket = open(address, &SocketOptions::default())?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, address)?;
    rustix::net::listen(&socket, i32::MAX)?;
    Ok(socket)
}

/// The address that a socket is bound to.
///
/// # Errors
/// When it is not an IP socket.
pub fn local_address(socket: BorrowedFd<'_>) -> io::Result<SocketAddr> {
    SocketAddr::try_from(rustix::net::getsockname(socket)?).map_err(io::Error::from)
}

/// The congestion control algorithm that a socket opened with `options` towards `target` would use; `None` where the
/// kernel does not say, as on macOS.
///
/// # Errors
/// As for [`start_connect`]. An algorithm that the kernel does not offer is `NotFound`. Where none can be chosen, as on
/// macOS, the kind is `Unsupported`.
pub fn congestion_in_use(target: &SocketAddr, options: &SocketOptions) -> io::Result<Option<String>> {
    system::congestion(open(target, options)?.as_fd())
}

/// Prepares a socket that was accepted or handed over: non-blocking, `TCP_NODELAY`.
///
/// # Errors
/// When the descriptor is not a TCP socket.
pub fn prepare_accepted(socket: BorrowedFd<'_>) -> io::Result<()> {
    rustix::io::ioctl_fionbio(socket, true)?;
    Ok(sockopt::set_tcp_nodelay(socket, true)?)
}

/// The error of a failed non-blocking connect; `None` if it did not fail.
pub(crate) fn pending_error(socket: BorrowedFd<'_>) -> Option<io::Error> {
    match sockopt::socket_error(socket) {
        Ok(Ok(())) => None,
        Ok(Err(errno)) | Err(errno) => Some(errno.into()),
    }
}

fn open(target: &SocketAddr, options: &SocketOptions) -> io::Result<OwnedFd> {
    let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = system::open_stream(family, Some(ipproto::TCP))?;
    sockopt::set_tcp_nodelay(socket.as_fd(), true)?;
    if let Some(algorithm) = &options.congestion {
        system::set_congestion(socket.as_fd(), algorithm)?;
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 1))
    }

    #[test]
    fn the_algorithm_asked_for_is_the_one_in_use() {
        let options = SocketOptions { congestion: Some("reno".to_owned()) };
        assert_eq!(congestion_in_use(&loopback(), &options).unwrap().as_deref(), Some("reno"));
    }

    #[test]
    fn an_unknown_algorithm_is_refused() {
        let options = SocketOptions { congestion: Some("no-such-algorithm".to_owned()) };
        assert!(congestion_in_use(&loopback(), &options).is_err());
        assert!(start_connect(&loopback().into(), &options).is_err());
    }
}
