//! How many connections wait for a server on this machine to accept them, as the kernel reports it.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::net::SocketAddr;

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(target_os = "macos")]
use self::macos as system;

/// Returns how many connections the server has not accepted yet; `None` if that is unknown.
pub type Backlog = Box<dyn FnMut() -> Option<u64>>;

/// Reads the backlog of `target`, if it is on loopback. That of another machine is unknown.
pub fn backlog_reader(target: SocketAddr) -> Backlog {
    if target.ip().is_loopback() { system::reader(target.port()) } else { Box::new(|| None) }
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
        drop(listener);
        assert_eq!(backlog(), None);
    }

    #[test]
    fn nothing_is_seen_of_another_machine() {
        assert_eq!(backlog_reader(SocketAddr::from(([192, 0, 2, 1], 80)))(), None);
    }
}
