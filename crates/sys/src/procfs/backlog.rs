//! How many connections wait for a server on this machine to accept them. The kernel reports it over netlink.
//! `/proc/net/tcp` has the same number. But to read that file, the kernel walks its table of all connections, which
//! takes milliseconds on a machine with much memory, even if the table is empty.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::{io, mem};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// Returns how many connections the server has not accepted yet; `None` if that is unknown.
pub type Backlog = Box<dyn FnMut() -> Option<u64>>;

/// Reads the backlog of `target`, if it is on loopback. That of another machine is unknown.
pub fn backlog_reader(target: SocketAddr) -> Backlog {
    if target.ip().is_loopback() { fullest_reader(target.port()) } else { Box::new(|| None) }
}

/// Reads the backlog of the fullest listener on `port`. A server on 127.0.0.1 may listen on either address family; JVMs
/// use IPv6. Source: sock_diag(7): `idiag_rqueue` of a listening socket is the length of its accept queue.
fn fullest_reader(port: u16) -> Backlog {
    let Ok(socket) = open() else { return Box::new(|| None) };
    let families = [AddressFamily::INET, AddressFamily::INET6];
    Box::new(move || families.iter().filter_map(|family| fullest(&socket, *family, port).ok().flatten()).max())
}

fn open() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    Ok(rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?)
}

/// More than all listeners of one port fill.
const MOST_DATAGRAMS: usize = 256;

/// The longest accept queue of the listeners on `port`, of one family.
fn fullest(socket: &OwnedFd, family: AddressFamily, port: u16) -> io::Result<Option<u64>> {
    rustix::net::send(socket, &request(family, port), SendFlags::empty())?;
    let mut fullest = None;
    let mut buffer = [0; 8192];
    for _ in 0..MOST_DATAGRAMS {
        let received = rustix::net::recv(socket, &mut buffer, RecvFlags::empty())?.0;
        if !read(&buffer[..received], &mut fullest) {
            break;
        }
    }
    Ok(fullest)
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

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_has_not_been_accepted_is_seen() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut backlog = backlog_reader(address);
        assert_eq!(backlog(), Some(0));
        let _clients: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(backlog(), Some(3));
        let _accepted = listener.accept().unwrap();
        assert_eq!(backlog(), Some(2));
    }

    #[test]
    fn where_nobody_listens_there_is_no_backlog() {
        // The port is held, so that no other program listens there.
        let held = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&held, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = rustix::net::getsockname(&held).unwrap().try_into().unwrap();
        assert_eq!(backlog_reader(address)(), None);
    }

    #[test]
    fn nothing_is_seen_of_another_machine() {
        assert_eq!(backlog_reader(SocketAddr::from(([192, 0, 2, 1], 80)))(), None);
    }
}
