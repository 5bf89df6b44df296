//! When a run may stop: each comparison by [`tare_stats::verdict::reason_to_stop`], the one rule, from the record alone. A
//! run with limits (`tare check`) stops when each limit is judged.

use std::time::Duration;

use tare_plan::plan::{Forks, Plan};
use tare_record::RunRecord;
use tare_stats::measures::deciding_reason_to_stop;
use tare_stats::{DecisionRule, StopReason};

use crate::cell::analyze_cells;
use crate::compare::{Pair, Pairs, compare_cells};
use crate::limits::{are_settled, judge_limits};
use crate::summary::{Comparison, LimitResult};

/// How one comparison stands after a fork.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonStanding {
    /// Group.
    pub group: String,
    /// Scenario.
    pub scenario: String,
    /// The variant that is compared with its baseline.
    pub variant: String,
    /// The verdict so far in few words: `slower 8.1 % [7.2, 9.0]`.
    pub text: String,
    /// Forks that count: those that ran, without those that were set aside.
    pub forks: u32,
    /// Whether it has a verdict, however wide its interval.
    pub has_verdict: bool,
    /// Why it may stop; `None` while it needs more forks.
    pub stop: Option<StopCause>,
    /// The time that more forks would take to decide it, if estimate and spread stayed as they are.
    pub needed: Option<Duration>,
}

/// Why a comparison needs no more forks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// It has a verdict, or its interval is as narrow as was asked for.
    Settled(StopReason),
    /// It does not count, and more forks would not change that.
    Void,
}

/// How the comparisons of a record stand, judged as its report will judge them.
pub fn standings(record: &RunRecord) -> Vec<ComparisonStanding> {
    let (plan, cells) = (&record.header.plan, analyze_cells(record));
    let pairs = Pairs::of(plan, &cells);
    let (rule, measures, judged) = (pairs.rule(plan), pairs.measures(), judge_limits(record, &pairs));
    let stop = |pair: &Pair<'_>| match judged.as_slice() {
        _ if plan.stop.limits.is_empty() => stop_cause(pair, measures, &rule),
        limits => limits_stop(plan, pair, limits),
    };
    let stops = pairs.asked().iter().map(stop);
    let standing = |(comparison, stop): (Comparison, Option<StopCause>)| {
        let limits: Vec<&LimitResult> = judged.iter().filter(|limit| limit.comparison == comparison.id).collect();
        let first = comparison.currencies.first();
        let of_first = first.map_or_else(|| "void".to_owned(), |first| first.short.clone());
        let needed_s = if limits.is_empty() { first.and_then(|first| first.needed_s) } else { longest(&limits) };
        let is_decided = first.is_some_and(|first| first.verdict.is_decision());
        ComparisonStanding {
            text: if limits.is_empty() { of_first } else { in_words(&limits) },
            forks: first.map_or(0, |first| first.forks),
            has_verdict: if limits.is_empty() { is_decided } else { stop.is_some() },
            stop,
            needed: needed_s.filter(|s| s.is_finite()).map(Duration::from_secs_f64),
            group: comparison.group,
            scenario: comparison.scenario,
            variant: comparison.variant,
        }
    };
    compare_cells(record, &pairs).comparisons.into_iter().zip(stops).map(standing).collect()
}

/// The longest time that any of these limits needs, in seconds.
fn longest(limits: &[&LimitResult]) -> Option<f64> {
    limits.iter().filter_map(|limit| limit.needed_s).reduce(f64::max)
}

/// `cpu > +3%: +0.4 % [−0.8, +1.6] no material change; p99 > +10%: …`.
fn in_words(limits: &[&LimitResult]) -> String {
    let one = |limit: &&LimitResult| format!("{}: {} {}", limit.limit, limit.short, limit.verdict.name());
    limits.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Why the run need not go on for this pair: nothing more can be learnt of a void one.
fn stop_cause(pair: &Pair<'_>, measures: usize, rule: &DecisionRule) -> Option<StopCause> {
    if pair.void.is_some() {
        return Some(StopCause::Void);
    }
    deciding_reason_to_stop(&pair.measured_ratios.first()?.measured(), measures, rule).map(StopCause::Settled)
}

/// Why a run with limits need not go on for this pair: each of its limits is judged. Fixed forks are never cut short.
fn limits_stop(plan: &Plan, pair: &Pair<'_>, limits: &[LimitResult]) -> Option<StopCause> {
    if pair.void.is_some() {
        return Some(StopCause::Void);
    }
    let of_pair: Vec<&LimitResult> = limits.iter().filter(|limit| limit.comparison == pair.variant.cell.id).collect();
    let may_stop = matches!(plan.stop.forks, Forks::UntilDecided { .. }) && are_settled(&of_pair);
    may_stop.then_some(StopCause::Settled(StopReason::Decided))
}
