//! Listening sockets, asked for over netlink. `/proc/net/tcp` has them too, but to read that file, the kernel walks its
//! table of all connections, which takes milliseconds on a machine with much memory, even if the table is empty.
//! Source: sock_diag(7).

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::{io, mem};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

use super::net::Listener;

/// More than all listeners of one machine fill.
const MOST_DATAGRAMS: usize = 1024;
/// Length of a `nlmsghdr`, before each `inet_diag_msg`.
const HEADER: usize = 16;

/// A socket for questions to the kernel.
pub(super) struct SockDiag(OwnedFd);

impl SockDiag {
    pub(super) fn open() -> io::Result<Self> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        Ok(Self(rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?))
    }

    /// The listening sockets of both families, on one port or on all. Errors: of a kernel that does not tell.
    pub(super) fn listeners(&self, port: Option<u16>) -> io::Result<Vec<Listener>> {
        let mut found = Vec::new();
        self.read_family(AddressFamily::INET, port, &mut found)?;
        // A kernel without IPv6 is not an error.
        let _ = self.read_family(AddressFamily::INET6, port, &mut found);
        Ok(found)
    }

    fn read_family(&self, family: AddressFamily, port: Option<u16>, found: &mut Vec<Listener>) -> io::Result<()> {
        rustix::net::send(&self.0, &request(family, port), SendFlags::empty())?;
        let mut buffer = [0; 8192];
        for _ in 0..MOST_DATAGRAMS {
            let received = rustix::net::recv(&self.0, &mut buffer, RecvFlags::empty())?.0;
            if !read(&buffer[..received], found)? {
                return Ok(());
            }
        }
        Err(io::Error::other("the kernel's list of listening sockets does not end"))
    }
}

/// Asks for all listeners, or those on a port: a `nlmsghdr`, then an `inet_diag_req_v2`. Numbers are in this machine's
/// byte order, except for the port.
fn request(family: AddressFamily, port: Option<u16>) -> [u8; 72] {
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
    message[24..26].copy_from_slice(&port.unwrap_or(0).to_be_bytes());
    message[64..].copy_from_slice(&NO_COOKIE);
    message
}

/// Reads the messages of one datagram. Returns whether more will follow.
fn read(mut datagram: &[u8], found: &mut Vec<Listener>) -> io::Result<bool> {
    const ERROR: u16 = 2;
    const DONE: u16 = 3;
    while let Some(length) = u32_at(datagram, 0) {
        match datagram.get(4..6).map(|kind| u16::from_ne_bytes([kind[0], kind[1]])) {
            Some(ERROR) => {
                let code = u32_at(datagram, HEADER).unwrap_or_default() as i32;
                return Err(io::Error::from_raw_os_error(code.wrapping_neg()));
            }
            None | Some(DONE) => return Ok(false),
            Some(_) => found.extend(datagram.get(HEADER..).and_then(listener)),
        }
        let next = (length as usize).next_multiple_of(mem::align_of::<u32>());
        datagram = datagram.get(next.max(1)..).unwrap_or_default();
    }
    Ok(true)
}

/// The socket that an `inet_diag_msg` describes.
fn listener(message: &[u8]) -> Option<Listener> {
    const INET: u8 = AddressFamily::INET.as_raw() as u8;
    let port = u16::from_be_bytes(message.get(4..6)?.try_into().ok()?);
    let ip: IpAddr = match *message.first()? {
        INET => <[u8; 4]>::try_from(message.get(8..12)?).ok()?.into(),
        _ => <[u8; 16]>::try_from(message.get(8..24)?).ok()?.into(),
    };
    let (waiting, inode) = (u32_at(message, 56)?.into(), u32_at(message, 68)?.into());
    Some(Listener { address: SocketAddr::new(ip, port), inode, waiting })
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::net::listeners_in_table;
    use super::*;

    #[test]
    fn the_kernel_tells_the_same_in_both_ways() {
        let listeners = ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0"].map(|address| TcpListener::bind(address).unwrap());
        let ours = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
        let of_ours = |mut found: Vec<Listener>| {
            found.retain(|listener| ours.contains(&listener.address));
            found.sort_by_key(|listener| listener.inode);
            found
        };
        let told = of_ours(SockDiag::open().unwrap().listeners(None).unwrap());
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told, of_ours(listeners_in_table().unwrap()));
        let [first, ..] = ours;
        let of_port = SockDiag::open().unwrap().listeners(Some(first.port())).unwrap();
        assert!(!of_port.is_empty() && of_port.iter().all(|listener| listener.address.port() == first.port()));
    }

    #[test]
    fn an_answer_that_is_an_error_is_one() {
        let mut datagram = [0; 20];
        datagram[..4].copy_from_slice(&20_u32.to_ne_bytes());
        datagram[4..6].copy_from_slice(&2_u16.to_ne_bytes());
        datagram[16..].copy_from_slice(&(-2_i32).to_ne_bytes());
        let error = read(&datagram, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
