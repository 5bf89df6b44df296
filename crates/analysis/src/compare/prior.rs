//! What earlier forks of this machine do to the interval of a comparison, in figures and words.

use tare_plan::earlier::{EarlierSpread, SpreadOf};
use tare_plan::plan::Plan;
use tare_stats::{Comparison, Interval, Method, VariancePrior};

use crate::compare::ratio::MeasuredRatio;
use crate::format::{Change, count, share};
use crate::summary::{Cell, PriorEffect};

/// What the plan's prior does to the comparison with `baseline`; `None` where the plan has none for it.
pub(crate) fn effect(plan: &Plan, baseline: &Cell, measured_ratio: &MeasuredRatio) -> Option<PriorEffect> {
    let comparison = &measured_ratio.comparison;
    let Method::Repeated { prior: Some(prior), .. } = comparison.method else { return None };
    let of = SpreadOf::of_scenario(&baseline.family, &baseline.scenario, measured_ratio.currency, measured_ratio.load);
    let earlier = plan.stop.earlier.spread(&of)?;
    let (with, without) = (bounds(comparison.ratio)?, bounds(comparison.without_prior)?);
    let is_used = with != without;
    Some(PriorEffect {
        comparisons: earlier.comparisons,
        sd: prior.sd,
        df: prior.df,
        is_used,
        lo_without: without.0,
        hi_without: without.1,
        text: text(comparison, prior, earlier, without, is_used),
    })
}

fn bounds(interval: Option<Interval>) -> Option<(f64, f64)> {
    interval.filter(Interval::is_bounded).map(|interval| (interval.lo, interval.hi))
}

fn text(
    comparison: &Comparison,
    prior: VariancePrior,
    earlier: &EarlierSpread,
    without: (f64, f64),
    is_used: bool,
) -> String {
    let scenario = earlier.of.scenario.as_deref().map(|scenario| format!(" of {scenario}")).unwrap_or_default();
    let source = format!(
        "the standard deviation of {}{scenario} on this machine ({})",
        count(earlier.comparisons.into(), "earlier comparison"),
        share(prior.sd)
    );
    if is_used {
        let alone = Change { ratio: comparison.estimate, bounds: Some(without) }.signed_interval();
        return format!("the interval also rests on {source}; by this run alone {alone}");
    }
    let own = comparison.sd_forks.map(|sd| format!(": the starts of this run differ by {}", share(sd)));
    format!("the interval does not use {source}{}", own.unwrap_or_default())
}
