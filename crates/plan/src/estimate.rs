//! How long a plan will take: shown before it starts, and the basis of the time left.

use std::time::Duration;

use crate::choices::GroupOrder;
use crate::contract::{BodySpec, Push};
use crate::earlier::ForkTime;
use crate::plan::{Forks, Group, Mode, NamedScenario, Plan, Warmup};
use crate::turn::TurnLength;

/// Starting the servers of a group side by side, and verifying them: JVMs on two cores.
const START: Duration = Duration::from_secs(4);
const STOP: Duration = Duration::from_millis(700);
/// Starting another load tool, and what it makes of its figures: Gatling's JVM takes most of it.
const ENGINE: Duration = Duration::from_secs(6);
/// Opening one WebSocket of a JVM that has not opened many.
const OPENING: Duration = Duration::from_millis(4);
/// Bytes of requests that a server takes in a second: of uploads of 5 MiB, JVMs took 0.3 to 2 GB on one core.
const BYTES_PER_S: f64 = 7e8;
/// A group becomes steady well before the cap more often than not.
const USUAL_SHARE_OF_CAP: f64 = 0.75;
/// However high the cap: two Spring Boot servers on two slow cores became steady in 45 to 59 s.
const USUAL_WARMUP: Duration = Duration::from_secs(55);

/// The time of one fork of `group`, corrected by how long earlier forks of its family took on this machine.
pub fn fork_time(plan: &Plan, group: &Group) -> Duration {
    formula_fork_time(plan, group).mul_f64(plan.stop.earlier.time_factor(&group.baseline().family))
}

/// The mean time of a fork of `group` without knowledge of earlier ones: start, warm-up, slices, stop. From the fourth fork on, a
/// control joins every second one.
pub fn formula_fork_time(plan: &Plan, group: &Group) -> Duration {
    let time = |fork: u32| {
        let variants = group.variants_of_fork(fork).len() as u32;
        // In the first scenario the servers are cold.
        let each = group.scenarios.iter().enumerate().map(|(at, named)| scenario_time(plan, named, at == 0, variants));
        START + STOP + each.sum::<Duration>()
    };
    (time(4) + time(5)) / 2
}

/// For later plans: the forks of `group` took `taken_s` seconds each.
pub fn fork_time_taken(plan: &Plan, group: &Group, taken_s: f64) -> ForkTime {
    let formula_s = formula_fork_time(plan, group).as_secs_f64();
    ForkTime { family: group.baseline().family.clone(), formula_s, taken_s }
}

/// Warm-up and slices of one scenario over all variants of a group.
fn scenario_time(plan: &Plan, named: &NamedScenario, is_first: bool, variants: u32) -> Duration {
    let rounds = saturating_rounds(plan, named) + plan.slices.fixed;
    let slices = match (&plan.slo, &named.scenario.push) {
        (Some(slo), _) => slo.each.0 * TRIES,
        (None, Some(push)) if plan.mode != Mode::Profiled => push_time(plan, push),
        (None, Some(_)) => (plan.slices.length.0 + open_time(plan)) * rounds,
        (None, None) => {
            // Until the requests of all users are sent, after the end of a slice: seconds where each is an upload.
            let sent = Duration::from_secs_f64(f64::from(plan.load.users) * body_bytes(named) / BYTES_PER_S);
            let sent = sent * saturating_rounds(plan, named);
            plan.slices.length.0 * rounds + drain_time(plan) + sent + plan.slices.latency.0
        }
    };
    match (&named.scenario.push, &plan.warmup) {
        (Some(_), Warmup::UntilSteady { cap: span, .. } | Warmup::Fixed { span, .. }) => {
            (slices + open_time(plan) + span.0) * variants
        }
        (None, warmup @ Warmup::UntilSteady { .. }) => {
            let usual = warmup.longest(is_first, variants).mul_f64(USUAL_SHARE_OF_CAP);
            slices * variants + usual.min(USUAL_WARMUP * variants.max(2) / 2)
        }
        (None, warmup @ Warmup::Fixed { .. }) => slices * variants + warmup.longest(is_first, variants),
    }
}

/// The saturating rounds of a scenario in one fork: more than the plan says where each request is an upload.
fn saturating_rounds(plan: &Plan, named: &NamedScenario) -> u32 {
    plan.slices.saturating_rounds(plan.load.users, BYTES_PER_S / body_bytes(named))
}

fn body_bytes(named: &NamedScenario) -> f64 {
    named.scenario.request.body.as_ref().map_or(0, BodySpec::length) as f64
}

/// What turns take beyond their length: each drains for about a third of it.
fn drain_time(plan: &Plan) -> Duration {
    match plan.slices.turn {
        TurnLength::Whole => Duration::ZERO,
        TurnLength::Auto | TurnLength::Fixed(_) => plan.slices.length.0 * plan.slices.saturating / 3,
    }
}

/// All slices of one server in which users receive all of its messages.
fn push_time(plan: &Plan, push: &Push) -> Duration {
    (push.span().0 + open_time(plan)) * plan.slices.push
}

/// Opening the WebSockets of all users, as each slice of pushes does.
fn open_time(plan: &Plan) -> Duration {
    OPENING * plan.load.users
}

/// Tries of a search: about ten of doubling, five of halving the bracket, two that agree of each.
const TRIES: u32 = 30;

pub fn cell_time(plan: &Plan, named: &NamedScenario) -> Duration {
    let warmup = plan.warmup.longest(false, 1);
    let closed = plan.slices.length.0 * plan.slices.saturating;
    let measure = named.scenario.push.as_ref().map_or(closed, |push| push_time(plan, push));
    let again = (measure + ENGINE) * plan.engines.len() as u32;
    Duration::from_secs(2) + STOP + warmup + measure + again
}

/// The time of one fork of every group.
fn round_time(plan: &Plan) -> Duration {
    plan.groups.iter().map(|group| fork_time(plan, group)).sum()
}

/// The time of the whole run, builds not counted: exact for fixed forks, at most for a budget.
pub fn run_time(plan: &Plan) -> Duration {
    if plan.mode == Mode::Sequential {
        let cells = |group: &Group| -> Duration {
            group.scenarios.iter().map(|named| cell_time(plan, named) * group.variants.len() as u32).sum()
        };
        return plan.groups.iter().map(cells).sum();
    }
    match plan.stop.forks {
        Forks::Fixed { count } => round_time(plan) * count,
        Forks::UntilDecided { budget, .. } => budget.0,
    }
}

/// The least budget with which something can be decided: `at_least` forks of every group, or of the first where groups
/// are listed. `None` where the budget is enough, or there is none.
pub fn least_budget(plan: &Plan) -> Option<Duration> {
    let Forks::UntilDecided { budget, at_least, .. } = plan.stop.forks else { return None };
    let each = match plan.stop.order {
        GroupOrder::Even => round_time(plan),
        GroupOrder::Listed => plan.groups.first().map(|group| fork_time(plan, group))?,
    };
    Some(each * at_least).filter(|least| plan.mode == Mode::Compared && *least > budget.0)
}

/// How many starts of every group the plan's time is enough for, about.
pub fn starts_within_budget(plan: &Plan) -> f64 {
    run_time(plan).as_secs_f64() / round_time(plan).as_secs_f64().max(f64::MIN_POSITIVE)
}
