//! How many connections wait for a server on this machine to accept them.

use std::net::SocketAddr;

use super::sock_diag::SockDiag;

/// Returns how many connections the server has not accepted yet; `None` if that is unknown.
pub type Backlog = Box<dyn FnMut() -> Option<u64>>;

/// Reads the backlog of `target`, if it is on loopback. That of another machine is unknown.
pub fn backlog_reader(target: SocketAddr) -> Backlog {
    if target.ip().is_loopback() { fullest_reader(target.port()) } else { Box::new(|| None) }
}

/// Reads the backlog of the fullest listener on `port`. A server on 127.0.0.1 may listen on either address family; JVMs
/// use IPv6.
fn fullest_reader(port: u16) -> Backlog {
    let Ok(kernel) = SockDiag::open() else { return Box::new(|| None) };
    Box::new(move || kernel.listeners(Some(port)).ok()?.into_iter().map(|listener| listener.waiting).max())
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use rustix::net::{AddressFamily, SocketType};

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
