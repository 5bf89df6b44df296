//! Non-blocking stream sockets: how they are opened, and their common options. Pollers send and receive on them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::{fmt, io};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, Protocol, SendFlags, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, accept_with, ipproto,
    socket_with, sockopt,
};

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// How to send without a signal when the peer is gone.
pub(crate) const SEND_FLAGS: SendFlags = SendFlags::NOSIGNAL;

/// What to do about an algorithm of congestion control that cannot be used.
pub const CONGESTION_REMEDY: &str = "choose one of /proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Options of a connection's socket beyond the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SocketOptions {
    /// Congestion control algorithm (`reno`, `bbr`, …); `None` keeps the kernel's default.
    pub congestion: Option<String>,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
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

/// Starts a non-blocking connect with `TCP_NODELAY`. The socket becomes writable when the connect ends. Errors: those
/// that the kernel reports at once, such as no descriptors left, unknown congestion control, no route, no such file.
pub fn start_connect(target: &Target, options: &SocketOptions) -> io::Result<OwnedFd> {
    let (socket, address): (OwnedFd, SocketAddrAny) = match target {
        Target::Tcp(address) => (open(address, options)?, (*address).into()),
        Target::Unix(path) => (open_stream(AddressFamily::UNIX, None)?, SocketAddrUnix::new(path)?.into()),
    };
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens a non-blocking listening socket; port 0 selects a free one. The backlog is the kernel's largest, so that a
/// thousand clients may connect at the same time. Errors: when the address is in use or not ours.
pub fn open_listener(address: &SocketAddr) -> io::Result<OwnedFd> {
    let socket = open(address, &SocketOptions::default())?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, address)?;
    rustix::net::listen(&socket, i32::MAX)?;
    Ok(socket)
}

/// A TCP port that no socket of this machine is bound to at any address. Another process may take it the next moment.
pub fn free_port() -> io::Result<u16> {
    let bound = |ip: IpAddr| -> io::Result<u16> {
        let address = SocketAddr::new(ip, 0);
        // It never listens, so that no other process takes it for a server.
        let socket = open(&address, &SocketOptions::default())?;
        rustix::net::bind(&socket, &address)?;
        Ok(local_address(socket.as_fd())?.port())
    };
    // A socket of IPv6 has the port of IPv4, too. A machine may have no IPv6.
    bound(Ipv6Addr::UNSPECIFIED.into()).or_else(|_| bound(Ipv4Addr::UNSPECIFIED.into()))
}

pub fn local_address(socket: BorrowedFd<'_>) -> io::Result<SocketAddr> {
    SocketAddr::try_from(rustix::net::getsockname(socket)?).map_err(io::Error::from)
}

/// The congestion control algorithm that a socket opened with `options` towards `target` would use; `NotFound` for one that
/// the kernel does not offer.
pub fn congestion_in_use(target: &SocketAddr, options: &SocketOptions) -> io::Result<String> {
    Ok(sockopt::tcp_congestion(open(target, options)?)?)
}

/// Prepares a socket that was accepted or handed over: non-blocking, `TCP_NODELAY`.
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

/// Accepts a connection as a non-blocking socket that no program inherits.
pub(crate) fn accept(listener: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    accept_with(listener, FLAGS)
}

/// Connects at once to a Unix socket with a name that is not in the file system. Errors: `ConnectionRefused` when
/// nobody listens there, and `WouldBlock` when another connection would have to wait for those that the listener has
/// not accepted.
pub fn connect_abstract(name: &[u8]) -> io::Result<UnixStream> {
    let socket = open_stream(AddressFamily::UNIX, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new_abstract_name(name)?)?;
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(socket.into())
}

/// Opens a non-blocking stream socket that no program inherits.
fn open_stream(family: AddressFamily, protocol: Option<Protocol>) -> io::Result<OwnedFd> {
    Ok(socket_with(family, SocketType::STREAM, FLAGS, protocol)?)
}

fn open(target: &SocketAddr, options: &SocketOptions) -> io::Result<OwnedFd> {
    let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = open_stream(family, Some(ipproto::TCP))?;
    sockopt::set_tcp_nodelay(socket.as_fd(), true)?;
    if let Some(algorithm) = &options.congestion {
        sockopt::set_tcp_congestion(&socket, algorithm)?;
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
        assert_eq!(congestion_in_use(&loopback(), &options).unwrap(), "reno");
    }

    #[test]
    fn an_unknown_algorithm_is_refused() {
        let options = SocketOptions { congestion: Some("no-such-algorithm".to_owned()) };
        assert!(congestion_in_use(&loopback(), &options).is_err());
        assert!(start_connect(&loopback().into(), &options).is_err());
    }
}
