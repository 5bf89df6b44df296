//! Which cores make the load, and whether the process may open enough connections.

use tare_sys::affinity::{CpuSet, allowed_cpus};
use tare_sys::limits::raise_open_files;

use crate::error::RunError;

/// Files that tare has open in addition to its connections.
const OWN_FILES: u64 = 64;

/// The cores of the generator: those in `list`, or as many as `threads` asks for (by default half of them), the last core
/// first, because the kernel puts other work on the first ones. Never more than there are cores or connections.
///
/// # Errors
/// When `list` cannot be read or names a core that tare may not use.
pub fn generator_cpus(list: Option<&str>, threads: Option<usize>, connections: u32) -> Result<CpuSet, RunError> {
    let wrong = |key: String, message: String| RunError::Plan { key, message };
    let allowed = allowed_cpus().map_err(|error| wrong("the cores of this machine".to_owned(), error.to_string()))?;
    let allowed: Vec<usize> = allowed.iter().collect();
    if let Some(list) = list {
        let key = || format!("--load-cpus {list}");
        let cpus: CpuSet = list.parse().map_err(|why| wrong(key(), format!("{why}")))?;
        if let Some(absent) = cpus.iter().find(|cpu| !allowed.contains(cpu)) {
            let message = format!("tare may not use core {absent}; it may use {}", CpuSet::from_indices(allowed));
            return Err(wrong(key(), message));
        }
        return Ok(cpus);
    }
    let threads = threads.unwrap_or((allowed.len() / 2).max(1));
    // A worker without a connection would have nothing to do.
    let used = threads.min(connections as usize).min(allowed.len());
    Ok(CpuSet::from_indices(allowed[allowed.len() - used..].iter().copied()))
}

/// Raises the limit of open files so that `connections` fit.
///
/// # Errors
/// When the system allows fewer files.
pub fn allow_connections(connections: u32) -> Result<(), RunError> {
    let needed = OWN_FILES + u64::from(connections);
    let allowed = raise_open_files(needed);
    if allowed < needed {
        return Err(RunError::Plan {
            key: format!("-c {connections}"),
            message: format!(
                "{needed} open files are needed, and {allowed} are allowed; raise the limit (ulimit -n {needed}) or use fewer connections"
            ),
        });
    }
    Ok(())
}
