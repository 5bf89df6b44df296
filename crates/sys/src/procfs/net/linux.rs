//! Listening sockets on Linux.

use std::collections::HashSet;
use std::fs;

use super::{Listener, Owner, parse_listeners};
use crate::procfs::ProcfsError;
use crate::procfs::files::{numbers_in, read_as};
use crate::procfs::process::Stat;

/// Every listening TCP socket of this network namespace.
///
/// # Errors
/// When `/proc/net/tcp` cannot be read. A kernel without IPv6 is not an error.
pub fn listeners() -> Result<Vec<Listener>, ProcfsError> {
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
