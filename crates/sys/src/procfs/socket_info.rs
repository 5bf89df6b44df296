//! An open socket as the kernel of macOS describes it.
//!
//! # Source
//! `<sys/proc_info.h>`.

use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// `soi_kind` of a TCP socket.
const SOCKINFO_TCP: i32 = 2;
/// `tcpsi_state` of a socket that listens.
const TCP_LISTENS: i32 = 1;
/// `insi_vflag` of a socket for IPv4 only.
const IS_IPV4: u8 = 1;

/// What the kernel says of an open socket: `socket_fdinfo`, as far as tare reads it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct SocketFdInfo {
    file: [u64; 3],
    /// `vinfo_stat`.
    about: [u64; 17],
    /// The kernel's number of the socket.
    pub handle: u64,
    control_block: u64,
    kind: i32,
    protocol: i32,
    family: i32,
    options: i16,
    linger: i16,
    state: i16,
    /// Connections that wait to be accepted.
    pub waiting: i16,
    incomplete: i16,
    most_waiting: i16,
    timeout: i16,
    error: u16,
    oob_mark: u32,
    buffers: [u32; 12],
    /// What the rest is.
    rest_kind: i32,
    reserved: u32,
    tcp: TcpInfo,
    /// The other forms of the rest are longer.
    longest: [u64; 51],
}

/// `tcp_sockinfo`.
#[repr(C)]
#[derive(Clone, Copy)]
struct TcpInfo {
    foreign_port: i32,
    /// In network order.
    local_port: i32,
    generation: u64,
    flags: u32,
    flow: u32,
    versions: u8,
    hops: u8,
    reserved: u32,
    foreign_address: [u8; 16],
    /// The last four bytes are an IPv4 address.
    local_address: [u8; 16],
    options: [u32; 4],
    state: i32,
    timers: [i32; 4],
    segment_bytes: i32,
    tcp_flags: u32,
    tcp_reserved: u32,
    tcp_handle: u64,
}

const _: () = assert!(size_of::<TcpInfo>() == 120 && size_of::<SocketFdInfo>() == 792);

impl SocketFdInfo {
    /// The address that a socket listens on; `None` if it does not.
    pub(super) fn listens_on(&self) -> Option<SocketAddr> {
        if self.rest_kind != SOCKINFO_TCP || self.tcp.state != TCP_LISTENS {
            return None;
        }
        let address = &self.tcp.local_address;
        // A socket for both versions has an IPv6 address.
        let ip = if self.tcp.versions == IS_IPV4 {
            IpAddr::from(Ipv4Addr::from(*address.last_chunk::<4>()?))
        } else {
            IpAddr::from(Ipv6Addr::from(*address))
        };
        Some(SocketAddr::new(ip, u16::from_be(self.tcp.local_port as u16)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A listener on port 8080, in the order of bytes of the network.
    fn listener(versions: u8, local_address: [u8; 16]) -> SocketFdInfo {
        // SAFETY: it has only numbers and arrays of them, and zeroes are a valid value of each.
        let mut info: SocketFdInfo = unsafe { std::mem::zeroed() };
        info.rest_kind = SOCKINFO_TCP;
        info.waiting = 3;
        info.tcp.state = TCP_LISTENS;
        info.tcp.local_port = i32::from(8080_u16.to_be());
        info.tcp.versions = versions;
        info.tcp.local_address = local_address;
        info
    }

    #[test]
    fn the_address_of_a_listener_is_found_for_both_versions() {
        let mut local = [0; 16];
        local[12..].copy_from_slice(&[127, 0, 0, 1]);
        assert_eq!(listener(IS_IPV4, local).listens_on(), Some("127.0.0.1:8080".parse().unwrap()));
        assert_eq!(listener(3, [0; 16]).listens_on(), Some("[::]:8080".parse().unwrap()), "it takes both");
    }

    #[test]
    fn what_does_not_listen_has_no_address() {
        let mut connected = listener(IS_IPV4, [0; 16]);
        connected.tcp.state = 4;
        let mut of_files = listener(IS_IPV4, [0; 16]);
        of_files.rest_kind = 3;
        assert_eq!((connected.listens_on(), of_files.listens_on()), (None, None));
    }
}
