//! Findings: what a reader should know before believing a number, each with a remedy where there is one.

use tare_plan::plan::Mode;
use tare_record::sample::{EndStatus, EventLevel, EventRecord, RunRecord};
use tare_stats::power::rare_mode_share;

use super::Studied;
use super::compare::Weighed;
use super::machine::{Disturbance, disturbances};
use crate::format::{count, share};
use crate::summary::{Bottleneck, Finding, Noise, Severity, ValidityState, VerdictKind};

/// All findings, the gravest first, in the order of the run among equals.
pub(super) fn findings(record: &RunRecord, cells: &[Studied<'_>], weighed: &Weighed) -> Vec<Finding> {
    let mut all: Vec<Finding> = unended(record).into_iter().collect();
    all.extend(record.events.iter().map(|event| of_event(event, cells)));
    all.extend(deaths(record));
    all.extend(cells.iter().flat_map(of_cell));
    all.extend(of_machine(record));
    all.extend(weighed.noise.iter().filter_map(|n| of_noise(n, record.header.plan.stop.region)));
    all.extend(weighed.disagreeing.iter().map(|(cell, currency)| disagreement(cell, currency)));
    all.extend(of_forks(record, cells));
    all.extend(skipped(record));
    all.sort_by_key(|f| std::cmp::Reverse(f.severity));
    all
}

fn finding(severity: Severity, title: impl Into<String>, text: impl Into<String>, remedy: &str) -> Finding {
    let remedy = (!remedy.is_empty()).then(|| remedy.to_owned());
    Finding { severity, title: title.into(), text: text.into(), remedy, cell: None, log: None }
}

fn unended(record: &RunRecord) -> Option<Finding> {
    let (severity, title, text, remedy) = match record.end.map(|(status, _)| status) {
        Some(EndStatus::Complete) => return None,
        Some(EndStatus::BudgetSpent) => (
            Severity::Info,
            "The budget was spent first",
            "Not everything was decided when the time was up.",
            "Give it more with --budget; the sentences say how much longer each would take.",
        ),
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

fn of_event(event: &EventRecord, cells: &[Studied<'_>]) -> Finding {
    let names = |named: &Option<String>, mine: &str| named.as_deref() == Some(mine);
    let cell = cells.iter().find(|c| {
        names(&event.group, &c.cell.group)
            && names(&event.variant, &c.cell.variant)
            && (event.scenario.is_none() || names(&event.scenario, &c.cell.scenario))
    });
    let about = event.variant.iter().map(|v| format!("{v}: {}", event.title)).next();
    let place: Vec<String> =
        event.scenario.iter().cloned().chain(event.fork.map(|fork| format!("fork {fork}"))).collect();
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    Finding {
        severity: match event.level {
            EventLevel::Info => Severity::Info,
            EventLevel::Warning => Severity::Warning,
            EventLevel::Error => Severity::Error,
        },
        title: about.unwrap_or_else(|| event.title.clone()),
        text: format!("{}{place}", event.text),
        remedy: event.remedy.clone(),
        cell: cell.map(|c| c.cell.id.clone()),
        log: event.log.clone(),
    }
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

fn of_cell(studied: &Studied<'_>) -> Vec<Finding> {
    let cell = &studied.cell;
    let about = format!("{} on {}", cell.variant, cell.scenario);
    let mut found = Vec::new();
    let unsteady = cell.forks - cell.steady_forks;
    if unsteady > 0 {
        let text = format!(
            "{about} was still changing in {unsteady} of {}: {}.",
            count(cell.forks.into(), "fork"),
            first_unsteady(studied)
        );
        let remedy = "Let it warm up longer (--warmup), with more cores or under less load.";
        found.push(finding(Severity::Warning, "Not steady when measuring began", text, remedy));
    }
    if cell.bottleneck == Bottleneck::Generator {
        let text = format!(
            "Under the saturating load of {about} the generator was busy and the server was not: its throughput is a lower bound."
        );
        let remedy = "Give the generator more cores (--load-cpus), or compare CPU per request at a fixed rate.";
        found.push(finding(Severity::Warning, "The generator was the bottleneck", text, remedy));
    }
    // What an event made void has that event as its finding.
    if cell.validity.state == ValidityState::Void && studied.evidence.voiding().next().is_none() {
        let text = format!("{about}: {}.", cell.validity.reasons.join("; "));
        found.push(finding(Severity::Error, "A cell is void", text, ""));
    }
    found.into_iter().map(|f| Finding { cell: Some(cell.id.clone()), ..f }).collect()
}

fn first_unsteady<'a>(studied: &Studied<'a>) -> &'a str {
    let mut warmups = studied.evidence.warmups.iter();
    warmups.find(|w| !w.steady && !w.reason.is_empty()).map_or("no reason recorded", |w| w.reason.as_str())
}

fn of_machine(record: &RunRecord) -> Vec<Finding> {
    let told = |word: &str| record.events.iter().any(|e| e.text.to_lowercase().contains(word));
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
    disturbances(&record.header.environment).into_iter().filter_map(say).collect()
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

fn disagreement(cell: &str, currency: &str) -> Finding {
    let text =
        format!("For {currency} the 20 % trimmed mean of the slices and their plain mean lie more than 1 % apart.");
    let remedy = "A few slices carry the answer: look at the run over time for stalls (GC, neighbours).";
    let found = finding(Severity::Warning, "A few slices decide", text, remedy);
    Finding { cell: Some(cell.to_owned()), ..found }
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
        "{} could have missed a behaviour that shows in fewer than {} of the starts.",
        count(forks.into(), "fork"),
        share(rare_mode_share(forks))
    );
    Some(finding(Severity::Info, "Rare modes", text, "More forks (--forks) see rarer ones."))
}

fn skipped(record: &RunRecord) -> Vec<Finding> {
    let skipped = record.header.plan.skipped.iter();
    skipped.map(|s| finding(Severity::Info, format!("Left out: {}", s.what), s.because.clone(), "")).collect()
}
