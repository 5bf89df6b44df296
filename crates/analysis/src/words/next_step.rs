//! The one thing to do after a run: the command that decides what is open, or the one that says why.

use std::collections::BTreeSet;

use tare_plan::plan::{Mode, Program};
use tare_record::{EventName, RunRecord};

use crate::format::{WORTH_WAITING_S, roughly};
use crate::run_info::shell;
use crate::summary::{
    Cell, Comparison, Concern, CurrencyRatio, Finding, FindingKind, NextStep, ValidityState, VerdictKind,
};
use crate::words::headline::noun;

/// A budget is this many times the forecast: the spread of more forks may be larger.
const SLACK: f64 = 1.2;
/// How many times the largest load of a search that did not end the next one tries.
const LARGER: f64 = 4.0;
/// Flags by which a profile starts the same servers, and asks them in the same way.
const OF_SERVERS: [&str; 8] =
    ["--protocol", "--streams", "--jvm-options", "--server-host", "--server-address", "--java", "--home", "--dir"];
/// For one question alone, where a forecast is hopeless or missing.
const BUDGET_OF_ONE: &str = "15m";
/// Forecasts are made for the noise that was seen.
const QUIETER: &str = "On a quieter machine it needs less: tare doctor says what disturbs.";

/// The next step of a run of forks; `None` where nothing was compared. If most of the compared cells are suspect, what
/// helps against that comes first: more time would end in suspect figures again.
pub(crate) fn next_step(
    record: &RunRecord,
    comparisons: &[Comparison],
    cells: &[Cell],
    findings: &[Finding],
    duration_s: f64,
) -> Option<NextStep> {
    if record.header.plan.mode != Mode::Compared {
        return None;
    }
    let command = &record.header.command;
    if let Some(remedy) = common_remedy(comparisons, cells) {
        return Some(step(command, format!("{remedy} Then measure again: most figures of this run are suspect.")));
    }
    let waits = |c: &&Comparison| {
        c.currencies.first().is_some_and(|first| is_open(first) || first.verdict == VerdictKind::NoInterval)
    };
    let open: Vec<&Comparison> = comparisons.iter().filter(waits).collect();
    let Some(first) = open.first() else {
        let of_decided = larger_loads(record, comparisons, cells).or_else(|| why(record, comparisons));
        let of_decided = of_decided.or_else(|| more_starts(command, comparisons));
        return of_decided.or_else(|| why_void(record, comparisons));
    };
    let busy = [EventName::BusyCore, EventName::CpuPressure, EventName::StolenTime];
    let is_busy = findings.iter().any(|finding| busy.iter().any(|name| finding.kind == FindingKind::Event(*name)));
    if let Some(command) = longer(command, duration_s, needed_s(&open)) {
        let (deciding, more) = (first.currencies.first().map_or("what is open", noun), roughly(needed_s(&open)));
        let quieter = if is_busy { format!(" {QUIETER}") } else { String::new() };
        let text = format!("A longer run is likely to decide {deciding}. It needs about {more} more.{quieter}");
        return Some(step(&command, text));
    }
    let planned = record.header.plan.variant(&first.group, &first.variant);
    let server = planned.map_or(&first.variant, |variant| &variant.server);
    let flag = if values_of(command, "--aa").next().is_some() { "--aa" } else { "--servers" };
    let command = with_flag(command, flag, server);
    let command = with_flag(&command, "--scenarios", &first.scenario);
    let command = with_flag(&command, "--budget", BUDGET_OF_ONE);
    Some(step(&command, format!("One comparison alone needs less time. {QUIETER}")))
}

pub(crate) fn step(command: &[String], text: impl Into<String>) -> NextStep {
    NextStep { command: shell(command), text: text.into() }
}

/// The command with a budget that is likely to suffice; `None` if nothing more is needed, or if nobody waits that long.
pub(crate) fn longer(command: &[String], duration_s: f64, more_s: f64) -> Option<Vec<String>> {
    let minutes = ((duration_s + more_s * SLACK) / 60.0).ceil().max(1.0);
    let is_worth_it = more_s > 0.0 && more_s * SLACK <= WORTH_WAITING_S;
    is_worth_it.then(|| with_flag(command, "--budget", &format!("{minutes}m")))
}

fn needed_s(open: &[&Comparison]) -> f64 {
    let of = |comparison: &&Comparison| comparison.currencies.first().and_then(|deciding| deciding.needed_s);
    let groups: BTreeSet<&str> = open.iter().map(|comparison| comparison.group.as_str()).collect();
    let of_group = |group: &&str| open.iter().filter(|c| c.group == **group).filter_map(of).fold(0.0, f64::max);
    groups.iter().map(of_group).sum()
}

/// The remedy that most of the doubtful cells name, if more than half of the compared cells are suspect in all figures.
fn common_remedy<'a>(comparisons: &[Comparison], cells: &'a [Cell]) -> Option<&'a str> {
    let is_compared = |cell: &&Cell| comparisons.iter().any(|c| c.cell == cell.id || c.baseline_cell == cell.id);
    let compared: Vec<&Cell> = cells.iter().filter(is_compared).collect();
    let suspect = compared.iter().filter(|cell| cell.validity.state == ValidityState::Suspect);
    let of_all = suspect.filter_map(|cell| cell.validity.reasons.iter().find(|it| it.concerns == Concern::Everything));
    let remedies: Vec<Option<&str>> = of_all.map(|reason| reason.remedy.as_deref()).collect();
    let are_most = remedies.len() * 2 > compared.len();
    let same = |remedy: &str| remedies.iter().filter(|other| **other == Some(remedy)).count();
    remedies.iter().flatten().copied().filter(|_| are_most).max_by_key(|remedy| same(remedy))
}

/// Nothing counts: what the servers said before they failed.
fn why_void(record: &RunRecord, comparisons: &[Comparison]) -> Option<NextStep> {
    let is_void = |c: &Comparison| c.currencies.first().is_none_or(|first| first.verdict == VerdictKind::Void);
    let text = "Says in full why nothing counts, with the end of the servers' logs.";
    (!comparisons.is_empty() && comparisons.iter().all(is_void)).then(|| read_findings(record, text))
}

pub(crate) fn read_findings(record: &RunRecord, text: &str) -> NextStep {
    step(&["tare", "report", &record.header.id, "--findings"].map(str::to_owned), text)
}

/// Whether more starts may decide it. They try no other loads, so they say nothing of a capacity beyond those that were tried.
fn is_open(ratio: &CurrencyRatio) -> bool {
    ratio.verdict == VerdictKind::Inconclusive && ratio.bound.is_none()
}

/// The search with larger loads, where a comparison is open because a server kept the largest one.
fn larger_loads(record: &RunRecord, comparisons: &[Comparison], cells: &[Cell]) -> Option<NextStep> {
    let slo = record.header.plan.slo.as_ref()?;
    comparisons.iter().find(|c| c.currencies.iter().any(|ratio| ratio.bound.is_some()))?;
    let mut found = cells.iter().filter_map(|cell| cell.capacity.as_ref());
    found.find(|found| found.forks_at_most > 0 && found.by == slo.by)?;
    let (_, most) = slo.load_range(slo.by);
    let command = with_flag(&record.header.command, "--slo-most", &(most * LARGER).to_string());
    Some(step(&command, "Tries larger loads: a server kept the largest one that was tried."))
}

/// All is decided: which methods the difference is under. Nothing can look into a server that tare did not start.
fn why(record: &RunRecord, comparisons: &[Comparison]) -> Option<NextStep> {
    let plan = &record.header.plan;
    let differs = |c: &&Comparison| c.currencies.first().is_some_and(|first| first.verdict.is_difference());
    let found = comparisons.iter().find(differs).filter(|_| !plan.never_restarts())?;
    let (layer, bare) = (plan.variant(&found.group, &found.variant)?, plan.variant(&found.group, &found.baseline)?);
    let given = |flag| (flag, values_of(&record.header.command, flag).last());
    let is_of_suite = [layer, bare].iter().any(|variant| variant.program != Program::Catalog);
    let suite = Some(&*plan.suite_file).filter(|file| is_of_suite && !file.is_empty());
    let version = layer.version.as_deref().filter(|_| given("--versions").1.is_some());
    let flags = [("--suite", suite), ("--versions", version)].into_iter().chain(OF_SERVERS.map(given));
    let flags = flags.filter_map(|(flag, value)| Some([flag, value?])).flatten();
    let profile = ["tare", "profile", &layer.server, &found.scenario, "--against", &bare.server].into_iter();
    let command: Vec<String> = profile.chain(flags).map(str::to_owned).collect();
    Some(step(&command, "Shows in which methods the difference arises."))
}

/// The values that a command gives this flag, in the next word or behind `=`.
fn values_of<'a>(command: &'a [String], flag: &'a str) -> impl Iterator<Item = &'a str> {
    command.iter().enumerate().filter_map(move |(at, word)| match word.strip_prefix(flag)? {
        "" => command.get(at + 1).map(String::as_str),
        rest => rest.strip_prefix('='),
    })
}

/// No difference, and measures beside the deciding one are open: the same run goes on no longer with more budget, because
/// its question is answered.
fn more_starts(command: &[String], comparisons: &[Comparison]) -> Option<NextStep> {
    comparisons.iter().find(|c| c.currencies.iter().any(is_open))?;
    let starts = comparisons.iter().filter_map(|c| Some(c.currencies.first()?.forks)).max()?;
    let text = format!("Makes {} starts instead of {starts}. That narrows what is not decided yet.", starts * 2);
    Some(step(&with_flag(command, "--forks", &(starts * 2).to_string()), text))
}

/// The command with this flag set. Its short form and the flag that excludes it go.
pub(crate) fn with_flag(command: &[String], flag: &str, value: &str) -> Vec<String> {
    let replaced: &[&str] = match flag {
        "--budget" | "--forks" => &["--budget", "--forks"],
        "--servers" => &["--servers", "-s"],
        "--scenarios" => &["--scenarios", "-m"],
        _ => &[flag],
    };
    let (mut words, mut rest) = (Vec::<String>::new(), command.iter());
    while let Some(word) = rest.next() {
        // The value may be in the same word: `--servers=a`, `-s=a`, `-sa`. The options of a JVM are values that look so, too.
        let value_in_word = |old: &&str| {
            let value = word.strip_prefix(*old)?;
            (value.is_empty() || value.starts_with('=') || !old.starts_with("--")).then_some(value)
        };
        match replaced.iter().find_map(value_in_word) {
            Some("") => _ = rest.next(),
            Some(_) if words.last().is_none_or(|before| before != "--jvm-options") => {}
            _ => words.push(word.clone()),
        }
    }
    words.extend([flag.to_owned(), value.to_owned()]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_replaces_its_other_forms() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let longer = |line: &str| with_flag(&words(line), "--budget", "9m").join(" ");
        assert_eq!(longer("tare run --seed 1"), "tare run --seed 1 --budget 9m");
        assert_eq!(longer("tare run --budget 5m --seed 1"), "tare run --seed 1 --budget 9m");
        assert_eq!(longer("tare run --budget=5m --forks 3"), "tare run --budget 9m");
        assert_eq!(with_flag(&words("tare run --budget 2m"), "--forks", "8").join(" "), "tare run --forks 8");
        for given in ["-s a,b", "-sa,b", "-s=a,b", "--servers a,b", "--servers=a,b"] {
            let command = words(&format!("tare run {given} --seed 1"));
            assert_eq!(with_flag(&command, "--servers", "b").join(" "), "tare run --seed 1 --servers b", "{given}");
        }
        let alone = with_flag(&words("tare run --jvm-options -server -mGet"), "--servers", "b");
        let alone = with_flag(&alone, "--scenarios", "Put").join(" ");
        assert_eq!(alone, "tare run --jvm-options -server --servers b --scenarios Put");
    }

    #[test]
    fn a_group_needs_the_time_of_its_slowest_comparison_once_in_any_order() {
        let open = [("x", 60.0), ("y", 20.0), ("x", 50.0)].map(|(group, needed_s)| {
            let currency = serde_json::json!({
                "name": "throughput", "load": "saturating", "label": "", "unit": "per_s", "higher_is_better": true,
                "baseline_value": 1.0, "variant_value": 1.0, "ratio": 1.0, "lo": null, "hi": null, "method": "", "forks": 3,
                "sd_forks": null, "fork_ratios": [], "fork_numbers": [], "verdict": "inconclusive", "material": false,
                "short": "", "reason": null, "needed_s": needed_s,
            });
            let comparison = serde_json::json!({
                "id": "", "group": group, "scenario": "Get", "variant": "layer", "baseline": "bare", "cell": "",
                "baseline_cell": "", "odd_forks": [], "currencies": [currency],
            });
            serde_json::from_value::<Comparison>(comparison).expect("a comparison")
        });
        assert_eq!(needed_s(&open.each_ref()), 80.0);
    }
}
