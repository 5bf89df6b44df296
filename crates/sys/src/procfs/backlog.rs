//! How many connections wait for a server on this machine to accept them, as the kernel tells it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;

/// The state of a listening socket in the kernel's tables.
const LISTENING: &str = "0A";

/// Tells how many connections the server has not accepted yet; `None` where that cannot be seen.
pub type Backlog = Box<dyn FnMut() -> Option<u64>>;

/// The backlog of `target` if it is on loopback; of another machine nothing can be seen.
///
/// # Source
/// proc_pid_net(5): `rx_queue` of a listening socket is its accept queue.
pub fn of(target: SocketAddr) -> Backlog {
    if !target.ip().is_loopback() {
        return Box::new(|| None);
    }
    let port = target.port();
    // A server of 127.0.0.1 is in either table; JVMs are in the second one. Of several listeners the fullest counts.
    Box::new(move || ["/proc/net/tcp", "/proc/net/tcp6"].iter().filter_map(|table| read(table, port)).max())
}

fn read(table: &str, port: u16) -> Option<u64> {
    let lines = BufReader::new(File::open(table).ok()?).lines().map_while(Result::ok);
    fullest(lines, port)
}

/// The longest accept queue of the listeners on `port`. These head the table, so that what follows, which may be
/// thousands of connections, is not read.
fn fullest(lines: impl Iterator<Item = String>, port: u16) -> Option<u64> {
    let mut fullest = None;
    for line in lines.skip(1) {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (local, _remote, state, queues) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        if state != LISTENING {
            break;
        }
        let (_, local_port) = local.rsplit_once(':')?;
        let (_, waiting) = queues.split_once(':')?;
        if u16::from_str_radix(local_port, 16) == Ok(port) {
            fullest = fullest.max(u64::from_str_radix(waiting, 16).ok());
        }
    }
    fullest
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_has_not_been_accepted_is_seen() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let mut backlog = of(address);
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
        assert_eq!(of(SocketAddr::from(([192, 0, 2, 1], 80)))(), None);
    }
}
