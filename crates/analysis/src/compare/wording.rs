//! The words of one ratio: how it was compared, what it says, why it says no more.

use tare_stats::power::{DEFAULT_POWER, detectable_difference};
use tare_stats::verdict::MAX_FORECAST_FORKS;
use tare_stats::{Comparison, Method, UndecidedReason, Verdict};

use tare_plan::Currency;

use crate::compare::ratio::MeasuredRatio;
use crate::format::{
    Change, Scale, Unit, WORTH_WAITING_S, capital, count, enumerate, fixed, grouped, roughly, share, single,
};
use crate::summary::{Cell, CpuCost, CurrencyRatio, RatioBound, ServerShare, VerdictKind};

pub(crate) fn method(measured_ratio: &MeasuredRatio) -> String {
    let comparison = &measured_ratio.comparison;
    let moderated = match &measured_ratio.prior_source {
        Some(source) if source.is_of_this_run => ", with the spread of this run's comparisons",
        Some(_) => ", with the spread of earlier starts",
        None => "",
    };
    match comparison.method {
        _ if comparison.forks < 2 => "one start, no interval".to_owned(),
        Method::Sequential { alpha, .. } => format!("confidence sequence, α {alpha}"),
        Method::Repeated { alpha, max_forks, .. } => {
            format!("repeated intervals up to {max_forks} starts{moderated}, α {alpha}")
        }
        Method::FixedForks { alpha, .. } => format!("Student t{moderated}, α {alpha}, {} starts", comparison.forks),
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

/// Time that a variant adds to that of the baseline: the value, and its interval.
struct AddedTime {
    ns: f64,
    lo: Option<f64>,
    hi: Option<f64>,
}

impl AddedTime {
    fn of(ratio: &CurrencyRatio) -> Self {
        let added = |of: f64| (of - 1.0) * ratio.baseline_value;
        Self { ns: added(ratio.ratio), lo: ratio.lo.map(added), hi: ratio.hi.map(added) }
    }

    /// `+2.5 µs [+2.0, +3.0]`.
    fn text(&self) -> String {
        let Self { ns, lo, hi } = *self;
        let scale = Scale::for_values(Unit::Nanos, [ns, lo.unwrap_or(0.0), hi.unwrap_or(0.0)].map(f64::abs));
        let shown = |ns: f64| {
            let text = scale.show(ns.abs()).replace(scale.unit(), "").trim_end().to_owned();
            format!("{}{text}", if ns < 0.0 { "−" } else { "+" })
        };
        let interval = lo.zip(hi).map_or_else(String::new, |(lo, hi)| format!(" [{}, {}]", shown(lo), shown(hi)));
        format!("{} {}{interval}", shown(ns), scale.unit())
    }
}

/// `+2.5 µs [+2.0, +3.0] of CPU a request = 0.25 % of a core at 1,000 requests/s`, of a ratio of CPU per request.
pub(crate) fn cost_in_words(of_cpu: &CurrencyRatio) -> String {
    let added = AddedTime::of(of_cpu);
    let core = format!("{}{}", if added.ns < 0.0 { "−" } else { "" }, share(added.ns.abs() * 1_000.0 / 1e9));
    format!("{} of CPU a request = {core} of a core at 1,000 requests/s", added.text())
}

/// What a variant costs in CPU time, from its ratio of CPU per request and the level of the baseline; of a proxy also what it
/// adds to the median, and the shares of it and of what is behind it. The only place that makes these figures. `None` where
/// CPU per request is not compared.
pub(crate) fn cpu_cost(ratios: &[CurrencyRatio], variant: &Cell) -> Option<CpuCost> {
    let ratio = |currency: Currency| ratios.iter().find(|ratio| ratio.name == currency);
    let of_cpu = ratio(Currency::CpuPerRequest)?;
    let (added, mut text) = (AddedTime::of(of_cpu), cost_in_words(of_cpu));
    if !variant.cpu_by_server.is_empty() {
        let median = ratio(Currency::LatencyP50).filter(|ratio| ratio.is_known());
        text += &median.map_or_else(String::new, |p50| format!(", and {} to {}", AddedTime::of(p50).text(), p50.label));
        let of_server = |of: &ServerShare| format!("{} {}", of.server, single(Unit::Nanos, of.ns_per_request));
        let shares: Vec<String> = variant.cpu_by_server.iter().map(of_server).collect();
        text += &format!("; CPU a request: {}", enumerate(&shares));
    }
    Some(CpuCost { ns_per_request: added.ns, lo: added.lo, hi: added.hi, text })
}

pub(crate) fn reason(verdict: Verdict, comparison: &Comparison) -> Option<String> {
    match verdict {
        Verdict::NoInterval => Some("one start cannot tell how much starts differ".to_owned()),
        Verdict::Inconclusive { reason, forks_needed } => {
            let outlook = match reason {
                // Forks that are too few for an interval are too few for an outlook.
                UndecidedReason::WaitsForEarlier | UndecidedReason::TooFewForks => String::new(),
                _ => outlook(forks_needed, comparison),
            };
            Some(undecided(reason, comparison) + &outlook)
        }
        _ => None,
    }
}

pub(crate) fn undecided(reason: UndecidedReason, comparison: &Comparison) -> String {
    match reason {
        UndecidedReason::TooFewForks => {
            format!("{} of at least {} starts", comparison.forks, comparison.method.min_forks())
        }
        UndecidedReason::IntervalTooWide => {
            format!("the interval reaches from no difference to a material one{}", visible(comparison))
        }
        UndecidedReason::TooManyComparisons => {
            "alone it would be decided, but the evidence is not enough among so many comparisons".to_owned()
        }
        UndecidedReason::TooManyMeasures => {
            "alone it would be decided, but the evidence is not enough among several measures".to_owned()
        }
        UndecidedReason::WaitsForEarlier => "an earlier question of the plan is still open".to_owned(),
    }
}

/// `; with 4 starts, differences below 9 % cannot be seen`: the smallest difference that they usually show; empty where that is
/// not known.
pub(crate) fn visible(comparison: &Comparison) -> String {
    let smallest = |sd| detectable_difference(sd, comparison.method, comparison.forks, DEFAULT_POWER).ok();
    let Some(log) = comparison.s_used.and_then(smallest) else { return String::new() };
    let starts = count(comparison.forks.into(), "start");
    let least = match log.exp() {
        factor if factor > 10.0 => return format!("; nothing can be seen with {starts} that differ so much"),
        factor if factor >= 2.0 => format!("a factor of {}", factor.ceil()),
        factor => share(to_digits(factor - 1.0, f64::ceil)),
    };
    format!("; with {starts}, differences below {least} cannot be seen")
}

fn outlook(forks_needed: Option<u32>, comparison: &Comparison) -> String {
    match (forks_needed, comparison.method) {
        (None, Method::Repeated { max_forks, may_continue: false, .. }) => {
            format!("; the {max_forks} starts of the plan will not decide it: plan more (--max-forks)")
        }
        (None, _) => format!("; even {} starts would not decide it", grouped(MAX_FORECAST_FORKS.into())),
        (Some(needed), _) if needed <= comparison.forks => "; it is as precise as was asked for".to_owned(),
        (Some(_), _) => String::new(),
    }
}

/// What is known of an undecided comparison, and the one step that would decide it soonest, in sentences. Where other programs
/// disturb it, a longer run would end in a verdict that is as suspect as its figures.
pub(crate) fn undecided_so_far(ratio: &CurrencyRatio, is_disturbed: bool) -> String {
    let next = match (ratio.needed_s, &ratio.reason) {
        _ if is_disturbed => "other programs disturbed it, so stop them first".to_owned(),
        (Some(seconds), _) if seconds <= WORTH_WAITING_S => format!("about {} more would decide it", roughly(seconds)),
        (Some(_), _) => {
            "at this noise, more time will not decide it soon: compare fewer servers or scenarios (-s, -m)".to_owned()
        }
        (None, Some(reason)) => reason.clone(),
        (None, None) => "more starts would decide it".to_owned(),
    };
    let sentences = known(ratio).into_iter().chain([next]);
    sentences.map(|text| format!("{}.", capital(&text))).collect::<Vec<_>>().join(" ")
}

/// `between 2 % and 14 % slower: the direction is certain, the size is not`, or `at most 12 % in either direction`.
fn known(ratio: &CurrencyRatio) -> Option<String> {
    let (lo, hi) = ratio.lo.zip(ratio.hi)?;
    let (near, far) = ((1.0 - lo).abs().min((hi - 1.0).abs()), (1.0 - lo).abs().max((hi - 1.0).abs()));
    if lo <= 1.0 && 1.0 <= hi {
        // As the interval shows its ends.
        let decimals = Change { ratio: ratio.ratio, bounds: Some((lo, hi)) }.decimals();
        return Some(format!("at most {} % in either direction", fixed(far * 100.0, decimals)));
    }
    let word = ratio.name.facts().words[usize::from((lo > 1.0) == ratio.higher_is_better)];
    let [near, far] = [near, far].map(|end| share(to_digits(end, f64::round)));
    Some(format!("between {near} and {far} {word}: the direction is certain, the size is not"))
}

/// To a tenth of a percent, above 10 % to one.
fn to_digits(share: f64, rounding: fn(f64) -> f64) -> f64 {
    let step = if share < 0.1 { 1_000.0 } else { 100.0 };
    rounding(share * step) / step
}

#[cfg(test)]
mod tests {
    use tare_plan::plan::SliceKind;
    use tare_stats::ForkRatio;

    use super::*;

    fn undecided(lo: f64, hi: f64, needed_s: Option<f64>) -> String {
        undecided_so_far(&ratio(lo, hi, needed_s), false)
    }

    fn ratio(lo: f64, hi: f64, needed_s: Option<f64>) -> CurrencyRatio {
        CurrencyRatio {
            name: Currency::Throughput,
            load: SliceKind::Saturating,
            label: "throughput".to_owned(),
            unit: "per_s".to_owned(),
            higher_is_better: true,
            baseline_value: 1.0,
            variant_value: 1.0,
            ratio: (lo * hi).sqrt(),
            bound: None,
            lo: Some(lo),
            hi: Some(hi),
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
        assert!(seen(1.01).ends_with(" % cannot be seen"), "{}", seen(1.01));
        assert!(seen(1.5).contains(" below a factor of ") && !seen(1.5).contains('%'), "{}", seen(1.5));
        assert!(seen(9.0).ends_with("; nothing can be seen with 3 starts that differ so much"), "{}", seen(9.0));
        // An interval within the region is no difference by itself.
        assert!(said(UndecidedReason::TooManyMeasures, 1.0).starts_with("alone it would be decided"));
    }

    #[test]
    fn what_is_known_of_an_undecided_comparison_is_said_before_the_one_next_step() {
        assert_eq!(
            undecided(0.88, 1.07, Some(240.0)),
            "At most 12 % in either direction. About 4 min more would decide it."
        );
        assert_eq!(
            undecided(0.86, 0.98, None),
            "Between 2 % and 14 % slower: the direction is certain, the size is not. \
             An earlier question of the plan is still open."
        );
        assert!(undecided(1.02, 1.14, None).starts_with("Between 2 % and 14 % faster"));
        assert!(undecided(0.8, 1.2, Some(16_000.0)).ends_with("compare fewer servers or scenarios (-s, -m)."));
        let disturbed = undecided_so_far(&ratio(0.88, 1.07, None), true);
        assert_eq!(disturbed, "At most 12 % in either direction. Other programs disturbed it, so stop them first.");
    }
}
