//! The backlog on macOS, from the listening sockets of this user's processes.

use super::Backlog;
use crate::procfs::libproc::{self, OpenSocket};

/// Reads the backlog of the fullest listener on `port`. The listeners are looked for once, and again when one is gone.
pub(super) fn reader(port: u16) -> Backlog {
    let mut known: Vec<OpenSocket> = Vec::new();
    Box::new(move || {
        let fullest = |known: &[OpenSocket]| known.iter().filter_map(|listener| listener.backlog_on(port)).max();
        fullest(&known).or_else(|| {
            known = libproc::all_sockets().filter(|socket| socket.backlog_on(port).is_some()).collect();
            fullest(&known)
        })
    })
}
