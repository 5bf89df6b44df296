//! The differences that a plan can detect, stated before anything is measured.

use tare_plan::earlier::SpreadOf;
use tare_plan::estimate::{fork_time, least_budget};
use tare_plan::group_order::GroupOrder;
use tare_plan::plan::{Forks, Group, Mode, NamedScenario, Plan, SliceKind};
use tare_plan::turn::TurnLength;
use tare_stats::power::{DEFAULT_POWER, detectable_difference};

use crate::currency::Currency;
use crate::format::{count, roughly, share};
use crate::summarize::method;

/// The standard deviation of forks that a forecast assumes where no earlier run says: starts of one JVM program differ
/// by 2 to 3 %.
const ASSUMED_SD: f64 = 0.03;

/// What the forks of one group can detect.
struct GroupForecast {
    forks: u32,
    /// When the last of them is over, in seconds.
    seconds: f64,
    /// The smallest difference, as a share, that they show with [`DEFAULT_POWER`].
    difference: f64,
    /// How many earlier comparisons the spread comes from; none where it is assumed.
    comparisons: u32,
}

/// `in 6 min, 8 starts show differences from 6 % on (power 0.8; by 31 earlier comparisons of this machine)`; `None` for
/// a plan that compares nothing, or whose budget is too short to decide anything.
pub fn forecast(plan: &Plan) -> Option<String> {
    if least_budget(plan).is_some() {
        return None;
    }
    let compared = plan.groups.iter().filter(|group| group.variants.len() > 1 && plan.mode == Mode::Compared);
    let groups: Vec<GroupForecast> = compared.filter_map(|group| GroupForecast::of(plan, group)).collect();
    let first = groups.first()?;
    let of = |pick: fn(f64, f64) -> f64| groups.iter().map(|group| group.difference).fold(first.difference, pick);
    let (least, most) = (share(rounded_up(of(f64::min))), share(rounded_up(of(f64::max))));
    let differences = if least == most { least } else { format!("{least} to {most}, by group,") };
    let comparisons = groups.iter().map(|group| group.comparisons).min().unwrap_or(0);
    let basis = match comparisons {
        0 => format!("if starts differ by {}; no earlier run of this machine says", share(ASSUMED_SD)),
        known => format!("by {} of this machine", count(known.into(), "earlier comparison")),
    };
    let (after, starts) = (roughly(first.seconds), count(first.forks.into(), "start"));
    let verb = if first.forks == 1 { "shows" } else { "show" };
    let whose = if groups.len() > 1 && plan.stop.order == GroupOrder::Listed { " of the first group" } else { "" };
    Some(format!(
        "in {after}, {starts}{whose} {verb} differences from {differences} on (power {DEFAULT_POWER}; {basis})"
    ))
}

impl GroupForecast {
    /// `None` where so few forks give no interval.
    fn of(plan: &Plan, group: &Group) -> Option<Self> {
        let (currency, load) = deciding(plan, group.scenarios.first()?);
        let family = group.baseline().family.clone();
        let of = SpreadOf { family, currency: currency.facts().name.to_owned(), load };
        let earlier = plan.stop.earlier.spread(&of);
        let (forks, seconds) = forks(plan, group);
        let method = method(plan, earlier.and_then(|earlier| earlier.prior));
        let sd = earlier.map_or(ASSUMED_SD, |earlier| earlier.sd).max(plan.stop.floor);
        let log = detectable_difference(sd, method, forks, DEFAULT_POWER).ok()?;
        let comparisons = earlier.map_or(0, |earlier| earlier.comparisons);
        Some(Self { forks, seconds, difference: log.exp_m1(), comparisons })
    }
}

/// How many forks a group gets at most, and how many seconds pass until then.
fn forks(plan: &Plan, group: &Group) -> (u32, f64) {
    let own = fork_time(plan, group);
    let round = match plan.stop.order {
        GroupOrder::Listed => own,
        GroupOrder::Even => plan.groups.iter().map(|group| fork_time(plan, group)).sum(),
    };
    let round = round.as_secs_f64().max(f64::MIN_POSITIVE);
    let forks = match plan.stop.forks {
        Forks::Fixed { count } => count,
        Forks::UntilDecided { budget, at_least, max_forks } => {
            let affordable = (budget.as_seconds() / round).round() as u32;
            affordable.max(at_least).min(max_forks.unwrap_or(u32::MAX))
        }
    };
    (forks, f64::from(forks) * round)
}

/// What decides a scenario, as the comparison will choose it, and the slices that it comes from.
fn deciding(plan: &Plan, named: &NamedScenario) -> (Currency, SliceKind) {
    let slices = &plan.slices;
    match () {
        () if plan.slo.is_some() => (Currency::Capacity, SliceKind::Capacity),
        () if named.scenario.push.is_some() => (Currency::LatencyP50, SliceKind::Push),
        () if slices.saturating > 0 && slices.fixed == 0 && slices.turn != TurnLength::Whole => {
            (Currency::CpuPerRequest, SliceKind::Saturating)
        }
        () if slices.saturating > 0 => (Currency::Throughput, SliceKind::Saturating),
        () if slices.fixed > 0 => (Currency::CpuPerRequest, SliceKind::Fixed),
        () => (Currency::CpuPerRequest, SliceKind::Poisson),
    }
}

/// To a tenth of a percent, never below the value.
fn rounded_up(share: f64) -> f64 {
    (share * 1_000.0).ceil() / 1_000.0
}
