//! The agents that make the load of a run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use tare_plan::Plan;
use tare_plan::estimate::run_time;
use tare_remote::{AgentsOrder, LoadAgents, PodOrder};
use tare_run::load_host::agent_places;
use tare_sys::affinity::CpuSet;

use crate::progress::RunView;

/// A run may take this many times as long as its plan says before the agents in pods are ended: starts that fail are
/// replaced, and a start that has begun may exceed the budget.
const LONGEST_FACTOR: u32 = 3;

/// Starts the agents of a plan; `None` where this process makes the load.
pub fn start(
    plan: &Plan,
    pods: &PodOrder,
    cancelled: &Arc<AtomicBool>,
    view: &mut RunView,
) -> anyhow::Result<Option<LoadAgents>> {
    let places = agent_places(plan)?;
    if places.is_empty() {
        return Ok(None);
    }
    let cpus = plan.machine.load_cpus.parse::<CpuSet>().map_err(anyhow::Error::msg);
    let cpus = cpus.context("the cores of the generator")?;
    let longest = run_time(plan) * LONGEST_FACTOR;
    let order = AgentsOrder { places: &places, pods, longest, local_cpus: &cpus };
    let mut progress = |text: &str| view.show_step(text);
    LoadAgents::start(&order, cancelled, &mut progress).map(Some).map_err(Into::into)
}
