//! Shares over several profiled forks: means with Student's intervals, of one side and of the difference between two. With fewer
//! than two forks there are no intervals.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tare_stats::Estimate;

use crate::frame::{Frame, FrameKind};
use crate::usage::Usage;

/// One profiled start of a server.
#[derive(Debug, Clone)]
pub struct ForkUse {
    /// Number of the fork; it pairs the two sides of a comparison.
    pub fork: u32,
    pub usage: Usage,
    /// The cost of the whole profile per request, in nanoseconds of CPU or bytes; `None` if it was not measured.
    pub per_request: Option<f64>,
}

/// A method with its shares over all forks of one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HotFrame {
    pub name: String,
    pub short: String,
    pub package: String,
    pub kind: FrameKind,
    /// Share (0–1) by itself.
    pub own: Estimate,
    /// Share (0–1) with all that it calls; recursion counts once.
    pub total: Estimate,
    /// Cost of its own share: nanoseconds or bytes per request.
    pub own_per_request: Option<f64>,
    /// Cost of its total share.
    pub total_per_request: Option<f64>,
    /// The caller with the largest part of it.
    pub caller: Option<String>,
    /// That part of the total.
    pub caller_share: Option<f64>,
}

/// The difference of a method between the two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MovedFrame {
    pub name: String,
    pub short: String,
    pub package: String,
    pub kind: FrameKind,
    /// Total share (0–1) in the variant.
    pub share: Estimate,
    /// Total share (0–1) in the baseline.
    pub baseline_share: Estimate,
    /// Variant minus baseline: per request where that is known, else of the shares.
    pub difference: Estimate,
    /// Whether the interval of the shares' difference excludes 0, in the direction of the costs. Shares are compared,
    /// because the cost of the whole varies with the machine from fork to fork, and its parts with it.
    pub certain: bool,
    /// Whether a sentence names it.
    pub named: bool,
    pub in_focus: bool,
}

/// Every method of these forks whose total share reaches `least`, sorted by own share, largest first.
pub fn hot_methods(forks: &[ForkUse], least: f64, alpha: f64) -> Vec<HotFrame> {
    let mut hot: Vec<HotFrame> =
        names(forks, least).into_iter().filter_map(|name| method_over_forks(forks, name, alpha)).collect();
    hot.sort_by(|a, b| b.own.value.total_cmp(&a.own.value).then_with(|| a.name.cmp(&b.name)));
    hot
}

/// One method of these forks; `None` if no fork has it.
pub fn method_over_forks(forks: &[ForkUse], name: &str, alpha: f64) -> Option<HotFrame> {
    let seen = forks.iter().filter_map(|fork| fork.usage.get(name)).max_by(|a, b| a.total.total_cmp(&b.total))?;
    let shares = |of: fn(&crate::usage::MethodUse) -> f64| -> Vec<f64> {
        forks.iter().map(|fork| fork.usage.get(name).map_or(0.0, of)).collect()
    };
    let (own, total) = (shares(|method| method.own), shares(|method| method.total));
    let per_request = |shares: &[f64]| {
        let costs: Option<Vec<f64>> =
            forks.iter().zip(shares).map(|(fork, share)| Some(fork.per_request? * share)).collect();
        costs.map(|costs| Estimate::of_any_mean(&costs, alpha).value)
    };
    let frame = |name: &str| Frame { name: name.to_owned(), kind: seen.kind };
    let method = frame(name);
    Some(HotFrame {
        short: method.short_name().to_owned(),
        package: method.package_name().to_owned(),
        name: method.name,
        kind: method.kind,
        own: Estimate::of_any_mean(&own, alpha),
        total: Estimate::of_any_mean(&total, alpha),
        own_per_request: per_request(&own),
        total_per_request: per_request(&total),
        caller: seen.caller.as_ref().map(|(name, _)| frame(name).short_name().to_owned()),
        caller_share: seen.caller.as_ref().map(|(_, share)| *share),
    })
}

/// The names whose total share reaches `least` in any fork.
fn names(forks: &[ForkUse], least: f64) -> BTreeSet<&str> {
    let seen = forks.iter().flat_map(|fork| fork.usage.iter());
    seen.filter(|(_, method)| method.total >= least).map(|(name, _)| name).collect()
}

/// Differences between the forks of variant and baseline with the same number, largest first. None is named yet, or in focus.
pub fn moved_methods(variant: &[ForkUse], baseline: &[ForkUse], least: f64, alpha: f64) -> Vec<MovedFrame> {
    let pairs: Vec<(&ForkUse, &ForkUse)> =
        variant.iter().filter_map(|one| Some((one, baseline.iter().find(|other| other.fork == one.fork)?))).collect();
    let costed = pairs.iter().all(|(one, other)| one.per_request.is_some() && other.per_request.is_some());
    let scale = |fork: &ForkUse| if costed { fork.per_request.unwrap_or(1.0) } else { 1.0 };
    let mut all = names(variant, least);
    all.extend(names(baseline, least));
    let of = |name: &str| {
        let share = |fork: &ForkUse| fork.usage.get(name).map_or(0.0, |method| method.total);
        let mean = |values: Vec<f64>| Estimate::of_any_mean(&values, alpha);
        let kind = pairs.iter().find_map(|(one, other)| one.usage.get(name).or_else(|| other.usage.get(name)));
        let frame = Frame { name: name.to_owned(), kind: kind.map_or(FrameKind::Native, |method| method.kind) };
        let of_shares = mean(pairs.iter().map(|(one, other)| share(one) - share(other)).collect());
        let costs = pairs.iter().map(|(one, other)| share(one) * scale(one) - share(other) * scale(other));
        let difference = mean(costs.collect());
        let (is_more, is_less) = (of_shares.lo.is_some_and(|lo| lo > 0.0), of_shares.hi.is_some_and(|hi| hi < 0.0));
        MovedFrame {
            short: frame.short_name().to_owned(),
            package: frame.package_name().to_owned(),
            name: frame.name,
            kind: frame.kind,
            share: mean(pairs.iter().map(|(one, _)| share(one)).collect()),
            baseline_share: mean(pairs.iter().map(|(_, other)| share(other)).collect()),
            difference,
            certain: is_more && difference.value > 0.0 || is_less && difference.value < 0.0,
            named: false,
            in_focus: false,
        }
    };
    let mut moved: Vec<MovedFrame> = if pairs.is_empty() { Vec::new() } else { all.into_iter().map(of).collect() };
    moved.sort_by(|a, b| {
        b.difference.value.abs().total_cmp(&a.difference.value.abs()).then_with(|| a.name.cmp(&b.name))
    });
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::parse_collapsed;

    fn fork(fork: u32, text: &str, per_request: Option<f64>) -> ForkUse {
        ForkUse { fork, usage: Usage::from_stacks(&parse_collapsed(text).unwrap()), per_request }
    }

    #[test]
    fn shares_have_an_interval_over_forks_and_a_cost() {
        let forks = [fork(1, "a;b 30\na 70\n", Some(1000.0)), fork(2, "a;b 32\na 68\n", Some(1000.0))];
        let hot = hot_methods(&forks, 0.0, 0.05);
        let b = hot.iter().find(|method| method.name == "b").unwrap();
        assert!((b.total.value - 0.31).abs() < 1e-12 && (b.total_per_request.unwrap() - 310.0).abs() < 1e-9);
        assert!(b.own.lo.unwrap() < 0.30 && b.own.hi.unwrap() > 0.32, "Student's t with one degree of freedom is wide");
    }

    #[test]
    fn one_fork_gives_no_interval_and_so_no_certainty() {
        let (one, other) = ([fork(1, "a;b 5\na 5\n", None)], [fork(1, "a 10\n", None)]);
        let moved = moved_methods(&one, &other, 0.0, 0.05);
        assert_eq!(moved[0].name, "b");
        assert!(!moved[0].certain && (moved[0].difference.value - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_frame_moves_by_what_it_costs() {
        let variant = [fork(1, "a;b 50\na 50\n", Some(200.0)), fork(2, "a;b 51\na 49\n", Some(200.0))];
        let baseline = [fork(1, "a 100\n", Some(100.0)), fork(2, "a 100\n", Some(98.0))];
        let moved = moved_methods(&variant, &baseline, 0.0, 0.05);
        let b = moved.iter().find(|one| one.name == "b").unwrap();
        assert!(b.certain && (b.difference.value - 101.0).abs() < 1e-9, "{b:?}");
        assert_eq!(b.baseline_share.value, 0.0);
    }

    #[test]
    fn a_machine_that_slows_down_between_forks_does_not_hide_what_a_layer_adds() {
        let cost = [100.0, 400.0, 130.0];
        let side =
            |text: &str| -> Vec<ForkUse> { (0..3).map(|at| fork(at as u32 + 1, text, Some(cost[at]))).collect() };
        let moved = moved_methods(&side("a;b 8\na 92\n"), &side("a 100\n"), 0.0, 0.05);
        let of = |name: &str| moved.iter().find(|one| one.name == name).unwrap();
        assert!(of("b").certain && !of("a").certain);
        assert!(of("b").difference.lo.unwrap() <= 0.0, "by costs alone nothing could be said");
    }

    #[test]
    fn forks_without_a_partner_are_left_out_of_the_difference() {
        assert!(moved_methods(&[fork(1, "a 1\n", None)], &[fork(2, "a 1\n", None)], 0.0, 0.05).is_empty());
    }
}
