//! Cores that a flag or a suite names must be there.

use tare_plan::PlanError;
use tare_sys::affinity::{CpuSet, allowed_cpus};

/// The cores of a list, each of which this process must be allowed to use. `origin` is the flag or the key that holds it.
pub fn named_cores(origin: &str, list: &str) -> Result<CpuSet, PlanError> {
    present_cores(origin, list, &own_cores(origin)?, "")
}

/// The cores that this process may use.
pub(crate) fn own_cores(origin: &str) -> Result<CpuSet, PlanError> {
    allowed_cpus().map_err(|error| PlanError::value(origin, error.to_string()))
}

/// The cores of a list, each of which must be allowed at this place.
pub(crate) fn present_cores(origin: &str, list: &str, allowed: &CpuSet, place: &str) -> Result<CpuSet, PlanError> {
    let cpus = list.parse::<CpuSet>().map_err(|error| PlanError::value(origin, error))?;
    let missing = cpus.iter().find(|cpu| !allowed.contains(*cpu));
    match missing {
        Some(cpu) => {
            let message = format!("core {cpu} is not there{place}; tare may use {allowed}{place}");
            Err(PlanError::value(origin, message))
        }
        None => Ok(cpus),
    }
}
