//! Sockets on Linux, where one call opens a socket as it should be.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::SocketAddr;

use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SendFlags, SocketFlags, SocketType, socket_with, sockopt};

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// How to send without a signal when the peer is gone.
pub(crate) const SEND_FLAGS: SendFlags = SendFlags::NOSIGNAL;

/// What to do about an algorithm of congestion control that cannot be used.
pub const CONGESTION_REMEDY: &str = "choose one of /proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// Opens a non-blocking stream socket that no program inherits.
pub(super) fn open_stream(family: AddressFamily, protocol: Option<Protocol>) -> io::Result<OwnedFd> {
    Ok(socket_with(family, SocketType::STREAM, FLAGS, protocol)?)
}

/// Accepts a connection as a non-blocking socket that no program inherits.
pub(crate) fn accept(listener: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    rustix::net::accept_with(listener, FLAGS)
}

/// Chooses the congestion control algorithm of a socket.
pub(super) fn set_congestion(socket: BorrowedFd<'_>, algorithm: &str) -> io::Result<()> {
    Ok(sockopt::set_tcp_congestion(socket, algorithm)?)
}

/// The congestion control algorithm of a socket.
pub(super) fn congestion(socket: BorrowedFd<'_>) -> io::Result<Option<String>> {
    Ok(Some(sockopt::tcp_congestion(socket)?))
}

/// The address of a Unix socket with a name that is not in the file system.
///
/// # Errors
/// When the name is too long, and always on macOS, which has no such names.
pub fn abstract_address(name: &[u8]) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name)
}
