//! Limits on a ratio (`tare check`): does a change cost more than is allowed? A limit is judged by the interval, never by
//! the estimate.

use crate::compare::Comparison;
use crate::error::StatsError;
use crate::interval::Interval;
use crate::measures::Measured;
use crate::verdict::{Polarity, UndecidedReason};

/// What the interval of a ratio says of a limit, where it says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitVerdict {
    /// The whole interval lies beyond the limit.
    Regressed,
    /// The limit holds, and the whole interval lies on the good side of "no difference".
    Improved,
    /// The limit holds: the interval of error probability 2 α lies within it.
    Held,
}

/// A comparison at the levels by which one of several limits is judged.
struct JudgedAt {
    /// At α. Its interval of 2 α is shown, and says whether the limit holds.
    shown: Comparison,
    /// At the limit's share of α: says whether the limit is exceeded.
    strict: Comparison,
}

/// Judges the limit `limit`, a ratio, as one of `limits` that a run judges. A run passes only if all of its limits
/// hold. So each is judged at α for *held* (an intersection-union test: Berger, Technometrics 24, 1982), and the
/// probability to pass wrongly is α at most. A run fails if any limit is exceeded. So α is divided by the number of
/// limits for *regressed*. That claim has one side, and an interval of 2 α / n is wrong on one side with probability α
/// / n. With fewer forks than an interval needs, or figures that make none, there are too few.
pub fn judge_limit(measured: &Measured<'_>, limit: f64, limits: usize) -> Result<LimitVerdict, UndecidedReason> {
    let judged = JudgedAt::of(measured, limits).map_err(|_| UndecidedReason::TooFewForks)?;
    judged.verdict(limit, measured.polarity)
}

/// How many forks in all would decide the limit if estimate and spread stayed as they are; `None` with one fork, and where as
/// many as the method allows would not do.
pub fn forks_to_judge(measured: &Measured<'_>, limit: f64, limits: usize) -> Option<u32> {
    let judged = JudgedAt::of(measured, limits).ok()?;
    let decides =
        |forks: &u32| judged.forecast(*forks).is_ok_and(|then| then.verdict(limit, measured.polarity).is_ok());
    judged.shown.forks_to_forecast().find(decides)
}

/// The share of α that the interval has by which one of `limits` limits is *regressed*. The share of a single limit is 2: its
/// interval is the one by which it holds.
pub fn regression_share(limits: usize) -> f64 {
    2.0 / limits.max(1) as f64
}

impl JudgedAt {
    fn of(measured: &Measured<'_>, limits: usize) -> Result<Self, StatsError> {
        Ok(Self { shown: measured.at_share(1.0)?, strict: measured.at_share(regression_share(limits))? })
    }

    fn forecast(&self, forks: u32) -> Result<Self, StatsError> {
        Ok(Self { shown: self.shown.forecast(forks)?, strict: self.strict.forecast(forks)? })
    }

    fn verdict(&self, limit: f64, polarity: Polarity) -> Result<LimitVerdict, UndecidedReason> {
        let shown = self.shown.ratio.filter(|_| self.shown.has_enough_forks());
        let (Some(shown), Some(strict)) = (shown, self.strict.ratio) else { return Err(UndecidedReason::TooFewForks) };
        let narrow = self.shown.equivalence.unwrap_or(shown);
        let is_worse =
            |interval: Interval, than| [interval.lo, interval.hi].iter().all(|ratio| polarity.is_worse(*ratio, than));
        let is_better =
            |interval: Interval, than| [interval.lo, interval.hi].iter().all(|ratio| polarity.is_worse(than, *ratio));
        if is_better(narrow, limit) {
            Ok(if is_better(strict, 1.0) { LimitVerdict::Improved } else { LimitVerdict::Held })
        } else if is_worse(strict, limit) {
            Ok(LimitVerdict::Regressed)
        } else if is_worse(narrow, limit) {
            Err(UndecidedReason::TooManyComparisons)
        } else {
            Err(UndecidedReason::IntervalTooWide)
        }
    }
}
