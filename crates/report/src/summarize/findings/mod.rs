//! Findings: what a reader should know before believing a number, each with a remedy where there is one.

mod cells;
mod events;
mod odd_starts;

use tare_plan::plan::Mode;
use tare_record::LoadRecord;
use tare_record::environment::Environment;
use tare_record::sample::{EndStatus, EventLevel, EventRecord, RunRecord};
use tare_stats::power::rare_mode_share;

use super::Studied;
use super::compare::Weighed;
use super::machine::{Disturbance, disturbances};
use crate::format::{count, enumerate, share};
use crate::summary::{Finding, Noise, Severity, VerdictKind};

/// All findings, the gravest first, in the order of the run among equals.
pub(super) fn findings(record: &RunRecord, cells: &[Studied<'_>], weighed: &Weighed) -> Vec<Finding> {
    let mut all: Vec<Finding> = unended(record.end).into_iter().collect();
    all.extend(events::of_events(&record.events, cells));
    all.extend(deaths(record));
    all.extend(cells::of_cells(cells));
    all.extend(of_machine(&record.header.environment, &record.events));
    all.extend(weighed.noise.iter().filter_map(|n| of_noise(n, record.header.plan.stop.region)));
    all.extend(cells::few_slices_decide(cells, &weighed.disagreeing));
    all.extend(of_forks(record, cells));
    all.extend(skipped(record));
    all.sort_by_key(|f| std::cmp::Reverse(f.severity));
    all
}

/// What to know before believing the figures of a load, apart from the reasons of its verdict.
pub(crate) fn of_load(record: &LoadRecord) -> Vec<Finding> {
    let mut all: Vec<Finding> = unended(record.end).into_iter().collect();
    all.extend(events::of_events(&record.events, &[]));
    all.extend(of_machine(&record.header.environment, &record.events));
    all.sort_by_key(|f| std::cmp::Reverse(f.severity));
    all
}

fn finding(severity: Severity, title: impl Into<String>, text: impl Into<String>, remedy: &str) -> Finding {
    let remedy = (!remedy.is_empty()).then(|| remedy.to_owned());
    Finding { severity, title: title.into(), text: text.into(), remedy, cell: None, log: None }
}

fn unended(end: Option<(EndStatus, u64)>) -> Option<Finding> {
    let (severity, title, text, remedy) = match end.map(|(status, _)| status) {
        Some(EndStatus::Complete) => return None,
        Some(EndStatus::BudgetSpent) => {
            (Severity::Info, "The budget was spent first", "Not everything was decided.", "Give it more with --budget.")
        }
        Some(EndStatus::Interrupted) => {
            (Severity::Warning, "Interrupted", "Ctrl-C ended this run; what was measured until then stands.", "")
        }
        Some(EndStatus::Failed) => {
            (Severity::Error, "tare failed", "The run ended early; what was measured until then stands.", "")
        }
        None => (
            Severity::Warning,
            "The record has no end",
            "tare was killed, or this run is still going on; what was measured until then stands.",
            "",
        ),
    };
    Some(finding(severity, title, text, remedy))
}

/// Servers that died, hung or lied, unless an event has said so already.
fn deaths(record: &RunRecord) -> Vec<Finding> {
    let told = |variant: &str, fork: u32| {
        let about = |e: &&EventRecord| e.variant.as_deref() == Some(variant) && e.fork.is_none_or(|f| f == fork);
        record.events.iter().filter(about).any(|e| e.level == EventLevel::Error)
    };
    let dead = record.forks.iter().filter(|f| !f.healthy && !told(&f.variant, f.fork));
    let say = |f: &tare_record::sample::ForkRecord| {
        let text = format!("Its start in fork {} ended before its time: {}.", f.fork, f.end);
        finding(
            Severity::Error,
            format!("{} did not survive", f.variant),
            text,
            "Look at its log in the folder of the run.",
        )
    };
    dead.map(say).collect()
}

/// What about the machine disturbs.
pub(crate) fn of_machine(environment: &Environment, events: &[EventRecord]) -> Vec<Finding> {
    let told = |word: &str| events.iter().any(|e| e.text.to_lowercase().contains(word));
    let say = |d: Disturbance| match d {
        Disturbance::Governor(name) if !told("governor") => Some(finding(
            Severity::Warning,
            format!("CPU governor is \"{name}\""),
            "The CPU's frequency follows the load, and with it every number.",
            "As root: cpupower frequency-set -g performance",
        )),
        Disturbance::Pressure(part) if !told("busy") => Some(finding(
            Severity::Warning,
            "The machine was busy",
            format!("At the start something waited for a CPU {} of the time.", share(part)),
            "End what runs beside, or measure on another machine.",
        )),
        Disturbance::Steal(part) if !told("hypervisor") => Some(finding(
            Severity::Warning,
            "The hypervisor takes time away",
            format!("{} of CPU time was stolen.", share(part)),
            "Measure on a machine of your own, or trust only wide margins.",
        )),
        _ => None,
    };
    disturbances(environment).into_iter().filter_map(say).collect()
}

fn of_noise(noise: &Noise, region: f64) -> Option<Finding> {
    let about = format!("{} on {}", noise.server, noise.scenario);
    let first = noise.currencies.first()?;
    if matches!(first.verdict, VerdictKind::Worse | VerdictKind::Better) {
        let text =
            format!("{about}, weighed against itself, came out {}: this machine or tare prefers a side.", first.short);
        let remedy = "Believe no difference of that size here. Run tare doctor, and give servers and generator cores of their own.";
        return Some(finding(Severity::Error, "A server differs from itself", text, remedy));
    }
    let floor = noise.floor.filter(|floor| *floor > region)?;
    let text = format!(
        "{about}, weighed against itself, is uncertain by ±{}, more than the region of ±{}.",
        share(floor),
        share(region)
    );
    let remedy =
        "Give it more forks (--budget, --forks) or a quieter machine; smaller differences cannot be seen here.";
    Some(finding(Severity::Warning, "The noise is larger than the region", text, remedy))
}

fn of_forks(record: &RunRecord, cells: &[Studied<'_>]) -> Option<Finding> {
    let weighed = cells.iter().filter(|c| !c.cell.baseline && c.cell.forks > 0);
    let forks = weighed.map(|c| c.cell.forks).min()?;
    if forks < 2 || record.header.plan.mode == Mode::Sequential {
        let text =
            "forks = 1 gives no interval: two starts of one program differ, and one start cannot show by how much.";
        let remedy = "Ask for several with --forks 10, or for a verdict with --budget 5m.";
        return Some(finding(Severity::Warning, "One fork, no interval", text, remedy));
    }
    let text = format!(
        "{} can miss what shows in fewer than {} of the starts.",
        count(forks.into(), "fork"),
        share(rare_mode_share(forks))
    );
    Some(finding(Severity::Info, "Rare modes", text, "More --forks see more."))
}

/// What the plan left out, once for each reason.
fn skipped(record: &RunRecord) -> Vec<Finding> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for skipped in &record.header.plan.skipped {
        match reasons.iter_mut().find(|(because, _)| *because == skipped.because) {
            Some((_, all)) => all.push(skipped.what.clone()),
            None => reasons.push((&skipped.because, vec![skipped.what.clone()])),
        }
    }
    let say = |(because, all): &(&str, Vec<String>)| {
        let title = format!("{} left out: {because}", count(all.len() as u64, "cell"));
        finding(Severity::Info, title, format!("{}.", enumerate(all)), "")
    };
    reasons.iter().map(say).collect()
}
