//! The limits of a run (`tare check`) held against its comparisons, and what they come to.

use tare_plan::plan::Plan;
use tare_plan::ratio_limit::RatioLimit;
use tare_stats::measures::Measured;
use tare_stats::measures::limit::{LimitVerdict, forks_to_judge, judge_limit};
use tare_stats::{Polarity, UndecidedReason};

use crate::compare::ratio::MeasuredRatio;
use crate::compare::{Pair, Pairs, wording};
use crate::forecast::forecast;
use crate::format::{Change, count, share};
use crate::summary::{Cell, CheckResult, Comparison, LimitCheck, LimitResult, LimitVerdictKind};
use tare_plan::Currency;

/// After the reason why a limit on a percentile at a cliff is undecided.
const ASK_INSTEAD: &str = "; it stands where the requests that met a stop begin, so chance moves it from start to start: limit \
                           p99(no stops) and stopped instead";

/// A limit and a comparison, with what it takes to judge one against the other.
struct Question<'a> {
    limit: &'a RatioLimit,
    pair: &'a Pair<'a>,
    control: Option<&'a Pair<'a>>,
    /// How many limits the run judges, each of its comparisons counted.
    of: usize,
    /// Mean time of a fork of the group, in seconds; `None` where more forks are no remedy.
    fork_s: Option<f64>,
}

/// Every limit of the plan against every comparison, in the order of the limits.
pub(crate) fn judge_limits(plan: &Plan, pairs: &Pairs<'_>) -> Vec<LimitResult> {
    let (limits, compared) = (&plan.stop.limits, &pairs.compared);
    let judge = |limit: &RatioLimit, pair: &Pair<'_>| {
        let control = pairs.controls.iter().find(|control| control.is_beside(pair));
        Question { limit, pair, control, of: limits.len() * compared.len(), fork_s: pairs.fork_s(pair) }.judge()
    };
    limits.iter().flat_map(|limit| compared.iter().map(move |pair| judge(limit, pair))).collect()
}

impl Question<'_> {
    fn judge(&self) -> LimitResult {
        let Some(measured_ratio) = self.measured_ratio(self.pair) else { return self.unmeasured() };
        if let Some((_, reason)) = &measured_ratio.bound {
            return LimitResult { reason: Some(reason.clone()), ..self.unmeasured() };
        }
        // By this interval a limit holds. That of α is wider: a limit that holds could seem to be crossed by it.
        let interval = measured_ratio.comparison.equivalence.or(measured_ratio.comparison.ratio);
        let bounds = interval.and_then(|interval| interval.bounds());
        let needed_s = || {
            // Fewer forks than an interval needs allow no forecast: then it is as many as that.
            let (forks, least) = (measured_ratio.comparison.forks, measured_ratio.comparison.method.min_forks());
            let forecast = forks_to_judge(&measured_ratio.measured(), self.limit.ratio, self.of);
            let needed = forecast.or((forks < least).then_some(least))?;
            let more = needed.checked_sub(measured_ratio.comparison.forks).filter(|more| *more > 0)?;
            Some(f64::from(more) * self.fork_s?)
        };
        let judged = LimitResult {
            label: measured_ratio.label.clone(),
            ratio: Some(measured_ratio.comparison.estimate),
            lo: bounds.map(|bounds| bounds.0),
            hi: bounds.map(|bounds| bounds.1),
            short: Change { ratio: measured_ratio.comparison.estimate, bounds }.signed_interval(),
            ..self.unmeasured()
        };
        if self.is_control_beyond() {
            let reason =
                "the baseline differs from a second start of itself by more than the limit: see the noise floor";
            return LimitResult { reason: Some(reason.to_owned()), ..judged };
        }
        let (verdict, reason) = match judge_limit(&measured_ratio.measured(), self.limit.ratio, self.of) {
            Err(reason) => {
                let reason = Some(self.why_undecided(reason, measured_ratio) + self.advice_at_cliff());
                return LimitResult { reason, needed_s: needed_s(), ..judged };
            }
            Ok(LimitVerdict::Regressed) => (LimitVerdictKind::Regressed, None),
            Ok(held) => match self.new_mode(measured_ratio) {
                None if held == LimitVerdict::Improved => (LimitVerdictKind::Improved, None),
                None => (LimitVerdictKind::NoMaterialChange, None),
                reason => (LimitVerdictKind::Undecided, reason),
            },
        };
        LimitResult { verdict, reason, ..judged }
    }

    /// What speaks against a limit that holds for the usual starts: beyond it, more starts of the checked build settled
    /// in another mode than of the baseline. The interval leaves them out.
    fn new_mode(&self, measured_ratio: &MeasuredRatio) -> Option<String> {
        let polarity = measured_ratio.currency.facts().polarity;
        let ratios = |pair: &Pair<'_>| -> Vec<f64> {
            let same = pair.odd_ratios.iter().find(|other| other.currency == measured_ratio.currency);
            same.map(MeasuredRatio::fork_ratios).unwrap_or_default()
        };
        let is_beyond = |ratio: &f64| polarity.is_worse(*ratio, self.limit.ratio);
        let odd_ratios = ratios(self.pair);
        let of_baseline = odd_ratios.iter().filter(|ratio| is_beyond(&ratio.recip())).count();
        let of_control = self.control.map(ratios).unwrap_or_default().iter().filter(|ratio| is_beyond(ratio)).count();
        let beyond: Vec<f64> = odd_ratios.into_iter().filter(is_beyond).collect();
        let usual = of_baseline + of_control;
        if beyond.len() <= usual {
            return None;
        }
        let starts = count(u64::from(measured_ratio.comparison.forks) + self.pair.odd_forks.len() as u64, "start");
        let signed = |ratio: f64| Change { ratio, bounds: None }.short();
        let (least, most) = (beyond.iter().copied().reduce(f64::min)?, beyond.iter().copied().reduce(f64::max)?);
        let size = if beyond.len() == 1 { signed(least) } else { format!("{} to {}", signed(least), signed(most)) };
        let others = if usual == 0 { "none".to_owned() } else { usual.to_string() };
        Some(format!(
            "{} of {starts} settled beyond the limit, at {size}; of the baseline's starts, {others} did",
            beyond.len()
        ))
    }

    /// What a limit comes to where its currency was not measured, or where a build does not answer as it must.
    fn unmeasured(&self) -> LimitResult {
        let cell = &self.pair.variant.cell;
        let currency = self.limit.currency;
        let verdict = if self.pair.void.is_some() { LimitVerdictKind::Void } else { LimitVerdictKind::Undecided };
        let reason = self.pair.void.clone().unwrap_or_else(|| match currency {
            Currency::AllocatedPerRequest => "bytes were not measured for these requests".to_owned(),
            Currency::Capacity => "no capacity was searched: give --slo".to_owned(),
            Currency::LatencyP99NoStops | Currency::LatencyMetStop => {
                "it is not known when these servers stopped, or too few requests tell: see docs/METRICS.md".to_owned()
            }
            Currency::StoppedPerRequest => "a server does not count its stops, or had none in a start".to_owned(),
            Currency::LatencySlower => "fewer than ten requests a start were slower".to_owned(),
            _ => "it was not measured".to_owned(),
        });
        LimitResult {
            comparison: cell.id.clone(),
            scenario: cell.scenario.clone(),
            variant: cell.variant.clone(),
            baseline: self.pair.baseline.cell.variant.clone(),
            currency,
            label: currency.facts().label.to_owned(),
            limit: self.limit.text.clone(),
            limit_ratio: self.limit.ratio,
            ratio: None,
            lo: None,
            hi: None,
            short: "not measured".to_owned(),
            verdict,
            reason: Some(reason),
            needed_s: None,
        }
    }

    fn measured_ratio<'a>(&self, pair: &'a Pair<'_>) -> Option<&'a MeasuredRatio> {
        pair.judged_ratios().iter().find(|measured_ratio| measured_ratio.currency == self.limit.currency)
    }

    /// Whether the baseline differs from itself by more than the limit, in either direction: which of the two starts is
    /// the control is arbitrary. What makes two starts of one program differ can hide a cost as well as feign one.
    fn is_control_beyond(&self) -> bool {
        let Some(measured_ratio) = self.control.and_then(|control| self.measured_ratio(control)) else { return false };
        let limit = self.limit.ratio;
        let size = limit.max(limit.recip());
        // Each direction is a claim of its own.
        let claims = self.of.max(2);
        let is_beyond = |(polarity, limit): (Polarity, f64)| {
            let measured = Measured { polarity, ..measured_ratio.measured() };
            judge_limit(&measured, limit, claims) == Ok(LimitVerdict::Regressed)
        };
        [(Polarity::LowerIsBetter, size), (Polarity::HigherIsBetter, size.recip())].into_iter().any(is_beyond)
    }

    /// What to ask instead of a percentile that stands at the edge of the requests that met a stop.
    fn advice_at_cliff(&self) -> &'static str {
        let Some(percentile) = self.limit.currency.percentile() else { return "" };
        let sides = [self.pair.variant, self.pair.baseline].map(|side| &side.cell);
        let is_at_cliff = |cell: &Cell| Some(cell.shown_latency()?.division.as_ref()?.is_at_cliff(percentile));
        if sides.into_iter().any(|cell| is_at_cliff(cell).unwrap_or(false)) { ASK_INSTEAD } else { "" }
    }

    fn why_undecided(&self, reason: UndecidedReason, measured_ratio: &MeasuredRatio) -> String {
        match reason {
            UndecidedReason::IntervalTooWide => {
                format!("the interval reaches across the limit{}", wording::visible(&measured_ratio.comparison))
            }
            UndecidedReason::TooManyComparisons => {
                "beyond the limit, but not enough evidence to call it regressed".to_owned()
            }
            other => wording::undecided(other, &measured_ratio.comparison),
        }
    }
}

/// `None` for a run without limits. Each scenario has the name that tells it from that of another group.
pub(crate) fn limit_check(plan: &Plan, mut limits: Vec<LimitResult>, comparisons: &[Comparison]) -> Option<LimitCheck> {
    if plan.stop.limits.is_empty() {
        return None;
    }
    for limit in &mut limits {
        if let Some(comparison) = comparisons.iter().find(|one| one.id == limit.comparison) {
            limit.scenario = comparison.scenario_among(comparisons);
        }
    }
    let any = |verdict| limits.iter().any(|limit| limit.verdict == verdict);
    let outcome = if any(LimitVerdictKind::Regressed) {
        CheckResult::Regressed
    } else if limits.is_empty() || any(LimitVerdictKind::Void) {
        CheckResult::Void
    } else if any(LimitVerdictKind::Undecided) {
        CheckResult::Undecided
    } else {
        CheckResult::Holds
    };
    let legend = limits.iter().any(|limit| limit.lo.is_some()).then(|| legend(plan.stop.alpha));
    Some(LimitCheck { outcome, limits, legend, power: forecast(plan) })
}

fn legend(alpha: f64) -> String {
    let (sure, each_end) = (share(1.0 - 2.0 * alpha), share(alpha));
    format!(
        "[from, to]: the {sure} confidence interval; the change is beyond either end with probability {each_end} at most"
    )
}

/// Whether the run need not go on for these limits of one comparison. More forks do not bring a currency that was not measured.
pub(crate) fn are_settled(limits: &[&LimitResult]) -> bool {
    limits.iter().all(|limit| limit.verdict != LimitVerdictKind::Undecided || limit.ratio.is_none())
}
