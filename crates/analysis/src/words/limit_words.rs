//! What the limits of a run come to, in words: the answer, and the one thing to do next.

use tare_plan::Currency;
use tare_record::RunRecord;

use crate::compare::wording::cost_in_words;
use crate::format::{Change, count, enumerate, roughly};
use crate::summary::{
    CheckResult, Comparison, CurrencyRatio, Headline, LimitCheck, LimitResult, LimitVerdictKind, NextStep, VerdictKind,
};
use crate::words::headline::difference;
use crate::words::next_step::{longer, read_findings, step, with_flag};

pub(crate) fn answer(check: &LimitCheck, comparisons: &[Comparison], headline: &mut Headline) {
    let found = |verdict| check.with_verdict(verdict);
    let improved = found(LimitVerdictKind::Improved);
    let others = [("Void", LimitVerdictKind::Void), ("Not decided", LimitVerdictKind::Undecided)];
    let others = || others.iter().filter_map(|(title, verdict)| listed(title, &found(*verdict)));
    let sentences: Vec<String> = match check.outcome {
        CheckResult::Regressed => {
            regressed(&found(LimitVerdictKind::Regressed), comparisons).into_iter().chain(others()).collect()
        }
        CheckResult::Void if check.limits.is_empty() => vec!["Void: nothing was compared.".to_owned()],
        CheckResult::Void => vec![unjudged("Void", &found(LimitVerdictKind::Void), check)],
        CheckResult::Undecided => vec![unjudged("Undecided", &found(LimitVerdictKind::Undecided), check)],
        CheckResult::Holds => {
            let limits = match check.limits.as_slice() {
                [one] => format!("the limit {} holds ({})", place(one), one.short),
                all => format!("all {} hold", count(all.len() as u64, "limit")),
            };
            let improved = improved.first().map(|first| format!("Improved: {}.", change(first)));
            std::iter::once(format!("No regression: {limits}.")).chain(improved).collect()
        }
    };
    headline.text = sentences.join(" ");
    headline.verdict = match check.outcome {
        // Nothing that was measured counts.
        _ if headline.verdict == VerdictKind::Void => return,
        CheckResult::Regressed => VerdictKind::Worse,
        CheckResult::Void | CheckResult::Undecided => VerdictKind::Inconclusive,
        CheckResult::Holds if !improved.is_empty() => VerdictKind::Better,
        CheckResult::Holds => VerdictKind::NoMaterialDifference,
    };
}

fn regressed(found: &[&LimitResult], comparisons: &[Comparison]) -> Vec<String> {
    let Some((first, others)) = found.split_first() else { return Vec::new() };
    let lead = format!("Regressed: {}. The limit is {}.{}", change(first), first.limit, cost(first, comparisons));
    std::iter::once(lead).chain(listed("Regressed too", others)).collect()
}

/// One limit with the reason why it is not judged, several by their names.
fn unjudged(title: &str, found: &[&LimitResult], check: &LimitCheck) -> String {
    let part = || format!("{title}: {} of {}", found.len(), count(check.limits.len() as u64, "limit"));
    match found {
        [one] => format!("{title}: {}: {}.", place(one), one.reason.as_deref().unwrap_or("more starts are needed")),
        _ => listed(&part(), found).unwrap_or_default(),
    }
}

fn listed(title: &str, limits: &[&LimitResult]) -> Option<String> {
    let places: Vec<String> = limits.iter().map(|limit| place(limit)).collect();
    (!places.is_empty()).then(|| format!("{title}: {}.", enumerate(&places)))
}

/// ` It costs +2.5 µs [+2.0, +3.0] of CPU a request …` of a limit on CPU, with the interval of the limit.
fn cost(limit: &LimitResult, comparisons: &[Comparison]) -> String {
    let comparison = comparisons.iter().find(|comparison| comparison.id == limit.comparison);
    let of_cpu = comparison.and_then(|one| one.ratio_in(Currency::CpuPerRequest));
    of_cpu.filter(|_| limit.currency == Currency::CpuPerRequest).map_or_else(String::new, |ratio| {
        let ratio = CurrencyRatio { lo: limit.lo, hi: limit.hi, ..ratio.clone() };
        format!(" It costs {}.", cost_in_words(&ratio))
    })
}

/// `service uses 9.7 % more CPU per request than service@baseline on Hello [7.5, 11.9]`.
fn change(limit: &LimitResult) -> String {
    let change = Change { ratio: limit.ratio.unwrap_or(1.0), bounds: limit.lo.zip(limit.hi) };
    let beside = Some((limit.baseline.as_str(), limit.scenario.as_str()));
    format!("{} {}", limit.variant, difference(limit.currency, &limit.label, &change, beside))
}

/// `cpu > +3% of service on Hello`.
fn place(limit: &LimitResult) -> String {
    format!("{} of {} on {}", limit.limit, limit.variant, limit.scenario)
}

/// What to do; `None` where every limit holds.
pub(crate) fn next_step(check: &LimitCheck, record: &RunRecord, duration_s: f64) -> Option<NextStep> {
    let command = &record.header.command;
    match check.outcome {
        CheckResult::Holds => return None,
        CheckResult::Regressed => {
            let again = with_flag(command, "--seed", &record.header.plan.seed.to_string());
            return Some(step(&again, "Repeats the check with the same random order."));
        }
        CheckResult::Void | CheckResult::Undecided => {}
    }
    let open = check.with_verdict(LimitVerdictKind::Undecided);
    let measured: Vec<&&LimitResult> = open.iter().filter(|limit| limit.ratio.is_some()).collect();
    if measured.is_empty() {
        return Some(read_findings(record, "Says in full why limits could not be judged."));
    }
    let needed: Option<Vec<f64>> = measured.iter().map(|limit| limit.needed_s).collect();
    // Fewer starts than an interval needs say nothing of the noise.
    let is_short = measured.iter().all(|limit| limit.lo.is_none());
    let least = if is_short { duration_s } else { 0.0 };
    let more = needed.unwrap_or_default().into_iter().fold(least, f64::max);
    Some(match longer(command, duration_s, more) {
        Some(command) => {
            step(&command, format!("A longer check is likely to decide. It needs about {} more.", roughly(more)))
        }
        None => step(
            &["tare", "doctor"].map(str::to_owned),
            "At this noise, more time alone will not decide soon. Allow more in the limit, check less at once (-s, -m), \
             or use a quieter machine: tare doctor says what disturbs.",
        ),
    })
}
