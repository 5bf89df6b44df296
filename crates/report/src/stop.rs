//! When a run may stop: each comparison by [`tare_stats::verdict::decided`], the one rule, from the record alone.

use std::time::Duration;

use tare_record::RunRecord;
use tare_stats::StopReason;

use crate::summarize::{study, weigh};

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
    let weighed = weigh(record, &study(record));
    let standing = |(comparison, stop): (crate::summary::Comparison, Option<StopCause>)| {
        let first = comparison.currencies.into_iter().next();
        ComparisonStanding {
            group: comparison.group,
            scenario: comparison.scenario,
            variant: comparison.variant,
            text: first.as_ref().map_or_else(|| "void".to_owned(), |first| first.short.clone()),
            has_verdict: first.as_ref().is_some_and(|first| first.verdict.is_decision()),
            stop,
            needed: first.and_then(|first| first.needed_s).filter(|s| s.is_finite()).map(Duration::from_secs_f64),
        }
    };
    weighed.comparisons.into_iter().zip(weighed.stops).map(standing).collect()
}
