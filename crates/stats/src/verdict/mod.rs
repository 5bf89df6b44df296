//! What an interval means: the verdict, the rule by which a run may stop, and how many forks are still needed.
//! Region, precision and error probability are fixed before the run; nothing here changes them.

pub mod multiplicity;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::compare::Comparison;
use crate::method::MethodKind;

/// Forecasts of forks still needed are not made beyond this many.
pub const MAX_FORECAST_FORKS: u32 = 1_000;

/// From this many comparisons on the run has a table, of which each currency is judged as a whole by
/// [`benjamini_hochberg`](multiplicity::benjamini_hochberg). Fewer are questions in order.
pub const LARGE_TABLE: u32 = 10;

/// The size of a difference is known well enough at this share of it: 40 % ± 10 % needs no more forks.
pub const SIZE_SHARE: f64 = 0.25;

/// Which direction of a currency is the good one: it decides whether a ratio above 1 is worse or better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    HigherIsBetter,
    /// Latency, CPU per request, memory.
    LowerIsBetter,
}

impl Polarity {
    /// Whether this ratio lies on the bad side of another.
    pub fn is_worse(self, ratio: f64, than: f64) -> bool {
        match self {
            Self::LowerIsBetter => ratio > than,
            Self::HigherIsBetter => ratio < than,
        }
    }
}

/// The region of practical equivalence: ratios between 1 − margin and 1 + margin make no difference that matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// The margin as a share: 0.02 is ±2 %.
    pub margin: f64,
}

impl Region {
    pub fn lo(&self) -> f64 {
        1.0 - self.margin
    }

    pub fn hi(&self) -> f64 {
        1.0 + self.margin
    }
}

/// When a comparison is decided; fixed and printed before the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecisionRule {
    pub region: Region,
    /// A half-width of the log interval (0.01 is about ±1 %) that is narrow enough to stop with any verdict.
    pub precision: Option<f64>,
    /// A difference stops its comparison only once its size is known this well: the half-width of the log interval is
    /// at most this, or [`SIZE_SHARE`] of the difference. `None` stops as soon as the direction is certain.
    pub half_width: Option<f64>,
    /// How many comparisons the run judges together. Below [`LARGE_TABLE`] each is judged by its own interval, in order.
    pub comparisons: u32,
    /// In a table: the largest p-value at which one more difference of this currency is stated. `None` outside of one.
    pub table_level: Option<f64>,
}

impl Default for DecisionRule {
    fn default() -> Self {
        Self { region: Region { margin: 0.02 }, precision: None, half_width: None, comparisons: 1, table_level: None }
    }
}

/// Why a comparison need not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    Decided,
    /// Its interval is as narrow as was asked for.
    Precise,
}

/// The verdict on one variant against its baseline in one currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The interval of error probability 2 α lies inside the region.
    NoMaterialDifference,
    /// The interval excludes "no difference", on the bad side; if material, the whole region too.
    Worse { material: bool },
    /// The interval excludes "no difference", on the good side; if material, the whole region too.
    Better { material: bool },
    /// Neither is known yet. So many forks *in all* would decide it if estimate and spread stayed as they are; `None`
    /// beyond 1,000.
    Inconclusive { reason: UndecidedReason, forks_needed: Option<u32> },
    /// One fork: an estimate without a measure of its uncertainty.
    NoInterval,
    /// The measurement does not count; its finding says why.
    Void,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndecidedReason {
    /// There are fewer forks than the method lets decide.
    TooFewForks,
    /// The interval contains "no difference" and reaches beyond the region.
    IntervalTooWide,
    /// There is a difference on its own, but not enough evidence for a table with this many comparisons.
    TooManyComparisons,
    /// It would have a verdict by itself, but not at the share of α that is left for it beside the other measures.
    TooManyMeasures,
    /// It would have a verdict by itself, but an earlier question of the plan is still open.
    WaitsForEarlier,
}

impl Verdict {
    /// The verdict of one comparison by itself; a table of several needs
    /// [`judge_measures`](crate::measures::judge_measures).
    pub fn of_comparison(comparison: &Comparison, polarity: Polarity, rule: &DecisionRule) -> Self {
        match stated(comparison, polarity, rule.region) {
            Self::Inconclusive { reason, .. } => {
                Self::Inconclusive { reason, forks_needed: forks_needed(comparison, rule) }
            }
            verdict => verdict,
        }
    }

    /// Whether it answers the question: a difference, or none that matters.
    pub fn is_decision(&self) -> bool {
        self.is_difference() || *self == Self::NoMaterialDifference
    }

    pub fn is_difference(&self) -> bool {
        matches!(self, Self::Worse { .. } | Self::Better { .. })
    }
}

/// Whether the comparison may stop now, and why. With [`MethodKind::FixedForks`] it never may: the number of forks was
/// fixed. Stopping at a pleasing interval would break the guarantee that the interval states.
pub fn reason_to_stop(comparison: &Comparison, rule: &DecisionRule) -> Option<StopReason> {
    if comparison.method.kind == MethodKind::FixedForks { None } else { reason_at_a_look(comparison, rule) }
}

/// How many forks in all would decide the comparison if estimate and spread stayed as they are; `None` with one fork,
/// and if as many as the method allows, or [`MAX_FORECAST_FORKS`], would not suffice.
pub fn forks_needed(comparison: &Comparison, rule: &DecisionRule) -> Option<u32> {
    let settles = |forks: &u32| comparison.forecast(*forks).is_ok_and(|c| reason_at_a_look(&c, rule).is_some());
    comparison.forks_to_forecast().find(settles)
}

/// [`reason_to_stop`] for a method that may look at any number of forks.
fn reason_at_a_look(comparison: &Comparison, rule: &DecisionRule) -> Option<StopReason> {
    let log = comparison.log?;
    let half_width = log.half_width();
    let size_is_known = rule.half_width.is_none_or(|limit| half_width <= limit.max(SIZE_SHARE * log.estimate.abs()));
    // Which direction is good does not matter here.
    let decided = match stated(comparison, Polarity::LowerIsBetter, rule.region) {
        // Outside of a table the interval itself is the criterion.
        verdict if verdict.is_difference() => {
            size_is_known && rule.table_level.is_none_or(|level| comparison.p_value() <= level)
        }
        Verdict::Inconclusive { reason: UndecidedReason::TooFewForks, .. } => return None,
        verdict => verdict.is_decision(),
    };
    let precise = rule.precision.is_some_and(|p| half_width <= p);
    if decided { Some(StopReason::Decided) } else { precise.then_some(StopReason::Precise) }
}

impl Comparison {
    /// The numbers of forks that a forecast may ask for: none beyond those with which the method ends.
    pub(crate) fn forks_to_forecast(&self) -> RangeInclusive<u32> {
        let last = match self.method.kind {
            MethodKind::Repeated { may_continue: false, .. } => self.method.declared_forks(),
            _ => None,
        };
        self.forks..=last.unwrap_or(MAX_FORECAST_FORKS)
    }

    /// Whether its interval excludes "no difference", by as many forks as the method needs. An interval of larger α lies inside
    /// this one, so it does too, except after a drift past the declared forks, where either may be that of the confidence
    /// sequence alone.
    pub(crate) fn excludes_no_difference(&self) -> bool {
        self.has_enough_forks() && self.ratio.is_some_and(|ratio| ratio.lo > 1.0 || ratio.hi < 1.0)
    }

    /// Whether its interval states a difference: it excludes "no difference", and the narrower one does not lie inside the region.
    pub(crate) fn shows_difference(&self, region: Region) -> bool {
        stated(self, Polarity::LowerIsBetter, region).is_difference()
    }

    pub(crate) fn has_enough_forks(&self) -> bool {
        self.forks >= self.method.min_forks()
    }
}

/// What its interval says, without a forecast where that is nothing yet.
fn stated(comparison: &Comparison, polarity: Polarity, region: Region) -> Verdict {
    let Some(ratio) = comparison.ratio else { return Verdict::NoInterval };
    let narrow = comparison.equivalence.unwrap_or(ratio);
    let undecided = |reason| Verdict::Inconclusive { reason, forks_needed: None };
    let difference = |end: f64, material: bool| match polarity.is_worse(end, 1.0) {
        true => Verdict::Worse { material },
        false => Verdict::Better { material },
    };
    if !comparison.has_enough_forks() {
        undecided(UndecidedReason::TooFewForks)
    } else if narrow.lo > region.lo() && narrow.hi < region.hi() {
        Verdict::NoMaterialDifference
    } else if ratio.lo > 1.0 {
        difference(ratio.lo, ratio.lo >= region.hi())
    } else if ratio.hi < 1.0 {
        difference(ratio.hi, ratio.hi <= region.lo())
    } else {
        undecided(UndecidedReason::IntervalTooWide)
    }
}
