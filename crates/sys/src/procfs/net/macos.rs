//! Listening sockets on macOS: those of the processes that this user may look at. Only root sees those of others.

use std::collections::HashSet;

use super::{Listener, Owner};
use crate::procfs::ProcfsError;
use crate::procfs::libproc;
use crate::procfs::process::Stat;

/// Every listening TCP socket of this user's processes; for root, of all processes.
///
/// # Errors
/// When the processes cannot be listed.
pub fn listeners() -> Result<Vec<Listener>, ProcfsError> {
    let mut all: Vec<Listener> = Vec::new();
    for pid in libproc::all_processes()? {
        let found = libproc::sockets_of(pid).filter_map(|socket| socket.listener());
        // Processes that share a socket each have it.
        all.extend(found.filter(|listener| !all.contains(listener)).collect::<Vec<_>>());
    }
    Ok(all)
}

/// The sockets that a process holds open; empty if it is gone or another user's.
pub fn sockets_of(pid: u32) -> HashSet<u64> {
    libproc::sockets_of(pid).filter_map(|socket| socket.handle()).collect()
}

/// The first process found that holds one of these sockets; `None` if it is another user's.
pub fn socket_owner(handles: &HashSet<u64>) -> Option<Owner> {
    let pids = libproc::all_processes().unwrap_or_default();
    let pid = pids.into_iter().find(|&pid| !sockets_of(pid).is_disjoint(handles))?;
    Some(Owner { pid, comm: Stat::of_process(pid).map(|stat| stat.comm).unwrap_or_default() })
}
