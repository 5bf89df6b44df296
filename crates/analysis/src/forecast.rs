//! What a plan can detect, stated before anything is measured: differences, or for each limit what exceeds it.

use tare_plan::earlier::SpreadOf;
use tare_plan::estimate::{fork_time, least_budget};
use tare_plan::plan::{Forks, Group, Mode, NamedScenario, Plan, Role, SliceKind};
use tare_plan::ratio_limit::RatioLimit;
use tare_plan::turn::TurnLength;
use tare_plan::{Currency, GroupOrder};
use tare_stats::Method;
use tare_stats::measures::limit::regression_share;
use tare_stats::power::{DEFAULT_POWER, detectable_difference};

use crate::compare::ratio::method;
use crate::format::{Change, count, roughly, rounded_up, share};

/// Where no earlier run says it: starts of one JVM program differ by 2 to 3 %.
const ASSUMED_SD: f64 = 0.03;

struct GroupForecast {
    forks: u32,
    seconds: f64,
    /// The smallest difference, as a share, that they show with [`DEFAULT_POWER`].
    difference: f64,
    spread: Spread,
}

/// `in 6 min, 8 starts show differences of 6 % or more (power 0.8; by 31 earlier comparisons on this machine)`, or what
/// each limit can show; `None` for a plan that compares nothing, or whose budget is too short to decide anything.
pub fn forecast(plan: &Plan) -> Option<String> {
    if least_budget(plan).is_some() {
        return None;
    }
    let compared = plan.groups.iter().filter(|group| group.variants.len() > 1 && plan.mode == Mode::Compared);
    let compared: Vec<&Group> = compared.collect();
    let groups: Vec<GroupForecast> = compared.iter().filter_map(|group| GroupForecast::of(plan, group)).collect();
    let first = groups.first()?;
    let (after, starts) = (roughly(first.seconds), count(first.forks.into(), "start"));
    let whose = if groups.len() > 1 && plan.stop.order == GroupOrder::Listed { " of the first group" } else { "" };
    if !plan.stop.limits.is_empty() {
        let limits = plan.stop.limits.iter().filter_map(|limit| limit_forecast(plan, limit, &compared));
        let limits: Vec<String> = limits.collect();
        let text = format!("in {after}, {starts}{whose}: {} (power {DEFAULT_POWER})", limits.join("; "));
        return (!limits.is_empty()).then_some(text);
    }
    let of = |pick: fn(f64, f64) -> f64| groups.iter().map(|group| group.difference).fold(first.difference, pick);
    let (least, most) = (share(rounded_up(of(f64::min))), share(rounded_up(of(f64::max))));
    let differences = if least == most { least } else { format!("{least} to {most}, by group,") };
    let comparisons = groups.iter().map(|group| group.spread.comparisons).min().unwrap_or(0);
    let basis = match comparisons {
        0 => format!(", if starts differ by {}; no earlier run on this machine says by how much", share(ASSUMED_SD)),
        known => format!("; by {} on this machine", count(known.into(), "earlier comparison")),
    };
    let verb = if first.forks == 1 { "shows" } else { "show" };
    Some(format!(
        "in {after}, {starts}{whose} {verb} differences of {differences} or more (power {DEFAULT_POWER}{basis})"
    ))
}

impl GroupForecast {
    /// `None` where so few forks give no interval.
    fn of(plan: &Plan, group: &Group) -> Option<Self> {
        let scenario = group.scenarios.first()?;
        let spread = Spread::of(plan, group, scenario, deciding(plan, scenario));
        let (forks, seconds) = forks(plan, group);
        let log = spread.detectable(spread.method, forks)?;
        Some(Self { forks, seconds, difference: log.exp_m1(), spread })
    }
}

/// `cpu > +3% is seen exceeded from +4.9 % on (by 31 earlier comparisons on this machine)`; without earlier comparisons of
/// its currency, how much starts may differ. It is that of the group which sees least.
fn limit_forecast(plan: &Plan, limit: &RatioLimit, groups: &[&Group]) -> Option<String> {
    let reaches: Option<Vec<LimitReach>> = groups.iter().map(|group| LimitReach::of(plan, limit, group)).collect();
    let reaches = reaches?;
    let most = |of: fn(&LimitReach) -> f64| reaches.iter().map(of).fold(0.0, f64::max);
    let (exceeded, held, room) = (most(|reach| reach.exceeded), most(|reach| reach.held), limit.ratio.ln().abs());
    let text = &limit.text;
    let asks_for_gain = limit.currency.facts().polarity.is_worse(1.0, limit.ratio);
    Some(match reaches.iter().map(|reach| reach.spread.comparisons).min()? {
        // Without a prior, widths are proportional to the spread.
        0 => {
            let (is_said, least) = if asks_for_gain { ("is seen exceeded by", exceeded) } else { ("holds for", held) };
            let sd = share(ASSUMED_SD.max(plan.stop.floor) * room / least);
            format!(
                "{text} {is_said} an equal build if starts differ by {sd} at most; no earlier run on this machine says by how much"
            )
        }
        known => {
            let size = if limit.currency.is_worse_above() { exceeded } else { -exceeded };
            let from = Change { ratio: limit.ratio * size.exp(), bounds: None }.short();
            let narrow = if held > room && !asks_for_gain { ", and an equal build may stay undecided" } else { "" };
            let basis = count(known.into(), "earlier comparison");
            format!("{text} is seen exceeded from {from} on{narrow} (by {basis} on this machine)")
        }
    })
}

struct LimitReach {
    /// How far beyond the limit a change must lie to be called regressed with [`DEFAULT_POWER`], as a log-ratio.
    exceeded: f64,
    /// How far on the good side of the limit a change must lie for the limit to hold, as a log-ratio.
    held: f64,
    spread: Spread,
}

impl LimitReach {
    /// `None` where so few forks give no interval.
    fn of(plan: &Plan, limit: &RatioLimit, group: &Group) -> Option<Self> {
        let spread = Spread::of(plan, group, group.scenarios.first()?, limit.currency);
        let (forks, _) = forks(plan, group);
        let at_share = |share: f64| spread.detectable(spread.method.at_level(plan.stop.alpha * share), forks);
        let is_compared = |group: &Group| group.variants.iter().filter(|one| one.role == Role::Compared).count();
        let comparisons: usize = plan.groups.iter().map(|group| is_compared(group) * group.scenarios.len()).sum();
        let (exceeded, held) = (at_share(regression_share(plan.stop.limits.len() * comparisons))?, at_share(2.0)?);
        Some(Self { exceeded, held, spread })
    }
}

/// How much forks of a group are expected to scatter in one scenario and currency.
struct Spread {
    sd: f64,
    method: Method,
    /// How many earlier comparisons it comes from; none where it is assumed.
    comparisons: u32,
}

impl Spread {
    fn of(plan: &Plan, group: &Group, named: &NamedScenario, currency: Currency) -> Self {
        let load = load_of(plan, named, currency);
        let of = SpreadOf::of_scenario(&group.baseline().family, &named.name, currency, load);
        let earlier = plan.stop.earlier.spread(&of);
        let sd = earlier.map_or(ASSUMED_SD, |earlier| earlier.sd).max(plan.stop.floor);
        let method = method(plan, earlier.and_then(|earlier| earlier.prior));
        Self { sd, method, comparisons: earlier.map_or(0, |earlier| earlier.comparisons) }
    }

    fn detectable(&self, method: Method, forks: u32) -> Option<f64> {
        detectable_difference(self.sd, method, forks, DEFAULT_POWER).ok()
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
    let (forks, longest) = match plan.stop.forks {
        Forks::Fixed { count } => (count, f64::INFINITY),
        Forks::UntilDecided { budget, at_least, max_forks } => {
            let affordable = (budget.as_seconds() / round).round() as u32;
            (affordable.max(at_least).min(max_forks.unwrap_or(u32::MAX)), budget.as_seconds())
        }
    };
    // Rounding may plan half a start more, and the budget ends the run all the same.
    (forks, (f64::from(forks) * round).min(longest))
}

/// What decides a scenario, as the comparison will choose it.
fn deciding(plan: &Plan, named: &NamedScenario) -> Currency {
    let slices = &plan.slices;
    match () {
        () if plan.slo.is_some() => Currency::Capacity,
        () if named.scenario.push.is_some() => Currency::LatencyP50,
        () if slices.saturating > 0 && (slices.fixed > 0 || slices.turn == TurnLength::Whole) => Currency::Throughput,
        () => Currency::CpuPerRequest,
    }
}

/// The slices that a currency comes from, as the comparison will choose them.
fn load_of(plan: &Plan, named: &NamedScenario, currency: Currency) -> SliceKind {
    use SliceKind::{Fixed, Poisson, Saturating};
    let slices = &plan.slices;
    let is_measured = |kind: &SliceKind| match kind {
        Fixed => slices.fixed > 0,
        Poisson => !slices.latency.is_zero(),
        _ => slices.saturating > 0,
    };
    let kinds = match currency {
        Currency::Capacity => return SliceKind::Capacity,
        _ if named.scenario.push.is_some() => return SliceKind::Push,
        Currency::Throughput => return Saturating,
        latency if latency.is_latency() => [Poisson, Saturating, Fixed],
        _ if slices.turn != TurnLength::Whole => [Fixed, Saturating, Poisson],
        _ => [Fixed, Poisson, Saturating],
    };
    kinds.into_iter().find(is_measured).unwrap_or(Saturating)
}
