//! Sockets on macOS, where their properties are set after they are opened. A program that is started by another thread
//! in between inherits the socket. tare starts programs only through `crate::child`, which closes all such descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::SocketAddr;

use rustix::io::{Errno, FdFlags};
use rustix::net::{AddressFamily, Protocol, SendFlags, SocketType, sockopt};

/// No flag: `SO_NOSIGPIPE` of each socket prevents the signal when the peer is gone.
pub(crate) const SEND_FLAGS: SendFlags = SendFlags::empty();

/// What to do about an algorithm of congestion control that cannot be used.
pub const CONGESTION_REMEDY: &str = "leave the option out";

/// Opens a non-blocking stream socket that no program inherits.
pub(super) fn open_stream(family: AddressFamily, protocol: Option<Protocol>) -> io::Result<OwnedFd> {
    let socket = rustix::net::socket(family, SocketType::STREAM, protocol)?;
    prepare(socket.as_fd())?;
    sockopt::set_socket_nosigpipe(&socket, true)?;
    Ok(socket)
}

/// Accepts a connection as a non-blocking socket that no program inherits.
pub(crate) fn accept(listener: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    let socket = rustix::net::accept(listener)?;
    prepare(socket.as_fd())?;
    // A socket that died in the queue rejects the option. Its first read reports the error.
    let _ = sockopt::set_socket_nosigpipe(&socket, true);
    Ok(socket)
}

/// There is no choice.
pub(super) fn set_congestion(_socket: BorrowedFd<'_>, _algorithm: &str) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "macOS offers no choice"))
}

/// macOS does not say.
pub(super) fn congestion(_socket: BorrowedFd<'_>) -> io::Result<Option<String>> {
    Ok(None)
}

/// There are no such names.
///
/// # Errors
/// Always.
pub fn abstract_address(_name: &[u8]) -> io::Result<SocketAddr> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "macOS has no Unix sockets without a file"))
}

fn prepare(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::io::fcntl_setfd(socket, FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(socket, true)
}
