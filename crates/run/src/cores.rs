//! The cores of both sides: those that a plan names, checked against those that there are.

use tare_load::Sending;
use tare_plan::plan::{Plan, SliceKind, Warmup};
use tare_sys::affinity::{CpuSet, allowed_cpus};

use crate::error::RunError;

/// The cores of both sides, as sets.
#[derive(Debug, Clone)]
pub(crate) struct Cores {
    pub server: CpuSet,
    pub load: CpuSet,
    /// Where servers warm up.
    pub warmup: CpuSet,
}

impl Cores {
    /// Those of a plan.
    ///
    /// # Errors
    /// [`RunError::Plan`] for cores that are not there.
    pub fn from_plan(plan: &Plan) -> Result<Self, RunError> {
        let server = present("server-cpus", &plan.machine.server_cpus)?;
        let load = present("load-cpus", &plan.machine.load_cpus)?;
        let warmup = match plan.warmup {
            Warmup::UntilSteady { all_cpus: true, .. } => server.union(&load),
            _ => server.clone(),
        };
        Ok(Self { server, load, warmup })
    }

    /// How a slice of this kind sends: the generator busy-waits under an open load, if the plan wants it and no server runs on its cores.
    pub fn sending_mode(&self, kind: SliceKind, spin: bool) -> Sending {
        let may_spin = spin && kind != SliceKind::Saturating && !self.server.overlaps(&self.load);
        if may_spin { Sending::Spinning } else { Sending::Exact }
    }
}

/// The cores of a list. This process may use each of them.
fn present(flag: &str, list: &str) -> Result<CpuSet, RunError> {
    let wrong = |message: String| RunError::Plan { key: format!("--{flag}"), message };
    let cpus: CpuSet = list.parse().map_err(|error| wrong(format!("{error}")))?;
    let allowed = allowed_cpus().map_err(|error| wrong(error.to_string()))?;
    let missing = cpus.iter().find(|cpu| !allowed.contains(*cpu));
    match missing {
        Some(cpu) => Err(wrong(format!("core {cpu} is not there; this process may use {allowed}"))),
        None => Ok(cpus),
    }
}
