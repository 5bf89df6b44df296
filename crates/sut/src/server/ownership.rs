//! Finds the owner of a port, because a figure of another program's server would be wrong.

use std::collections::HashSet;
use std::net::SocketAddr;

use tare_sys::procfs::net::{self, Listener, Owner};
use tare_sys::procfs::tree::process_tree;

use crate::SutError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    Nobody,
    /// The server's own processes, at these addresses.
    Ours(Vec<SocketAddr>),
    /// Another process, even if the server listens on the port too.
    Foreign(Option<Owner>),
}

/// The owner of `port`. Processes of the tree of `pid` are the server's own; `pid` 0 has none.
pub(super) fn find_holder(port: u16, pid: u32) -> Result<Holder, SutError> {
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
pub(super) fn listening_addresses(pid: u32) -> Result<Vec<SocketAddr>, SutError> {
    let ours = sockets_of_tree(pid)?;
    Ok(net::listeners()?.into_iter().filter(|l| ours.contains(&l.inode)).map(|l| l.address).collect())
}

fn sockets_of_tree(pid: u32) -> Result<HashSet<u64>, SutError> {
    if pid == 0 {
        return Ok(HashSet::new());
    }
    Ok(process_tree(pid)?.into_iter().flat_map(net::sockets_of).collect())
}
