//! The backlog on Linux, over netlink. `/proc/net/tcp` has the same number. But to read that file, the kernel walks its
//! table of all connections, which takes milliseconds on a machine with much memory, even if the table is empty.

use std::os::fd::OwnedFd;
use std::{io, mem};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

use super::Backlog;

/// Reads the backlog of the fullest listener on `port`. A server on 127.0.0.1 may listen on either address family; JVMs
/// use IPv6.
///
/// # Source
/// sock_diag(7): `idiag_rqueue` of a listening socket is the length of its accept queue.
pub(super) fn reader(port: u16) -> Backlog {
    let Ok(socket) = open() else { return Box::new(|| None) };
    let families = [AddressFamily::INET, AddressFamily::INET6];
    Box::new(move || families.iter().filter_map(|family| fullest(&socket, *family, port).ok().flatten()).max())
}

fn open() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    Ok(rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?)
}

/// The longest accept queue of the listeners on `port`, of one family.
fn fullest(socket: &OwnedFd, family: AddressFamily, port: u16) -> io::Result<Option<u64>> {
    rustix::net::send(socket, &request(family, port), SendFlags::empty())?;
    let mut fullest = None;
    let mut buffer = [0; 8192];
    loop {
        let received = rustix::net::recv(socket, &mut buffer, RecvFlags::empty())?.0;
        if !read(&buffer[..received], &mut fullest) {
            return Ok(fullest);
        }
    }
}

/// Asks for all listeners on `port`: a `nlmsghdr`, then an `inet_diag_req_v2`. Numbers are in this machine's byte
/// order, except for the port.
fn request(family: AddressFamily, port: u16) -> [u8; 72] {
    const REQUEST_AND_DUMP: u16 = 0x301;
    const BY_FAMILY: u16 = 20;
    const TCP: u8 = 6;
    const LISTENING: u32 = 1 << 10;
    const NO_COOKIE: [u8; 8] = [0xff; 8];
    let mut message = [0; 72];
    message[..4].copy_from_slice(&72_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    message[6..8].copy_from_slice(&REQUEST_AND_DUMP.to_ne_bytes());
    message[16] = family.as_raw() as u8;
    message[17] = TCP;
    message[20..24].copy_from_slice(&LISTENING.to_ne_bytes());
    message[24..26].copy_from_slice(&port.to_be_bytes());
    message[64..].copy_from_slice(&NO_COOKIE);
    message
}

/// Reads the messages of one datagram. Returns whether more will follow.
fn read(mut datagram: &[u8], fullest: &mut Option<u64>) -> bool {
    const ERROR: u16 = 2;
    const DONE: u16 = 3;
    /// Offset of `idiag_rqueue` in an `inet_diag_msg`, after the header.
    const WAITING_AT: usize = 16 + 56;
    while let Some(length) = u32_at(datagram, 0) {
        let kind = datagram.get(4..6).map(|kind| u16::from_ne_bytes([kind[0], kind[1]]));
        if matches!(kind, None | Some(DONE | ERROR)) {
            return false;
        }
        *fullest = (*fullest).max(u32_at(datagram, WAITING_AT).map(u64::from));
        let next = (length as usize).next_multiple_of(mem::align_of::<u32>());
        datagram = datagram.get(next.max(1)..).unwrap_or_default();
    }
    true
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
