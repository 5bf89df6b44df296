//! What the forks of other comparisons do to the interval of one, in figures and words.

use tare_plan::plan::{Plan, SliceKind};
use tare_plan::{Currency, PriorUse};
use tare_stats::{Comparison, VariancePrior};
use tare_units::grouped_by;

use crate::compare::Pair;
use crate::compare::ratio::{MeasuredRatio, PriorSource};
use crate::format::{Change, count, share};
use crate::summary::PriorEffect;

/// In a run of many comparisons, each takes the spread of all of its kind, unless the plan refuses it or they are too
/// few.
pub(crate) fn share_spreads(plan: &Plan, pairs: &mut [Pair<'_>]) {
    if plan.stop.prior == PriorUse::Off {
        return;
    }
    // Forks differ more under long requests, because fewer of them fit into a slice.
    let is_long = |pair: &Pair<'_>| {
        let planned = pair.variant.evidence.subject.planned;
        planned.is_some_and(|(named, _)| named.scenario.is_long())
    };
    let known = pairs.iter().flat_map(|pair| {
        let kind_of = move |ratio: &MeasuredRatio| (ratio.currency, ratio.load, is_long(pair));
        let ratios = pair.judged_ratios().iter().filter(|ratio| ratio.bound.is_none());
        let known = ratios.filter(|ratio| ratio.comparison.s_used.is_some());
        known.map(move |ratio| (kind_of(ratio), &ratio.comparison))
    });
    let prior = |(kind, comparisons): ((Currency, SliceKind, bool), Vec<&Comparison>)| {
        let (number, length) = (comparisons.len(), if kind.2 { "long" } else { "short" });
        let text = format!("{} of {length} requests in this run", count(number as u64, "comparison"));
        let source = PriorSource { comparisons: number as u32, text, is_of_this_run: true };
        Some((kind, VariancePrior::of_comparisons(comparisons.into_iter()).ok()??, source))
    };
    let priors: Vec<_> = grouped_by(known).into_iter().filter_map(prior).collect();
    for pair in pairs {
        let is_long = is_long(pair);
        for ratio in pair.measured_ratios.iter_mut().filter(|ratio| ratio.bound.is_none()) {
            let of_kind = priors.iter().find(|(kind, ..)| *kind == (ratio.currency, ratio.load, is_long));
            if let Some((_, prior, source)) = of_kind {
                ratio.take_prior(*prior, source);
            }
        }
    }
}

/// Whether a comparison has a prior that its own forks do not contradict.
pub(crate) fn is_used(comparison: &Comparison) -> bool {
    comparison.without_prior.is_some_and(|without| comparison.ratio != Some(without))
}

pub(crate) fn effect(measured_ratio: &MeasuredRatio) -> Option<PriorEffect> {
    let (comparison, source) = (&measured_ratio.comparison, measured_ratio.prior_source.as_ref()?);
    let prior = comparison.method.prior?;
    comparison.ratio?.bounds()?;
    let (without, is_used) = (comparison.without_prior?.bounds()?, is_used(comparison));
    let whose = format!("the standard deviation of {} ({})", source.text, share(prior.sd));
    let text = match comparison.sd_forks {
        // The same words for all comparisons of the kind, so that a report states them once.
        _ if is_used && source.is_of_this_run => format!("the interval also rests on {whose}"),
        _ if is_used => {
            let alone = Change { ratio: comparison.estimate, bounds: Some(without) }.signed_interval();
            format!("the interval also rests on {whose}; by this run alone {alone}")
        }
        Some(sd) => format!("the interval does not use {whose}: its own starts differ by {}", share(sd)),
        None => format!("the interval does not use {whose}"),
    };
    let (sd, df) = (prior.sd, prior.df);
    let (lo_without, hi_without) = without;
    Some(PriorEffect { comparisons: source.comparisons, sd, df, is_used, lo_without, hi_without, text })
}
