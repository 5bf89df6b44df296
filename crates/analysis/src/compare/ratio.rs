//! The ratios of one comparison in each currency, over forks. Slices are paired by round, percentiles by fork.

mod latency;

use std::collections::{BTreeMap, HashMap};

use tare_plan::earlier::{EarlierSpread, SpreadOf};
use tare_plan::plan::{Forks, Mode, Plan, SliceKind};
use tare_plan::slo::LoadBy;
use tare_plan::{Currency, GroupOrder};
use tare_record::StoredSlice;
use tare_stats::measures::Measured;
use tare_stats::{Comparison, ForkRatio, Method, MethodKind, VariancePrior, find_odd_starts};

use crate::cell::capacity::{self, FoundLoad};
use crate::cell::{CellAnalysis, level};
use crate::evidence::Evidence;
use crate::format;
use crate::summary::{OddFork, RatioBound};
use latency::latencies;

type LevelOf = for<'a> fn(&mut dyn Iterator<Item = &'a StoredSlice>) -> Option<f64>;

/// The two sides of a comparison, and the forks that count in it.
#[derive(Clone, Copy)]
struct Sides<'a> {
    plan: &'a Plan,
    variant: &'a CellAnalysis<'a>,
    baseline: &'a CellAnalysis<'a>,
    forks: &'a [u32],
}

pub(crate) struct MeasuredRatio {
    pub currency: Currency,
    pub load: SliceKind,
    pub label: String,
    pub unit: &'static str,
    pub baseline_value: f64,
    pub variant_value: f64,
    pub forks: Vec<ForkRatio>,
    pub fork_numbers: Vec<u32>,
    /// At the plan's α.
    pub comparison: Comparison,
    /// Why it has no verdict, where a capacity lies beyond the loads that were tried.
    pub bound: Option<(RatioBound, String)>,
    sd_floor: f64,
    /// Where the method has a prior: whose it is.
    pub prior_source: Option<PriorSource>,
}

/// Whose forks say how much those of a comparison scatter, beside its own.
#[derive(Debug, Clone)]
pub(crate) struct PriorSource {
    pub comparisons: u32,
    pub text: String,
    pub is_of_this_run: bool,
}

impl PriorSource {
    fn earlier(spread: &EarlierSpread) -> Self {
        let scenario = spread.of.scenario.as_deref().map(|scenario| format!(" of {scenario}")).unwrap_or_default();
        let comparisons = format::count(spread.comparisons.into(), "earlier comparison");
        let text = format!("{comparisons}{scenario} on this machine");
        Self { comparisons: spread.comparisons, text, is_of_this_run: false }
    }
}

impl MeasuredRatio {
    pub fn take_prior(&mut self, prior: VariancePrior, source: &PriorSource) {
        let method = self.comparison.method.with_prior(Some(prior));
        if let Ok(comparison) = Comparison::over_forks(&self.forks, method, self.sd_floor) {
            (self.comparison, self.prior_source) = (comparison, Some(source.clone()));
        }
    }

    pub fn fork_ratios(&self) -> Vec<f64> {
        self.forks.iter().map(|fork| fork.trimmed_log.exp()).collect()
    }

    /// Forks whose ratio is in another mode. None where capacities are bounded: a fork that keeps no load is no
    /// exception.
    pub fn odd_forks(&self) -> Vec<OddFork> {
        if self.bound.is_some() {
            return Vec::new();
        }
        let ratios = self.fork_ratios();
        let odd = find_odd_starts(&ratios).unwrap_or_default();
        let of = |index: usize| OddFork { fork: self.fork_numbers[index], ratio: ratios[index] };
        odd.into_iter().map(of).collect()
    }

    pub fn measured(&self) -> Measured<'_> {
        let Self { currency, forks, comparison, sd_floor, .. } = self;
        Measured { forks, polarity: currency.facts().polarity, method: comparison.method, sd_floor: *sd_floor }
    }
}

/// How intervals over forks are made under this plan. With a fixed number of forks, earlier runs do not count.
pub(crate) fn method(plan: &Plan, prior: Option<VariancePrior>) -> Method {
    let kind = match plan.stop.forks {
        Forks::UntilDecided { at_least: min_forks, max_forks, .. } if plan.mode == Mode::Compared => {
            // Listed groups make room for the next one at their declared number, so they need no interval beyond it.
            let may_continue = plan.stop.order == GroupOrder::Even;
            let repeated = |max_forks| MethodKind::Repeated { min_forks, max_forks, may_continue };
            max_forks.map_or(MethodKind::Sequential { min_forks }, repeated)
        }
        _ => MethodKind::FixedForks,
    };
    let prior = prior.filter(|_| kind != MethodKind::FixedForks);
    Method { alpha: plan.stop.alpha, kind, prior: None }.with_prior(prior)
}

/// All currencies that both sides have over some forks, the deciding one first.
pub(crate) fn measure_ratios(
    plan: &Plan,
    variant: &CellAnalysis<'_>,
    baseline: &CellAnalysis<'_>,
    forks: &[u32],
) -> Vec<MeasuredRatio> {
    let sides = Sides { plan, variant, baseline, forks };
    let mut measured_ratios = vec![
        capacity_ratio(sides),
        of_slices(sides, Currency::Throughput, Some(SliceKind::Saturating), |s| level::throughput(s)),
        of_slices(sides, Currency::CpuPerRequest, sides.variant.cpu_kind, |s| level::cpu(s)),
        of_forks(sides, Currency::AllocatedPerRequest, level::allocated_per_fork),
        of_forks(sides, Currency::StoppedPerRequest, level::stopped_per_fork),
    ];
    if cpu_decides(sides.variant) {
        measured_ratios.swap(1, 2);
    }
    // Latency is compared under Poisson load or for pushed messages; without either, under the saturating load. A side
    // that could not follow the Poisson load has no latency, and is compared in no other. A constant rate gives CPU.
    let cells = [&sides.variant.cell, &sides.baseline.cell];
    let both_have = |kind: &SliceKind| cells.iter().all(|cell| cell.latency_under(*kind).is_some());
    let one_has = |kind: &SliceKind| cells.iter().any(|cell| cell.latency_under(*kind).is_some());
    let driven = [SliceKind::Poisson, SliceKind::Push, SliceKind::Saturating].into_iter().find(one_has);
    if let Some(kind) = driven.filter(both_have) {
        // The server sets the rate of its pushes, so their latency decides.
        let place = if kind == SliceKind::Push { 0 } else { measured_ratios.len() };
        measured_ratios.splice(place..place, latencies(sides, kind));
    }
    measured_ratios.into_iter().flatten().collect()
}

/// Whether CPU decides instead of throughput. On saturated cores they agree, and over whole rounds CPU is more precise,
/// because it excludes the generator.
fn cpu_decides(variant: &CellAnalysis<'_>) -> bool {
    variant.cpu_kind == Some(SliceKind::Saturating) && level::alternates(&variant.evidence)
}

/// The pairs of each fork in the currency of saturating slices that decides.
pub(crate) fn deciding_pairs(
    plan: &Plan,
    variant: &CellAnalysis<'_>,
    baseline: &CellAnalysis<'_>,
) -> Vec<Vec<(f64, f64)>> {
    let sides = Sides { plan, variant, baseline, forks: &variant.evidence.fork_numbers() };
    let level: LevelOf = if cpu_decides(variant) { |s| level::cpu(s) } else { |s| level::throughput(s) };
    slice_pairs(sides, SliceKind::Saturating, level).into_iter().map(|(_, pairs)| pairs).collect()
}

fn levels(sides: Sides<'_>, currency: Currency) -> Option<(f64, f64)> {
    Some((sides.variant.cell.level_in(currency)?.value, sides.baseline.cell.level_in(currency)?.value))
}

fn capacity_ratio(sides: Sides<'_>) -> Option<MeasuredRatio> {
    let Sides { variant, baseline, .. } = sides;
    let (mine, theirs) = (variant.cell.capacity.as_ref()?, baseline.cell.capacity.as_ref()?);
    let unit = if mine.by == LoadBy::Rate { "per_s" } else { "users" };
    let pair = |fork: u32| Some((FoundLoad::of_fork(mine, fork)?, FoundLoad::of_fork(theirs, fork)?));
    let forks = ratios_of_single_pairs(sides, |fork| pair(fork).map(|(own, beneath)| (own.load, beneath.load)));
    let pairs: Vec<(FoundLoad, FoundLoad)> = sides.forks.iter().filter_map(|fork| pair(*fork)).collect();
    let bound = capacity::bound((variant, baseline), &pairs);
    let levels = (mine.load.value, theirs.load.value);
    let measured_ratio = measure_ratio(sides, forks, (Currency::Capacity, SliceKind::Capacity), levels)?;
    Some(MeasuredRatio { label: format!("{} at {}", mine.by.name(), mine.curve), unit, bound, ..measured_ratio })
}

fn ratios_of_single_pairs(sides: Sides<'_>, pair: impl Fn(u32) -> Option<(f64, f64)>) -> Vec<(u32, ForkRatio)> {
    let ratio = |fork: &u32| Some((*fork, ForkRatio::from_pairs(&[pair(*fork)?]).ok()?));
    sides.forks.iter().filter_map(ratio).collect()
}

/// A figure with one value per fork, summed over all loads. `None` where a side has none in a fork, as where it never
/// stopped: to leave that fork out would select by results.
fn of_forks(
    sides: Sides<'_>,
    currency: Currency,
    per_fork: fn(&Evidence<'_>) -> BTreeMap<u32, f64>,
) -> Option<MeasuredRatio> {
    let (mine, theirs) = (per_fork(&sides.variant.evidence), per_fork(&sides.baseline.evidence));
    if mine.iter().chain(&theirs).any(|(fork, value)| *value == 0.0 && sides.forks.contains(fork)) {
        return None;
    }
    let forks = ratios_of_single_pairs(sides, |fork| Some((*mine.get(&fork)?, *theirs.get(&fork)?)));
    // These loads differ from plan to plan as the load of the CPU does.
    let load = sides.variant.cpu_kind.unwrap_or(SliceKind::Saturating);
    measure_ratio(sides, forks, (currency, load), levels(sides, currency)?)
}

/// A figure of single slices: each fork that both sides have has the trimmed mean over slices of the same round.
fn of_slices(sides: Sides<'_>, currency: Currency, load: Option<SliceKind>, level: LevelOf) -> Option<MeasuredRatio> {
    let load = load?;
    let ratio = |(fork, pairs): (u32, Vec<(f64, f64)>)| Some((fork, ForkRatio::from_pairs(&pairs).ok()?));
    let forks = slice_pairs(sides, load, level).into_iter().filter_map(ratio).collect();
    measure_ratio(sides, forks, (currency, load), levels(sides, currency)?)
}

/// The pairs of slices of the same round, by fork. A fork is one pair of its sums if a slice has no value, because to
/// drop its pair would drop the worst sample; and in a sequential run, which has no common rounds.
fn slice_pairs(sides: Sides<'_>, kind: SliceKind, level: LevelOf) -> Vec<(u32, Vec<(f64, f64)>)> {
    let Sides { plan, variant, baseline, forks } = sides;
    let one = |slice: &StoredSlice| level(&mut std::iter::once(slice)).filter(|value| *value > 0.0);
    let of_fork = |fork: u32| {
        let whole = |side: &CellAnalysis<'_>| level(&mut side.evidence.in_fork(kind, fork));
        let theirs: HashMap<u32, &StoredSlice> =
            baseline.evidence.in_fork(kind, fork).map(|s| (s.key.round, s)).collect();
        let mine = variant.evidence.in_fork(kind, fork);
        let same_round = mine.filter_map(|s| Some((s, *theirs.get(&s.key.round)?)));
        let pairs: Option<Vec<(f64, f64)>> = same_round.map(|(v, b)| Some((one(v)?, one(b)?))).collect();
        match pairs {
            Some(pairs) if !pairs.is_empty() && plan.mode == Mode::Compared => Some(pairs),
            _ => Some(vec![(whole(variant)?, whole(baseline)?)]),
        }
    };
    forks.iter().filter_map(|fork| Some((*fork, of_fork(*fork)?))).collect()
}

/// Compares over forks, with the prior that the plan has for this scenario or its family, this currency and load.
fn measure_ratio(
    sides: Sides<'_>,
    forks: Vec<(u32, ForkRatio)>,
    (currency, load): (Currency, SliceKind),
    (variant_value, baseline_value): (f64, f64),
) -> Option<MeasuredRatio> {
    let Sides { plan, baseline, .. } = sides;
    let (facts, cell) = (currency.facts(), &baseline.cell);
    let of = SpreadOf::of_scenario(&cell.family, &cell.scenario, currency, load);
    let earlier = plan.stop.earlier.spread(&of);
    let method = method(plan, earlier.and_then(|spread| spread.prior));
    let sd_floor = plan.stop.floor;
    let (fork_numbers, forks): (Vec<u32>, Vec<ForkRatio>) = forks.into_iter().unzip();
    let comparison = Comparison::over_forks(&forks, method, sd_floor).ok()?;
    let (label, unit) = (facts.label.to_owned(), facts.unit);
    Some(MeasuredRatio {
        currency,
        load,
        label,
        unit,
        baseline_value,
        variant_value,
        forks,
        fork_numbers,
        comparison,
        bound: None,
        sd_floor,
        prior_source: earlier.filter(|_| method.prior.is_some()).map(PriorSource::earlier),
    })
}
