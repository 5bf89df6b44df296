//! Comparisons: ratios become verdicts, judged together so that a table of many has no false finding.

use std::collections::BTreeMap;

use tare_plan::plan::{Plan, Role};
use tare_record::sample::RunRecord;
use tare_stats::verdict::{decided, judge_together};
use tare_stats::{DecisionRule, NoiseFloor, Region, Verdict};

use super::Studied;
use super::ratio::{Draft, drafts};
use super::{fork_time, prior, wording};
use crate::format::Change;
use crate::stop::StopCause;
use crate::summary::{Comparison, CurrencyRatio, Noise, ValidityState, VerdictKind};

/// Comparisons that get a verdict, and controls that only show the noise.
pub(crate) struct Weighed {
    pub comparisons: Vec<Comparison>,
    /// Why each of the comparisons may stop; `None` for one that must go on.
    pub stops: Vec<Option<StopCause>>,
    pub noise: Vec<Noise>,
    /// Why a comparison is void, by its id.
    pub void: BTreeMap<String, String>,
    /// Per comparison and currency where trimmed and plain means disagree.
    pub disagreeing: Vec<(String, String)>,
}

/// One pair of cells with its unjudged currencies.
struct Pair<'a> {
    variant: &'a Studied<'a>,
    baseline: &'a Studied<'a>,
    drafts: Vec<Draft>,
    /// Why it may not be judged.
    void: Option<String>,
}

/// Weighs every cell against the baseline of its group and scenario.
pub(crate) fn weigh(record: &RunRecord, cells: &[Studied<'_>]) -> Weighed {
    let plan = &record.header.plan;
    let alone = control_alone(plan);
    let pairs: Vec<Pair<'_>> = cells.iter().filter_map(|variant| pair(plan, variant, cells)).collect();
    let (controls, judged): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|p| p.variant.cell.control);
    let rule = rule(plan, if alone { controls.len() } else { judged.len() });
    let judge = |pairs: &[Pair<'_>]| -> Vec<Comparison> {
        let deciding = deciding_verdicts(pairs, &rule);
        let one = |(pair, verdict): (&Pair<'_>, Option<Verdict>)| comparison(record, pair, verdict, &rule);
        pairs.iter().zip(deciding).map(one).collect()
    };
    let (controlled, weighed) = (judge(&controls), judge(&judged));
    let stops = if alone { &controls } else { &judged }.iter().map(|pair| stop_cause(pair, &rule)).collect();
    let void =
        controls.iter().chain(&judged).filter_map(|p| Some((p.variant.cell.id.clone(), p.void.clone()?))).collect();
    let disagreeing = controls.iter().chain(&judged).flat_map(disagreeing).collect();
    let noise = controlled.iter().zip(&controls).map(|(c, p)| noise(c, p, plan.stop.alpha)).collect();
    Weighed { comparisons: if alone { controlled } else { weighed }, stops, noise, void, disagreeing }
}

/// Whether the plan weighs servers against themselves and nothing else (`--aa`).
pub(super) fn control_alone(plan: &Plan) -> bool {
    let mut variants = plan.groups.iter().flat_map(|g| &g.variants);
    variants.all(|v| v.role != Role::Weighed) && plan.groups.iter().any(|g| g.variants.len() > 1)
}

fn rule(plan: &Plan, comparisons: usize) -> DecisionRule {
    DecisionRule {
        region: Region::new(plan.stop.region).unwrap_or_default(),
        precision: (plan.stop.precision > 0.0).then_some(plan.stop.precision),
        half_width: Some(plan.stop.half_width).filter(|width| *width > 0.0 && *width < 1.0),
        comparisons: comparisons.max(1) as u32,
        table_alpha: plan.stop.alpha,
    }
}

fn pair<'a>(plan: &Plan, variant: &'a Studied<'a>, cells: &'a [Studied<'a>]) -> Option<Pair<'a>> {
    let same = |c: &&Studied<'_>| c.cell.group == variant.cell.group && c.cell.scenario == variant.cell.scenario;
    let baseline = cells.iter().filter(same).find(|c| c.cell.baseline).filter(|_| !variant.cell.baseline)?;
    let drafts = drafts(plan, variant, baseline);
    let of_baseline = || Some(format!("its baseline {} is void: {}", baseline.cell.variant, why_void(baseline)?));
    let mut void = why_void(variant).or_else(of_baseline);
    if void.is_none() && drafts.is_empty() {
        void = Some("the two were never measured in the same fork".to_owned());
    }
    Some(Pair { variant, baseline, drafts, void })
}

fn why_void(side: &Studied<'_>) -> Option<String> {
    let validity = &side.cell.validity;
    let first = validity.reasons.first().filter(|_| validity.state == ValidityState::Void);
    first.map(|reason| reason.text.clone())
}

/// The verdict of each pair's first currency, judged together where there are several; `None` where it is void.
fn deciding_verdicts(pairs: &[Pair<'_>], rule: &DecisionRule) -> Vec<Option<Verdict>> {
    let first = |p: &Pair<'_>| {
        p.drafts.first().filter(|_| p.void.is_none()).map(|d| (d.comparison.clone(), d.currency.facts().polarity))
    };
    let candidates: Vec<Option<_>> = pairs.iter().map(first).collect();
    let together: Vec<_> = candidates.iter().flatten().cloned().collect();
    let apart = |_| together.iter().map(|(c, polarity)| Verdict::of(c, *polarity, rule)).collect();
    let verdicts: Vec<Verdict> = judge_together(&together, rule).unwrap_or_else(apart);
    let mut verdicts = verdicts.into_iter();
    candidates.iter().map(|c| c.as_ref().and_then(|_| verdicts.next())).collect()
}

/// Why the run need not go on for this pair: nothing more can be learnt of a void one.
fn stop_cause(pair: &Pair<'_>, rule: &DecisionRule) -> Option<StopCause> {
    if pair.void.is_some() {
        return Some(StopCause::Void);
    }
    decided(&pair.drafts.first()?.comparison, rule).map(StopCause::Settled)
}

fn comparison(record: &RunRecord, pair: &Pair<'_>, deciding: Option<Verdict>, rule: &DecisionRule) -> Comparison {
    let (cell, baseline) = (&pair.variant.cell, &pair.baseline.cell);
    let judge = |(at, draft): (usize, &Draft)| {
        let own = || Verdict::of(&draft.comparison, draft.currency.facts().polarity, rule);
        let verdict = match (&pair.void, at) {
            (Some(_), _) => Verdict::Void,
            (None, 0) => deciding.unwrap_or_else(own),
            (None, _) => own(),
        };
        let fork_s = fork_time::mean_s(record, &cell.group);
        let prior = prior::effect(&record.header.plan, &baseline.family, draft);
        CurrencyRatio { prior, ..currency(draft, verdict, pair, fork_s) }
    };
    Comparison {
        id: cell.id.clone(),
        group: cell.group.clone(),
        scenario: cell.scenario.clone(),
        variant: cell.variant.clone(),
        baseline: baseline.variant.clone(),
        cell: cell.id.clone(),
        baseline_cell: baseline.id.clone(),
        currencies: pair.drafts.iter().enumerate().map(judge).collect(),
    }
}

fn currency(draft: &Draft, verdict: Verdict, pair: &Pair<'_>, fork_s: Option<f64>) -> CurrencyRatio {
    let comparison = &draft.comparison;
    let bounds = comparison.ratio.filter(|r| r.is_bounded()).map(|r| (r.lo, r.hi));
    let (kind, material) = kind_of(verdict);
    let change = Change { ratio: comparison.estimate, bounds };
    CurrencyRatio {
        name: draft.currency,
        load: draft.load,
        label: draft.label.clone(),
        unit: draft.unit.to_owned(),
        higher_is_better: draft.currency.facts().polarity == tare_stats::Polarity::HigherIsBetter,
        baseline_value: draft.baseline_value,
        variant_value: draft.variant_value,
        ratio: comparison.estimate,
        lo: bounds.map(|b| b.0),
        hi: bounds.map(|b| b.1),
        method: wording::method(comparison),
        forks: comparison.forks,
        sd_forks: comparison.sd_forks,
        fork_ratios: draft.fork_ratios.clone(),
        verdict: kind,
        material,
        short: wording::short(draft.currency, kind, &change),
        reason: if verdict == Verdict::Void { pair.void.clone() } else { wording::reason(verdict, comparison) },
        needed_s: needed_s(verdict, comparison.forks, fork_s),
        prior: None,
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

fn needed_s(verdict: Verdict, forks: u32, fork_s: Option<f64>) -> Option<f64> {
    let Verdict::Inconclusive { forks_needed: Some(needed), .. } = verdict else { return None };
    (needed > forks).then_some(f64::from(needed - forks) * fork_s?)
}

fn noise(comparison: &Comparison, pair: &Pair<'_>, alpha: f64) -> Noise {
    let draft = pair.drafts.first().filter(|_| pair.void.is_none());
    let logs = |draft: &Draft| draft.fork_ratios.iter().map(|ratio| ratio.ln()).collect::<Vec<f64>>();
    let floor = draft.and_then(|draft| NoiseFloor::of_forks(&logs(draft), alpha).ok());
    Noise {
        group: comparison.group.clone(),
        scenario: comparison.scenario.clone(),
        server: pair.baseline.cell.server.clone(),
        currencies: comparison.currencies.clone(),
        floor: floor.map(|floor| floor.half_width),
    }
}

fn disagreeing(pair: &Pair<'_>) -> Vec<(String, String)> {
    let drafts = pair.drafts.iter().filter(|d| d.comparison.trimmed_plain_disagree);
    drafts.map(|d| (pair.variant.cell.id.clone(), d.label.clone())).collect()
}
