//! Cores that a flag or a suite names must be there.

use tare_sys::affinity::{CpuSet, allowed_cpus};

use crate::error::RunError;

/// The cores of a list, each of which this process must be allowed to use. `origin` is the flag or the key that holds it.
pub fn named_cores(origin: &str, list: &str) -> Result<CpuSet, RunError> {
    present_cores(origin, list, &own_cores(origin)?, "")
}

/// The cores that this process may use.
pub(crate) fn own_cores(origin: &str) -> Result<CpuSet, RunError> {
    allowed_cpus().map_err(|error| wrong(origin, error.to_string()))
}

/// The cores of a list, each of which must be allowed at this place.
pub(crate) fn present_cores(origin: &str, list: &str, allowed: &CpuSet, place: &str) -> Result<CpuSet, RunError> {
    let cpus = list.parse::<CpuSet>().map_err(|error| wrong(origin, error))?;
    let missing = cpus.iter().find(|cpu| !allowed.contains(*cpu));
    match missing {
        Some(cpu) => Err(wrong(origin, format!("core {cpu} is not there{place}; tare may use {allowed}{place}"))),
        None => Ok(cpus),
    }
}

fn wrong(origin: &str, message: String) -> RunError {
    RunError::Plan { key: origin.to_owned(), message }
}
