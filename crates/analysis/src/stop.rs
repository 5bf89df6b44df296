//! When a run may stop, from the record alone: each comparison by [`tare_stats::measures::reasons_to_stop`], the one
//! rule; then its percentiles of latency, as far as the declared starts can decide them; or each limit of `tare check`.

use std::collections::BTreeSet;
use std::time::Duration;

use tare_plan::Currency;
use tare_plan::plan::{Forks, Mode, Plan, SliceKind};
pub use tare_record::checkpoint::{ComparisonState, ReasonToStop};
use tare_record::{Phase, RunRecord};
use tare_stats::StopReason;

use crate::cell::seen::SeenCells;
use crate::cell::{CellAnalysis, analyze_new};
use crate::compare::{Pair, Pairs, compare_cells};
use crate::limits::{are_settled, judge_limits};
use crate::profile::first_answers;
use crate::summary::{Comparison, CurrencyRatio, LimitResult, VerdictKind};

/// Looks at the record of a run under way. Each analyses only what is new since the last one, and judges it with all the rest.
#[derive(Default)]
pub struct Looks {
    seen: SeenCells,
}

impl Looks {
    /// Judged as its report will judge it. Profiled starts have no scores: what is in the frames of each layer stands
    /// instead. The record is that of the last look, and may have more entries.
    pub fn reasons_to_stop(&mut self, record: &RunRecord) -> Vec<ComparisonState> {
        if record.header.plan.mode == Mode::Profiled {
            return first_answers(record);
        }
        let cells = analyze_new(record, &mut self.seen);
        let states = states(record, &cells);
        self.seen.keep(cells);
        states
    }
}

fn states(record: &RunRecord, cells: &[CellAnalysis<'_>]) -> Vec<ComparisonState> {
    let (plan, pairs) = (&record.header.plan, Pairs::of(record, cells));
    let judged = judge_limits(plan, &pairs);
    let state = |((comparison, pair), settled): ((Comparison, &Pair<'_>), Option<StopReason>)| {
        let limits: Vec<&LimitResult> = judged.iter().filter(|limit| limit.comparison == comparison.id).collect();
        // Nothing more can be learnt of a void one.
        let reason = match plan.stop.limits.as_slice() {
            _ if pair.void.is_some() => Some(ReasonToStop::Void),
            [] => reason_to_stop(pair, settled),
            _ => reason_by_limits(plan, &limits),
        };
        let may_wait = judged.is_empty() && matches!(reason, Some(ReasonToStop::Settled(_)));
        let reason_to_stop = reason.filter(|_| !may_wait || !waits_for_latency(plan, &pairs, pair, &comparison));
        let first = comparison.currencies.first();
        let of_first = first.map_or_else(|| "void".to_owned(), |first| standing_in_words(first, reason_to_stop));
        let of_limits = limits.iter().filter_map(|limit| limit.needed_s).reduce(f64::max);
        let needed_s = if limits.is_empty() { first.and_then(|first| first.needed_s) } else { of_limits };
        let is_decided = first.is_some_and(|first| first.verdict.is_decision());
        ComparisonState {
            text: if limits.is_empty() { of_first } else { in_words(&limits) },
            forks: first.map_or(0, |first| first.forks),
            has_verdict: if limits.is_empty() { is_decided } else { reason_to_stop.is_some() },
            reason_to_stop,
            needed: needed_s.filter(|s| s.is_finite()).map(Duration::from_secs_f64),
            group: comparison.group,
            scenario: comparison.scenario,
            variant: comparison.variant,
        }
    };
    let compared = compare_cells(plan, &pairs).comparisons.into_iter().zip(pairs.asked());
    compared.zip(pairs.reasons_to_stop(plan)).map(state).collect()
}

/// Whether the stopped time, or a figure of windows of latency, has no verdict yet and the declared starts are expected
/// to give one. What needs more than these keeps no run going: so does a percentile at a cliff.
fn waits_for_latency(plan: &Plan, pairs: &Pairs<'_>, pair: &Pair<'_>, comparison: &Comparison) -> bool {
    let Forks::UntilDecided { max_forks: Some(declared), at_least, .. } = plan.stop.forks else {
        return false;
    };
    let Some(fork_s) = pairs.fork_times.get(&comparison.group) else { return false };
    let left = declared.saturating_sub(comparison.currencies.first().map_or(0, |first| first.forks));
    let measured = starts_with_latency(pair);
    if (1..at_least).contains(&measured) {
        return measured + left >= at_least;
    }
    let is_asked = |ratio: &&CurrencyRatio| match ratio.name {
        Currency::StoppedPerRequest => true,
        name => name.is_latency() && ratio.load == SliceKind::Poisson,
    };
    comparison.currencies.iter().filter(|ratio| ratio.is_known()).filter(is_asked).any(|ratio| {
        let needed = ratio.needed_s.filter(|_| !ratio.verdict.is_decision());
        // A whole number of starts, times their mean.
        needed.is_some_and(|needed_s| needed_s <= (f64::from(left) + 0.5) * fork_s)
    })
}

/// The starts in which the latency of a comparison was measured: the first ones of a run may leave it out.
fn starts_with_latency(pair: &Pair<'_>) -> u32 {
    let keys = [pair.variant, pair.baseline].into_iter().flat_map(|side| &side.evidence.slices).map(|slice| &slice.key);
    let of_latency = keys.filter(|key| (key.phase, key.kind) == (Phase::Measure, SliceKind::Poisson));
    of_latency.map(|key| key.fork).collect::<BTreeSet<u32>>().len() as u32
}

/// The verdict so far; of a comparison that is settled without one also why it has none.
fn standing_in_words(ratio: &CurrencyRatio, reason: Option<ReasonToStop>) -> String {
    let without_verdict = reason.filter(|_| ratio.verdict == VerdictKind::Inconclusive);
    match without_verdict {
        Some(ReasonToStop::Settled(StopReason::Decided)) => {
            format!("settled {}, waits for an earlier question", ratio.change().signed_interval())
        }
        Some(ReasonToStop::Settled(StopReason::Precise)) => format!("{}, as precise as asked for", ratio.short),
        _ => ratio.short.clone(),
    }
}

/// `cpu > +3%: +0.4 % [−0.8, +1.6] no material change; p99 > +10%: …`.
fn in_words(limits: &[&LimitResult]) -> String {
    let one = |limit: &&LimitResult| format!("{}: {} {}", limit.limit, limit.short, limit.verdict.name());
    limits.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn reason_to_stop(pair: &Pair<'_>, settled: Option<StopReason>) -> Option<ReasonToStop> {
    let deciding = pair.measured_ratios.first()?;
    if deciding.bound.is_some() {
        let comparison = &deciding.comparison;
        return (comparison.forks >= comparison.method.min_forks()).then_some(ReasonToStop::BeyondSearch);
    }
    settled.map(ReasonToStop::Settled)
}

/// Why a run with limits need not go on for a pair: each of its limits is judged. Fixed forks are never cut short.
fn reason_by_limits(plan: &Plan, limits: &[&LimitResult]) -> Option<ReasonToStop> {
    let may_stop = matches!(plan.stop.forks, Forks::UntilDecided { .. }) && are_settled(limits);
    may_stop.then_some(ReasonToStop::Settled(StopReason::Decided))
}
