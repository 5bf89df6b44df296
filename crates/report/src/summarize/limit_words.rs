//! What the limits of a run come to, in words: the answer, and the one thing to do next.

use tare_record::RunRecord;

use super::next_step::{SLACK, with_flag};
use super::run_info::shell;
use crate::format::{Change, WORTH_WAITING_S, count, roughly};
use crate::summary::{CheckResult, Headline, LimitCheck, LimitResult, LimitVerdictKind, NextStep, VerdictKind};

/// Makes the answer of the limits the headline of the run.
pub(super) fn answer(check: &LimitCheck, headline: &mut Headline) {
    let improved = check.with_verdict(LimitVerdictKind::Improved);
    headline.text = match check.outcome {
        CheckResult::Regressed => regressed(check),
        CheckResult::Void => void(check),
        CheckResult::Undecided => undecided(check),
        CheckResult::Holds => holds(check, &improved),
    };
    headline.verdict = match check.outcome {
        // Nothing that was measured counts.
        _ if headline.verdict == VerdictKind::Void => return,
        CheckResult::Regressed => VerdictKind::Worse,
        CheckResult::Void | CheckResult::Undecided => VerdictKind::Inconclusive,
        CheckResult::Holds if !improved.is_empty() => VerdictKind::Better,
        CheckResult::Holds => VerdictKind::NoMaterialDifference,
    };
}

fn regressed(check: &LimitCheck) -> String {
    let found = check.with_verdict(LimitVerdictKind::Regressed);
    let Some((first, others)) = found.split_first() else { return String::new() };
    let mut text = format!("Regressed: {}; the limit is {}.", change(first), first.limit);
    if !others.is_empty() {
        text += &format!(" Regressed too: {}.", places(others));
    }
    for (title, verdict) in [("Void", LimitVerdictKind::Void), ("Not decided", LimitVerdictKind::Undecided)] {
        let open = check.with_verdict(verdict);
        if !open.is_empty() {
            text += &format!(" {title}: {}.", places(&open));
        }
    }
    text
}

fn void(check: &LimitCheck) -> String {
    match check.with_verdict(LimitVerdictKind::Void).as_slice() {
        [] => "Void: nothing was compared.".to_owned(),
        [one] => format!("Void: {}: {}.", place(one), one.reason.as_deref().unwrap_or("a build does not answer")),
        all => format!("Void: {} of {}: {}.", all.len(), count(check.limits.len() as u64, "limit"), places(all)),
    }
}

fn undecided(check: &LimitCheck) -> String {
    let open = check.with_verdict(LimitVerdictKind::Undecided);
    match open.as_slice() {
        [one] => format!("Undecided: {}: {}.", place(one), one.reason.as_deref().unwrap_or("more starts are needed")),
        _ => format!("Undecided: {} of {}: {}.", open.len(), count(check.limits.len() as u64, "limit"), places(&open)),
    }
}

fn holds(check: &LimitCheck, improved: &[&LimitResult]) -> String {
    let limits = match check.limits.as_slice() {
        [one] => format!("No regression: the limit {} holds ({}).", place(one), one.short),
        all => format!("No regression: all {} hold.", count(all.len() as u64, "limit")),
    };
    match improved.first() {
        Some(first) => format!("{limits} Improved: {}.", change(first)),
        None => limits,
    }
}

/// `service uses 9.7 % [7.5, 11.9] more CPU per request than service@baseline on Hello`.
fn change(limit: &LimitResult) -> String {
    let facts = limit.currency.facts();
    let change = Change { ratio: limit.ratio.unwrap_or(1.0), bounds: limit.lo.zip(limit.hi) };
    let object = facts.objects[usize::from(change.ratio > 1.0)].replace("{}", &limit.label);
    let LimitResult { variant, baseline, scenario, .. } = limit;
    format!("{variant} {} {} {object} than {baseline} on {scenario}", facts.verbs[0], change.magnitude())
}

/// `cpu > +3% of service on Hello`.
fn place(limit: &LimitResult) -> String {
    format!("{} of {} on {}", limit.limit, limit.variant, limit.scenario)
}

fn places(limits: &[&LimitResult]) -> String {
    limits.iter().map(|limit| place(limit)).collect::<Vec<_>>().join(", ")
}

/// What to do; `None` where every limit holds.
pub(super) fn next_step(check: &LimitCheck, record: &RunRecord, duration_s: f64) -> Option<NextStep> {
    let command = &record.header.command;
    let step = |command: &[String], text: String| Some(NextStep { command: shell(command), text });
    if check.outcome == CheckResult::Holds {
        return None;
    }
    if check.outcome == CheckResult::Regressed {
        let again = with_flag(command, "--seed", &record.header.plan.seed.to_string());
        return step(&again, "Repeats the check with the same random order, for example after a fix.".to_owned());
    }
    let open = check.with_verdict(LimitVerdictKind::Undecided);
    let measured = || open.iter().filter(|limit| limit.ratio.is_some());
    if measured().next().is_none() {
        let findings = ["tare", "report", &record.header.id, "--findings"].map(str::to_owned);
        return step(&findings, "Says in full why limits could not be judged.".to_owned());
    }
    let needed: Option<Vec<f64>> = measured().map(|limit| limit.needed_s).collect();
    let more = needed.and_then(|needed| needed.into_iter().reduce(f64::max));
    match more.filter(|more| *more * SLACK <= WORTH_WAITING_S) {
        Some(more) => {
            let minutes = ((duration_s + more * SLACK) / 60.0).ceil().max(1.0);
            let text = format!("A longer check is likely to decide: it needs about {} more.", roughly(more));
            step(&with_flag(command, "--budget", &format!("{minutes}m")), text)
        }
        None => step(
            &["tare", "doctor"].map(str::to_owned),
            "At this noise more time alone will not decide soon. Allow more in the limit, check less at once (-s, -m), \
             or use a quieter machine: tare doctor says what disturbs."
                .to_owned(),
        ),
    }
}
