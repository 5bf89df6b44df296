//! Whose port is it? A number measured on somebody else's server would be worse than none.

use std::collections::HashSet;
use std::net::SocketAddr;

use tare_sys::procfs::net::{self, Listener, Owner};
use tare_sys::procfs::process;

use crate::SutError;

/// Who listens on a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// Nobody yet.
    Nobody,
    /// The server's own processes, at these addresses.
    Ours(Vec<SocketAddr>),
    /// Somebody else, also where the server shares the port with them.
    Foreign(Option<Owner>),
}

/// Who listens on `port`, seen from the process tree of `pid`; `pid` 0 owns nothing.
pub(super) fn holder_of(port: u16, pid: u32) -> Result<Holder, SutError> {
    let listening: Vec<Listener> = net::listeners()?.into_iter().filter(|l| l.address.port() == port).collect();
    if listening.is_empty() {
        return Ok(Holder::Nobody);
    }
    let ours = sockets_of_tree(pid)?;
    let foreign: HashSet<u64> = listening.iter().map(|l| l.inode).filter(|inode| !ours.contains(inode)).collect();
    if foreign.is_empty() {
        return Ok(Holder::Ours(listening.into_iter().map(|l| l.address).collect()));
    }
    Ok(Holder::Foreign(net::socket_owner(&foreign)))
}

/// Every address that the process tree of `pid` listens on.
pub(super) fn listening_of(pid: u32) -> Result<Vec<SocketAddr>, SutError> {
    let ours = sockets_of_tree(pid)?;
    Ok(net::listeners()?.into_iter().filter(|l| ours.contains(&l.inode)).map(|l| l.address).collect())
}

fn sockets_of_tree(pid: u32) -> Result<HashSet<u64>, SutError> {
    if pid == 0 {
        return Ok(HashSet::new());
    }
    Ok(process::process_tree(pid)?.into_iter().flat_map(net::sockets_of).collect())
}
