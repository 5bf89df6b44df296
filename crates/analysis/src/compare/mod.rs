//! Comparisons: ratios become verdicts, all measures judged together so that many of them have no false finding.

mod prior;
pub(crate) mod ratio;
pub(crate) mod wording;

use std::collections::{BTreeMap, BTreeSet};

use tare_plan::plan::{Plan, Role, Stop};
use tare_record::RunRecord;
use tare_stats::measures::{Line, judge_measures, reasons_to_stop};
use tare_stats::verdict::LARGE_TABLE;
use tare_stats::{DecisionRule, MethodKind, Region, StopReason, UndecidedReason, Verdict, noise_floor};

use crate::cell::{CellAnalysis, NOTHING_MEASURED, analyze_cells};
use crate::earlier::means_s;
use crate::evidence::disturbance;
use crate::format::Change;
use crate::summary::{Comparison, CurrencyRatio, Noise, OddFork, ValidityState, VerdictKind};
use ratio::{MeasuredRatio, deciding_pairs, measure_ratios};
use tare_plan::Currency;
use tare_units::grouped_by;

/// Comparisons that get a verdict, and controls that only show the noise.
pub(crate) struct Compared {
    pub comparisons: Vec<Comparison>,
    pub noise: Vec<Noise>,
    /// Why a comparison is void, by its id.
    pub void: BTreeMap<String, String>,
    pub disturbed: BTreeSet<String>,
    pub region: f64,
    pub alpha: f64,
    pub is_control_alone: bool,
}

/// One pair of cells with its unjudged currencies.
pub(crate) struct Pair<'a> {
    pub variant: &'a CellAnalysis<'a>,
    pub baseline: &'a CellAnalysis<'a>,
    pub measured_ratios: Vec<MeasuredRatio>,
    pub odd_ratios: Vec<MeasuredRatio>,
    pub odd_forks: Vec<OddFork>,
    pub void: Option<String>,
}

impl Pair<'_> {
    /// None where it is void.
    pub fn judged_ratios(&self) -> &[MeasuredRatio] {
        if self.void.is_none() { &self.measured_ratios } else { &[] }
    }

    pub fn is_beside(&self, other: &Pair<'_>) -> bool {
        self.baseline.cell.id == other.baseline.cell.id
    }

    /// Whether other programs make a side of it suspect. Then more starts would decide it, and the verdict would be as suspect.
    pub fn is_disturbed(&self) -> bool {
        [self.variant, self.baseline].iter().any(|side| disturbance::makes_suspect(&side.evidence))
    }
}

/// Every cell beside the baseline of its group and scenario, not judged yet.
pub(crate) struct Pairs<'a> {
    pub compared: Vec<Pair<'a>>,
    pub controls: Vec<Pair<'a>>,
    /// Whether the plan compares servers with themselves and nothing else.
    is_control_alone: bool,
    /// Mean time of a fork of each group, in seconds.
    pub fork_times: BTreeMap<String, f64>,
}

impl<'a> Pairs<'a> {
    pub fn of(record: &RunRecord, cells: &'a [CellAnalysis<'a>]) -> Self {
        let plan = &record.header.plan;
        let pairs = with_baselines(cells).map(|(variant, baseline)| pair(plan, variant, baseline));
        let (controls, compared) = pairs.partition(|pair| pair.variant.cell.control);
        let (is_control_alone, fork_times) = (is_control_alone(plan), means_s(record));
        let mut pairs = Self { compared, controls, is_control_alone, fork_times };
        let asked = if pairs.is_control_alone { &mut pairs.controls } else { &mut pairs.compared };
        prior::share_spreads(plan, asked);
        pairs
    }

    /// Those that the run asks about.
    pub fn asked(&self) -> &[Pair<'a>] {
        if self.is_control_alone { &self.controls } else { &self.compared }
    }

    /// Mean time of a fork that a pair is measured in, in seconds; `None` where more forks are no remedy.
    pub fn fork_s(&self, pair: &Pair<'_>) -> Option<f64> {
        self.fork_times.get(&pair.variant.cell.group).copied().filter(|_| !pair.is_disturbed())
    }

    /// Why each of them need not go on, by what decides it.
    pub fn reasons_to_stop(&self, plan: &Plan) -> Vec<Option<StopReason>> {
        let asked = self.asked();
        let lines = lines(asked);
        let found = reasons_to_stop(&measured(&lines), &self.rule(plan)).unwrap_or_default();
        let mut reasons = vec![None; asked.len()];
        lines[0].iter().zip(found).for_each(|((at, _), reason)| reasons[*at] = reason);
        reasons
    }

    fn rule(&self, plan: &Plan) -> DecisionRule {
        DecisionRule {
            region: Region { margin: plan.stop.region },
            precision: (plan.stop.precision > 0.0).then_some(plan.stop.precision),
            half_width: Some(plan.stop.half_width).filter(|width| *width > 0.0 && *width < 1.0),
            comparisons: self.asked().len().max(1) as u32,
            table_level: None,
        }
    }
}

pub(crate) fn compare_cells(plan: &Plan, pairs: &Pairs<'_>) -> Compared {
    let rule = pairs.rule(plan);
    let judge = |judged: &[Pair<'_>], rule: &DecisionRule| -> Vec<Comparison> {
        let one = |(pair, verdicts): (&Pair<'_>, Vec<Verdict>)| comparison(pair, &verdicts, pairs.fork_s(pair));
        judged.iter().zip(verdicts(judged, rule)).map(one).collect()
    };
    let (controls, judged, asked) = (&pairs.controls, &pairs.compared, pairs.asked());
    // Several controls beside comparisons are no questions in an order: an open one hides no other that differs.
    let is_table = controls.len() > 1 && !pairs.is_control_alone;
    let of_controls = if is_table { DecisionRule { comparisons: LARGE_TABLE, ..rule } } else { rule };
    let (controlled, compared) = (judge(controls, &of_controls), judge(judged, &rule));
    let void =
        controls.iter().chain(judged).filter_map(|p| Some((p.variant.cell.id.clone(), p.void.clone()?))).collect();
    let disturbed = asked.iter().filter(|p| p.is_disturbed()).map(|p| p.variant.cell.id.clone()).collect();
    // The forks of a comparison that the control is beside.
    let forks = |control: &Pair<'_>| {
        let beside = judged.iter().zip(&compared).filter(|(pair, _)| control.is_beside(pair));
        beside.filter_map(|(_, comparison)| Some(comparison.currencies.first()?.forks)).max()
    };
    let (region, alpha) = (plan.stop.region, plan.stop.alpha);
    let noise = controlled.iter().zip(controls).map(|(c, p)| noise(c, p, forks(p), &plan.stop)).collect();
    let is_control_alone = pairs.is_control_alone;
    let comparisons = if is_control_alone { controlled } else { compared };
    Compared { comparisons, noise, void, disturbed, region, alpha, is_control_alone }
}

/// Whether the plan compares servers with themselves and nothing else (`--aa`).
fn is_control_alone(plan: &Plan) -> bool {
    let mut variants = plan.groups.iter().flat_map(|g| &g.variants);
    variants.all(|v| v.role != Role::Compared) && plan.groups.iter().any(|g| g.variants.len() > 1)
}

/// Every cell that has a baseline, with it. Cells of one group and scenario stand together.
fn with_baselines<'a>(
    cells: &'a [CellAnalysis<'a>],
) -> impl Iterator<Item = (&'a CellAnalysis<'a>, &'a CellAnalysis<'a>)> {
    let together = cells.chunk_by(|one, next| {
        let (one, next) = (&one.cell, &next.cell);
        (&one.group, &one.scenario) == (&next.group, &next.scenario)
    });
    together.flat_map(|cells| {
        let baseline = cells.iter().find(|one| one.cell.baseline);
        cells.iter().filter(|one| !one.cell.baseline).filter_map(move |one| Some((one, baseline?)))
    })
}

fn pair<'a>(plan: &Plan, variant: &'a CellAnalysis<'a>, baseline: &'a CellAnalysis<'a>) -> Pair<'a> {
    let over = |forks: &[u32]| measure_ratios(plan, variant, baseline, forks);
    let forks = variant.evidence.fork_numbers();
    let (mut measured_ratios, mut odd_ratios) = (over(&forks), Vec::new());
    let odd_forks = measured_ratios.first().map(MeasuredRatio::odd_forks).unwrap_or_default();
    // A fork that is odd in the deciding currency is left out of all.
    if !odd_forks.is_empty() {
        let is_odd = |fork: &u32| odd_forks.iter().any(|odd| odd.fork == *fork);
        let (odd, usual): (Vec<u32>, Vec<u32>) = forks.into_iter().partition(is_odd);
        (measured_ratios, odd_ratios) = (over(&usual), over(&odd));
    }
    let of_baseline = why_void(baseline).map(|why| format!("its baseline {} is void: {why}", baseline.cell.variant));
    // A server that is well is not measured either where the other is not.
    let reasons = [why_void(variant), of_baseline].into_iter().flatten();
    let mut void = reasons.min_by_key(|why| why.ends_with(NOTHING_MEASURED));
    if void.is_none() && measured_ratios.is_empty() {
        void = Some(match plan.slo {
            Some(_) => "in no start did the searches of both end".to_owned(),
            None => "the two were never measured in the same start".to_owned(),
        });
    }
    Pair { variant, baseline, measured_ratios, odd_ratios, odd_forks, void }
}

fn why_void(side: &CellAnalysis<'_>) -> Option<String> {
    let validity = &side.cell.validity;
    let first = validity.reasons.first().filter(|_| validity.state == ValidityState::Void);
    first.map(|reason| reason.text.clone())
}

/// Ratios that are judged together, each with the place of its pair.
type PlacedRatios<'a> = Vec<(usize, &'a MeasuredRatio)>;

/// The lines of ratios that are judged together: first what decides each pair, then every other currency.
fn lines<'a>(pairs: &'a [Pair<'a>]) -> Vec<PlacedRatios<'a>> {
    let ratios = || pairs.iter().enumerate().map(|(at, pair)| (at, pair.judged_ratios()));
    let deciding = ratios().filter_map(|(at, all)| Some((at, all.first().filter(|ratio| ratio.bound.is_none())?)));
    let others = ratios().flat_map(|(at, all)| all.iter().skip(1).map(move |ratio| (ratio.currency, (at, ratio))));
    let of_currencies = grouped_by(others).into_iter().map(|(_, line)| line);
    std::iter::once(deciding.collect()).chain(of_currencies).collect()
}

/// The verdict on each ratio of each pair. A ratio that no line has is void.
fn verdicts(pairs: &[Pair<'_>], rule: &DecisionRule) -> Vec<Vec<Verdict>> {
    let lines = lines(pairs);
    let judged = judge_measures(&measured(&lines), rule).unwrap_or_default().into_iter().flatten();
    let places = lines.iter().flatten().map(|(at, ratio)| (*at, ratio.currency));
    let stated: BTreeMap<(usize, Currency), Verdict> = places.zip(judged).collect();
    let of_ratio = |at: usize, ratio: &MeasuredRatio| *stated.get(&(at, ratio.currency)).unwrap_or(&Verdict::Void);
    let of_pair =
        |(at, pair): (usize, &Pair<'_>)| pair.measured_ratios.iter().map(|ratio| of_ratio(at, ratio)).collect();
    pairs.iter().enumerate().map(of_pair).collect()
}

fn measured<'a>(lines: &[PlacedRatios<'a>]) -> Vec<Line<'a>> {
    lines.iter().map(|line| line.iter().map(|(_, ratio)| ratio.measured()).collect()).collect()
}

fn comparison(pair: &Pair<'_>, verdicts: &[Verdict], fork_s: Option<f64>) -> Comparison {
    let (cell, baseline) = (&pair.variant.cell, &pair.baseline.cell);
    let judged = pair.measured_ratios.iter().zip(verdicts);
    let mut currencies: Vec<CurrencyRatio> =
        judged.map(|(ratio, verdict)| currency(ratio, *verdict, pair, fork_s)).collect();
    if let Some((first, others)) = currencies.split_first_mut() {
        others.iter_mut().for_each(|other| hold_against_figures(other, first.forks));
    }
    Comparison {
        cpu_cost: wording::cpu_cost(&currencies, cell),
        id: cell.id.clone(),
        group: cell.group.clone(),
        scenario: cell.scenario.clone(),
        variant: cell.variant.clone(),
        baseline: baseline.variant.clone(),
        cell: cell.id.clone(),
        baseline_cell: baseline.id.clone(),
        odd_forks: pair.odd_forks.clone(),
        currencies,
    }
}

/// Takes back what a measure says against its own figures: these are of all starts, a ratio only of those that state it
/// on both sides. Names what it rests on where that is one start of several.
fn hold_against_figures(ratio: &mut CurrencyRatio, starts: u32) {
    let is_opposite = (ratio.ratio - 1.0) * (ratio.variant_value - ratio.baseline_value) < 0.0;
    if ratio.verdict.is_difference() && is_opposite {
        (ratio.verdict, ratio.material) = (VerdictKind::Inconclusive, false);
        ratio.short = wording::short(ratio.name, ratio.verdict, &ratio.change());
        ratio.reason = Some("the two figures of all starts differ in the other direction".to_owned());
    }
    if ratio.verdict == VerdictKind::NoInterval && starts > 1 {
        ratio.reason = Some(format!("one of {starts} starts can state it for both servers"));
    }
}

fn currency(measured_ratio: &MeasuredRatio, verdict: Verdict, pair: &Pair<'_>, fork_s: Option<f64>) -> CurrencyRatio {
    let comparison = &measured_ratio.comparison;
    let bound = measured_ratio.bound.as_ref().filter(|_| pair.void.is_none());
    let (kind, material) = if bound.is_some() { (VerdictKind::Inconclusive, false) } else { kind_of(verdict) };
    let bounds = comparison.ratio.filter(|_| bound.is_none()).and_then(|ratio| ratio.bounds());
    let change = Change { ratio: comparison.estimate, bounds };
    let reason = match (verdict, bound) {
        (_, Some((_, reason))) => Some(reason.clone()),
        (Verdict::Void, None) => pair.void.clone(),
        _ => wording::reason(verdict, comparison),
    };
    CurrencyRatio {
        name: measured_ratio.currency,
        load: measured_ratio.load,
        label: measured_ratio.label.clone(),
        unit: measured_ratio.unit.to_owned(),
        higher_is_better: measured_ratio.currency.facts().polarity == tare_stats::Polarity::HigherIsBetter,
        baseline_value: measured_ratio.baseline_value,
        variant_value: measured_ratio.variant_value,
        ratio: comparison.estimate,
        bound: bound.map(|(bound, _)| *bound),
        lo: bounds.map(|b| b.0),
        hi: bounds.map(|b| b.1),
        method: wording::method(measured_ratio),
        forks: comparison.forks,
        sd_forks: comparison.sd_forks,
        fork_ratios: measured_ratio.fork_ratios(),
        fork_numbers: measured_ratio.fork_numbers.clone(),
        verdict: kind,
        material,
        short: match bound {
            Some((bound, _)) => format!("inconclusive, {}", wording::bound_in_words(*bound, &change)),
            None => wording::short(measured_ratio.currency, kind, &change),
        },
        reason,
        needed_s: needed_s(verdict, comparison, fork_s),
        prior: prior::effect(measured_ratio),
    }
}

fn kind_of(verdict: Verdict) -> (VerdictKind, bool) {
    match verdict {
        Verdict::NoMaterialDifference => (VerdictKind::NoMaterialDifference, false),
        Verdict::Worse { material } => (VerdictKind::Worse, material),
        Verdict::Better { material } => (VerdictKind::Better, material),
        Verdict::Inconclusive { .. } => (VerdictKind::Inconclusive, false),
        Verdict::NoInterval => (VerdictKind::NoInterval, false),
        Verdict::Void => (VerdictKind::Void, false),
    }
}

/// The time of the forks that are still needed; of those that an interval lacks, where so few allow no forecast.
fn needed_s(verdict: Verdict, comparison: &tare_stats::Comparison, fork_s: Option<f64>) -> Option<f64> {
    let is_fixed = comparison.method.kind == MethodKind::FixedForks;
    let needed = match verdict {
        Verdict::Inconclusive { forks_needed: Some(needed), .. } => needed,
        Verdict::Inconclusive { reason: UndecidedReason::TooFewForks, .. } | Verdict::NoInterval if !is_fixed => {
            comparison.method.min_forks()
        }
        _ => return None,
    };
    (needed > comparison.forks).then_some(f64::from(needed - comparison.forks) * fork_s?)
}

fn noise(comparison: &Comparison, pair: &Pair<'_>, compared: Option<u32>, stop: &Stop) -> Noise {
    let asked = pair.judged_ratios().iter().find(|one| stop.least_change(one.currency).is_some());
    let floor = asked.and_then(|measured_ratio| {
        let logs: Vec<f64> = measured_ratio.forks.iter().map(|fork| fork.trimmed_log).collect();
        let own = logs.len() as u32;
        noise_floor(&logs, compared.unwrap_or(own).max(own), stop.alpha).ok()
    });
    Noise {
        group: comparison.group.clone(),
        scenario: comparison.scenario.clone(),
        server: pair.baseline.cell.server.clone(),
        currencies: comparison.currencies.clone(),
        floor,
    }
}

/// What a variant and its baseline took in each round of a fork.
type Rounds = Vec<(f64, f64)>;

/// Every comparison and control of a record that was measured by rounds of saturating slices: the family of its servers,
/// and of each fork the pairs `(variant, baseline)` of its rounds. A replay draws from these.
pub fn recorded_forks(record: &RunRecord) -> Vec<(String, Vec<Rounds>)> {
    let (plan, cells) = (&record.header.plan, analyze_cells(record));
    let recorded = with_baselines(&cells)
        .map(|(variant, baseline)| (baseline.cell.family.clone(), deciding_pairs(plan, variant, baseline)));
    recorded.filter(|(_, forks)| !forks.is_empty()).collect()
}
