//! How long a plan will take: shown before it starts, and the yardstick of the time left.

use std::time::Duration;

use crate::plan::{Forks, Group, Mode, Plan, Warmup};

/// Starting the servers of a group side by side, and verifying them: JVMs on two cores.
const START: Duration = Duration::from_secs(4);
/// Stopping them.
const STOP: Duration = Duration::from_millis(700);
/// A group becomes steady well before the cap more often than not.
const USUAL_SHARE_OF_CAP: f64 = 0.75;

/// The time of one fork of `group`: start, warm-up, slices, stop.
pub fn fork_time(plan: &Plan, group: &Group) -> Duration {
    let variants = group.variants.len() as u32;
    let rounds = plan.slices.saturating + plan.slices.fixed + plan.slices.poisson;
    let measure = plan.slices.length.0 * rounds * variants;
    let scenarios = group.scenarios.len() as u32;
    let warmup = match &plan.warmup {
        Warmup::UntilSteady { cap, first_cap, .. } => {
            (first_cap.0 + cap.0 * scenarios.saturating_sub(1)).mul_f64(USUAL_SHARE_OF_CAP)
        }
        Warmup::Fixed { span, .. } => span.0 * variants * scenarios,
    };
    START + STOP + measure * scenarios + warmup
}

/// The time of one cell of a sequential run.
pub fn cell_time(plan: &Plan) -> Duration {
    let warmup = match &plan.warmup {
        Warmup::UntilSteady { cap, .. } => cap.0,
        Warmup::Fixed { span, .. } => span.0,
    };
    let measure = plan.slices.length.0 * plan.slices.saturating.max(plan.slices.poisson);
    Duration::from_secs(2) + STOP + warmup + measure
}

/// The time of one fork of every group.
fn round_time(plan: &Plan) -> Duration {
    plan.groups.iter().map(|group| fork_time(plan, group)).sum()
}

/// The time of the whole run, builds not counted: exact for fixed forks, at most for a budget.
pub fn run_time(plan: &Plan) -> Duration {
    if plan.mode == Mode::Sequential {
        return cell_time(plan) * plan.cells() as u32;
    }
    match plan.stop.forks {
        Forks::Fixed { count } => round_time(plan) * count,
        Forks::UntilDecided { budget, .. } => budget.0,
    }
}

/// How many starts of every group the plan's time is enough for, about.
pub fn starts_within_budget(plan: &Plan) -> f64 {
    run_time(plan).as_secs_f64() / round_time(plan).as_secs_f64().max(f64::MIN_POSITIVE)
}
