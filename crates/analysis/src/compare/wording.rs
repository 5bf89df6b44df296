//! The words of one ratio: how it was compared, what it says, why it says no more.

use tare_plan::Currency;
use tare_stats::power::{DEFAULT_POWER, detectable_difference};
use tare_stats::verdict::MAX_FORECAST_FORKS;
use tare_stats::{Comparison, Method, MethodKind, UndecidedReason, Verdict};

use crate::compare::prior;
use crate::compare::ratio::MeasuredRatio;
use crate::format::{
    Change, Scale, Unit, WORTH_WAITING_S, capital, count, enumerate, grouped, roughly, rounded_up, share, signed,
    single,
};
use crate::summary::{Cell, CpuCost, CurrencyRatio, Estimate, RatioBound, ServerShare, VerdictKind};

pub(crate) fn method(measured_ratio: &MeasuredRatio) -> String {
    let comparison = &measured_ratio.comparison;
    let source = measured_ratio.prior_source.as_ref().filter(|_| prior::is_used(comparison));
    let whose = source.map(|source| if source.is_of_this_run { "this run's comparisons" } else { "earlier starts" });
    let moderated = whose.map_or_else(String::new, |whose| format!(", with the spread of {whose}"));
    let Method { alpha, kind, .. } = comparison.method;
    match kind {
        _ if comparison.forks < 2 => "one start, no interval".to_owned(),
        MethodKind::Sequential { .. } => format!("confidence sequence, α {alpha}"),
        MethodKind::Repeated { max_forks, .. } => {
            format!("repeated intervals up to {max_forks} starts{moderated}, α {alpha}")
        }
        MethodKind::FixedForks => format!("Student t{moderated}, α {alpha}, {} starts", comparison.forks),
    }
}

/// `slower 8.1 % [7.2, 9.0]`.
pub(crate) fn short(currency: Currency, kind: VerdictKind, change: &Change) -> String {
    match kind {
        VerdictKind::Worse => format!("{} {}", currency.facts().words[0], change.magnitude()),
        VerdictKind::Better => format!("{} {}", currency.facts().words[1], change.magnitude()),
        VerdictKind::NoMaterialDifference => format!("no difference {}", change.signed_interval()),
        VerdictKind::Inconclusive => format!("inconclusive {}", change.signed_interval()),
        VerdictKind::NoInterval => change.short(),
        VerdictKind::Void => "void".to_owned(),
    }
}

/// `at least +25.0 %`, of a capacity beyond the loads that were tried.
pub(crate) fn bound_in_words(bound: RatioBound, change: &Change) -> String {
    match bound {
        RatioBound::AtLeast => format!("at least {}", change.short()),
        RatioBound::AtMost => format!("at most {}", change.short()),
        RatioBound::Unknown => "beyond what was tried".to_owned(),
    }
}

/// Time that a variant adds to that of the baseline, in nanoseconds.
fn added_time(ratio: &CurrencyRatio) -> Estimate {
    let added = |of: f64| (of - 1.0) * ratio.baseline_value;
    Estimate { value: added(ratio.ratio), lo: ratio.lo.map(added), hi: ratio.hi.map(added) }
}

fn in_words(time: Estimate) -> String {
    let all = [Some(time.value), time.lo, time.hi];
    signed(time, Scale::for_values(Unit::Nanos, all.into_iter().flatten().map(f64::abs)))
}

/// `+2.5 µs [+2.0, +3.0] of CPU a request = 0.25 % of a core at 1,000 requests/s`, of a ratio of CPU per request.
pub(crate) fn cost_in_words(of_cpu: &CurrencyRatio) -> String {
    let added = added_time(of_cpu);
    let core = format!("{}{}", if added.value < 0.0 { "−" } else { "" }, share(added.value.abs() * 1_000.0 / 1e9));
    format!("{} of CPU a request = {core} of a core at 1,000 requests/s", in_words(added))
}

/// What a variant costs in CPU time; of a proxy also what it adds to the median, and the shares of what is behind it.
/// The only place that makes these figures.
pub(crate) fn cpu_cost(ratios: &[CurrencyRatio], variant: &Cell) -> Option<CpuCost> {
    let ratio = |currency: Currency| ratios.iter().find(|ratio| ratio.name == currency);
    let of_cpu = ratio(Currency::CpuPerRequest)?;
    let (added, mut text) = (added_time(of_cpu), cost_in_words(of_cpu));
    if !variant.cpu_by_server.is_empty() {
        let median = ratio(Currency::LatencyP50).filter(|ratio| ratio.is_known());
        text += &median.map_or_else(String::new, |p50| format!(", and {} to {}", in_words(added_time(p50)), p50.label));
        let of_server = |of: &ServerShare| format!("{} {}", of.server, single(Unit::Nanos, of.ns_per_request));
        let shares: Vec<String> = variant.cpu_by_server.iter().map(of_server).collect();
        text += &format!("; CPU a request: {}", enumerate(&shares));
    }
    Some(CpuCost { ns_per_request: added.value, lo: added.lo, hi: added.hi, text })
}

/// Why there is no verdict, where there is none.
pub(crate) fn reason(verdict: Verdict, comparison: &Comparison) -> Option<String> {
    match verdict {
        Verdict::NoInterval => Some("one start cannot tell how much starts differ".to_owned()),
        Verdict::Inconclusive { reason, forks_needed } => {
            Some(undecided(reason, comparison) + &outlook(reason, forks_needed, comparison))
        }
        _ => None,
    }
}

pub(crate) fn undecided(reason: UndecidedReason, comparison: &Comparison) -> String {
    let (forks, least) = (comparison.forks, comparison.method.min_forks());
    let alone = |others: &str| format!("alone it would be decided, but the evidence is not enough among {others}");
    match reason {
        UndecidedReason::TooFewForks => format!("{forks} of at least {least} starts"),
        UndecidedReason::IntervalTooWide => {
            format!("the interval reaches from no difference to a material one{}", visible(comparison))
        }
        UndecidedReason::TooManyComparisons => alone("so many comparisons"),
        UndecidedReason::TooManyMeasures => alone("several measures"),
        UndecidedReason::WaitsForEarlier => "an earlier question of the plan is still open".to_owned(),
    }
}

/// `; with 4 starts, differences below 9 % are often missed`: the smallest that they show in four of five runs.
pub(crate) fn visible(comparison: &Comparison) -> String {
    let smallest = |sd| detectable_difference(sd, comparison.method, comparison.forks, DEFAULT_POWER).ok();
    let Some(log) = comparison.s_used.and_then(smallest) else { return String::new() };
    let starts = count(comparison.forks.into(), "start");
    let least = match log.exp() {
        factor if factor > 10.0 => return format!("; nothing can be seen with {starts} that differ so much"),
        factor if factor >= 2.0 => format!("a factor of {}", factor.ceil()),
        factor => share(rounded_up(factor - 1.0)),
    };
    format!("; with {starts}, differences below {least} are often missed")
}

/// So few starts hardly tell how much starts differ, so they do not say that more would not help.
const FEW_FOR_FORECAST: u32 = 4;

/// What more starts would show. Those that are too few for an interval are too few for an outlook.
fn outlook(reason: UndecidedReason, forks_needed: Option<u32>, comparison: &Comparison) -> String {
    match (forks_needed, comparison.method.kind) {
        _ if matches!(reason, UndecidedReason::WaitsForEarlier | UndecidedReason::TooFewForks) => String::new(),
        (None, MethodKind::Repeated { max_forks, may_continue: false, .. }) => {
            format!("; the {max_forks} starts of the plan will not decide it: plan more (--max-forks)")
        }
        (None, _) => format!("; even {} starts would not decide it", grouped(MAX_FORECAST_FORKS.into())),
        (Some(needed), _) if needed <= comparison.forks => "; it is as precise as was asked for".to_owned(),
        (Some(_), _) => String::new(),
    }
}

/// The step that would decide a comparison soonest, in a run of so many. While others disturb it, a longer run ends in a
/// suspect verdict.
pub(crate) fn what_would_decide(ratio: &CurrencyRatio, is_disturbed: bool, comparisons: usize) -> String {
    let next = match (ratio.needed_s, &ratio.reason) {
        _ if is_disturbed => "other programs disturbed the run, so stop them first".to_owned(),
        (Some(seconds), _) if seconds <= WORTH_WAITING_S => format!("about {} more would decide it", roughly(seconds)),
        (Some(_), _) if ratio.forks < FEW_FOR_FORECAST && ratio.prior.is_none() => {
            format!("{} are too few to say how much more would decide it", count(ratio.forks.into(), "start"))
        }
        (Some(_), _) => {
            let remedy = match comparisons {
                1 => "use a quieter machine or a wider region (--region)",
                _ => "compare fewer servers or scenarios (-s, -m)",
            };
            format!("at this noise, more time will not decide it soon: {remedy}")
        }
        (None, reason) => reason.as_deref().unwrap_or("more starts would decide it").to_owned(),
    };
    format!("{}.", capital(&next))
}

#[cfg(test)]
mod tests {
    use tare_plan::plan::SliceKind;
    use tare_stats::ForkRatio;

    use super::*;

    fn ratio(needed_s: Option<f64>) -> CurrencyRatio {
        CurrencyRatio {
            name: Currency::Throughput,
            load: SliceKind::Saturating,
            label: "throughput".to_owned(),
            unit: "per_s".to_owned(),
            higher_is_better: true,
            baseline_value: 1.0,
            variant_value: 1.0,
            ratio: 1.0,
            bound: None,
            lo: None,
            hi: None,
            method: String::new(),
            forks: 4,
            sd_forks: None,
            fork_ratios: Vec::new(),
            fork_numbers: Vec::new(),
            verdict: VerdictKind::Inconclusive,
            material: false,
            short: String::new(),
            reason: Some("an earlier question of the plan is still open".to_owned()),
            needed_s,
            prior: None,
        }
    }

    #[test]
    fn an_open_question_says_what_its_starts_can_see() {
        let compared = |apart: f64| {
            let fork = |ratio: f64| ForkRatio::from_pairs(&[(ratio, 1.0)]).unwrap();
            let forks = [1.0 / apart, 1.0, apart].map(fork);
            Comparison::over_forks(&forks, Method::FIXED_FORKS, 0.001).unwrap()
        };
        let said = |reason, apart| super::undecided(reason, &compared(apart));
        let seen = |apart| said(UndecidedReason::IntervalTooWide, apart);
        assert!(seen(1.01).contains("; with 3 starts, differences below "), "{}", seen(1.01));
        assert!(seen(1.01).ends_with(" % are often missed"), "{}", seen(1.01));
        assert!(seen(1.5).contains(" below a factor of ") && !seen(1.5).contains('%'), "{}", seen(1.5));
        assert!(seen(9.0).ends_with("; nothing can be seen with 3 starts that differ so much"), "{}", seen(9.0));
        // An interval within the region is no difference by itself.
        assert!(said(UndecidedReason::TooManyMeasures, 1.0).starts_with("alone it would be decided"));
    }

    #[test]
    fn an_open_comparison_has_one_next_step() {
        let said = |needed_s| what_would_decide(&ratio(needed_s), false, 2);
        assert_eq!(said(Some(240.0)), "About 4 min more would decide it.");
        assert_eq!(said(None), "An earlier question of the plan is still open.");
        assert!(said(Some(16_000.0)).ends_with("compare fewer servers or scenarios (-s, -m)."));
        let few = CurrencyRatio { forks: 3, ..ratio(Some(16_000.0)) };
        let says = "3 starts are too few to say how much more would decide it.";
        assert_eq!(what_would_decide(&few, false, 2), says);
        assert!(what_would_decide(&ratio(Some(16_000.0)), false, 1).contains(": use a quieter machine or "));
        assert_eq!(what_would_decide(&ratio(None), true, 2), "Other programs disturbed the run, so stop them first.");
    }
}
