//! Which cores make the load, and whether the process may open as many connections.

use anyhow::bail;
use tare_sys::affinity::{CpuSet, allowed_cpus};
use tare_sys::limits::raise_open_files;

use crate::args::GeneratorArgs;

/// Files that tare has open beside its connections.
const OWN_FILES: u64 = 64;

/// The cores: those that are named, or so many from the last one backwards, away from where the kernel puts others first.
pub fn cpus(args: &GeneratorArgs, connections: u32) -> anyhow::Result<CpuSet> {
    let allowed: Vec<usize> = allowed_cpus()?.iter().collect();
    if let Some(list) = &args.load_cpus {
        let cpus: CpuSet = list.parse().map_err(|why| anyhow::anyhow!("--load-cpus {list}: {why}"))?;
        if let Some(absent) = cpus.iter().find(|cpu| !allowed.contains(cpu)) {
            bail!("--load-cpus {list}: tare may not use core {absent}; there are {}", CpuSet::of(allowed));
        }
        return Ok(cpus);
    }
    let threads = args.threads.unwrap_or((allowed.len() / 2).max(1));
    if threads > allowed.len() {
        super::note(&format!(
            "-t {threads}: there are {} cores, and more threads would only take turns",
            allowed.len()
        ));
    }
    // A worker without a connection would have nothing to do.
    let used = threads.min(connections as usize).min(allowed.len());
    Ok(CpuSet::of(allowed[allowed.len() - used..].iter().copied()))
}

/// Makes room for so many connections.
///
/// # Errors
/// When the system allows fewer files.
pub fn make_room(connections: u32) -> anyhow::Result<()> {
    let needed = OWN_FILES + u64::from(connections);
    let allowed = raise_open_files(needed);
    if allowed < needed {
        bail!(
            "{connections} connections need {needed} open files, and {allowed} are allowed; raise it (ulimit -n {needed}) or ask for fewer (-c)"
        );
    }
    Ok(())
}
