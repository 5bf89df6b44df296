//! Listening sockets, and the processes that hold them.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::process::Stat;
use super::sock_diag::SockDiag;
use super::{ProcfsError, numbers_in, read_as};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listener {
    pub address: SocketAddr,
    /// The socket's inode, which identifies its owner.
    pub inode: u64,
    /// Connections that wait to be accepted.
    pub waiting: u64,
}

/// A process that holds a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub pid: u32,
    pub comm: String,
}

/// Every listening TCP socket of this network namespace. Errors: when `/proc/net/tcp` cannot be read either. A kernel
/// without IPv6 is not an error.
pub fn listeners() -> Result<Vec<Listener>, ProcfsError> {
    listening(None)
}

/// Those on a port.
pub fn listeners_on(port: u16) -> Result<Vec<Listener>, ProcfsError> {
    listening(Some(port))
}

fn listening(port: Option<u16>) -> Result<Vec<Listener>, ProcfsError> {
    let told = SockDiag::open().and_then(|kernel| kernel.listeners(port));
    let mut all = told.or_else(|_| listeners_in_table())?;
    all.retain(|listener| port.is_none_or(|port| listener.address.port() == port));
    Ok(all)
}

/// All, as in `/proc/net/tcp`, where the kernel tells them in no other way.
pub(super) fn listeners_in_table() -> Result<Vec<Listener>, ProcfsError> {
    let mut all = read_as("/proc/net/tcp", |text| Some(parse_listeners(text)))?;
    all.extend(read_as("/proc/net/tcp6", |text| Some(parse_listeners(text))).unwrap_or_default());
    Ok(all)
}

/// The sockets that a process holds open; empty if it is gone or another user's.
pub fn sockets_of(pid: u32) -> HashSet<u64> {
    let descriptors = numbers_in(format!("/proc/{pid}/fd")).unwrap_or_default();
    descriptors.into_iter().filter_map(|fd| socket_inode(&format!("/proc/{pid}/fd/{fd}"))).collect()
}

fn socket_inode(link: &str) -> Option<u64> {
    let target = fs::read_link(link).ok()?;
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The first process found that holds one of these sockets; `None` if it is another user's, because only root may read
/// its descriptors.
pub fn socket_owner(inodes: &HashSet<u64>) -> Option<Owner> {
    let pids = numbers_in("/proc").unwrap_or_default();
    let pid = pids.into_iter().find(|&pid| !sockets_of(pid).is_disjoint(inodes))?;
    Some(Owner { pid, comm: Stat::of_process(pid).map(|stat| stat.comm).unwrap_or_default() })
}

/// Parses the listening sockets of `/proc/net/tcp` or `tcp6`. Lines of other states or forms are skipped. Source:
/// proc_pid_net(5): addresses in hexadecimal, each group of four bytes in the machine's byte order; state 0A is LISTEN.
pub fn parse_listeners(text: &str) -> Vec<Listener> {
    text.lines().skip(1).filter_map(listener).collect()
}

fn listener(line: &str) -> Option<Listener> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (address, port) = fields.get(1)?.split_once(':')?;
    if *fields.get(3)? != "0A" {
        return None;
    }
    let address = SocketAddr::new(ip(address)?, u16::from_str_radix(port, 16).ok()?);
    let (_, waiting) = fields.get(4)?.split_once(':')?;
    let waiting = u64::from_str_radix(waiting, 16).ok()?;
    Some(Listener { address, inode: fields.get(9)?.parse().ok()?, waiting })
}

fn ip(hex: &str) -> Option<IpAddr> {
    let group = |at: usize| Some(u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    match hex.len() {
        8 => Some(Ipv4Addr::from(group(0)?).into()),
        32 => {
            let bytes = [group(0)?, group(8)?, group(16)?, group(24)?].concat();
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 0 10 -1
   2: garbage";
    const TCP6: &str = "  sl  local_address                         remote_address st
   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 99 1";

    #[cfg(target_endian = "little")]
    #[test]
    fn only_listening_sockets_are_taken() {
        let found = parse_listeners(TCP);
        assert_eq!(found, [Listener { address: "127.0.0.1:8080".parse().unwrap(), inode: 4711, waiting: 0 }]);
        assert_eq!(parse_listeners(TCP6)[0], Listener { address: "[::1]:80".parse().unwrap(), inode: 99, waiting: 0 });
    }

    #[test]
    fn a_socket_of_ours_is_found_to_be_ours() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let found = listeners().unwrap().into_iter().find(|listener| listener.address == address).unwrap();
        assert!(sockets_of(std::process::id()).contains(&found.inode));
        assert_eq!(socket_owner(&HashSet::from([found.inode])).unwrap().pid, std::process::id());
    }
}
