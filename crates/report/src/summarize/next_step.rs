//! The one thing to do after a run: the command that decides what is open, or the one that says why.

use std::collections::BTreeMap;

use tare_plan::plan::Mode;
use tare_record::RunRecord;

use super::run_info::shell;
use crate::format::{WORTH_WAITING_S, roughly};
use crate::summary::{Comparison, NextStep, VerdictKind};

/// What is added to a forecast: the spread of more forks may be larger.
pub(super) const SLACK: f64 = 1.2;
/// For one question alone, where a forecast is hopeless or missing.
const BUDGET_OF_ONE: &str = "15m";

/// The next step of a run of forks; `None` where nothing was compared.
pub(super) fn next_step(record: &RunRecord, comparisons: &[Comparison], duration_s: f64) -> Option<NextStep> {
    if record.header.plan.mode != Mode::Compared {
        return None;
    }
    let deciding = |c: &Comparison| c.currencies.first().map(|first| (first.verdict, first.needed_s));
    let is_open = |c: &&Comparison| {
        deciding(c).is_some_and(|(verdict, _)| !verdict.is_decision() && verdict != VerdictKind::Void)
    };
    let Some(open) = comparisons.iter().find(is_open) else { return why(comparisons) };
    let mut needed: BTreeMap<&str, f64> = BTreeMap::new();
    for comparison in comparisons.iter().filter(is_open) {
        let seconds = deciding(comparison).and_then(|(_, needed)| needed).unwrap_or(0.0);
        let group = needed.entry(&comparison.group).or_insert(0.0);
        *group = group.max(seconds);
    }
    let more = needed.values().sum::<f64>() * SLACK;
    if more > 0.0 && more <= WORTH_WAITING_S {
        let minutes = ((duration_s + more) / 60.0).ceil().max(1.0);
        return Some(NextStep {
            command: shell(&with_flag(&record.header.command, "--budget", &format!("{minutes}m"))),
            text: format!(
                "A longer run is likely to decide the open questions: they need about {} more.",
                roughly(more)
            ),
        });
    }
    let alone = [("--servers", open.variant.as_str()), ("--scenarios", &open.scenario), ("--budget", BUDGET_OF_ONE)];
    let command =
        alone.iter().fold(record.header.command.clone(), |command, (flag, value)| with_flag(&command, flag, value));
    Some(NextStep {
        command: shell(&command),
        text: "One question alone needs less time. A quieter machine needs less still: tare doctor says what disturbs."
            .to_owned(),
    })
}

/// All is decided: which methods the difference is under.
fn why(comparisons: &[Comparison]) -> Option<NextStep> {
    let differs = |c: &&Comparison| {
        c.currencies.first().is_some_and(|first| matches!(first.verdict, VerdictKind::Worse | VerdictKind::Better))
    };
    let found = comparisons.iter().find(differs)?;
    let command = ["tare", "profile", &found.variant, &found.scenario, "--against", &found.baseline].map(str::to_owned);
    Some(NextStep { command: shell(&command), text: "Shows in which methods the difference arises.".to_owned() })
}

/// The command with this flag set. Its short form and the flag that excludes it go.
pub(super) fn with_flag(command: &[String], flag: &str, value: &str) -> Vec<String> {
    let replaced: &[&str] = match flag {
        "--budget" => &["--budget", "--forks"],
        "--servers" => &["--servers", "-s"],
        "--scenarios" => &["--scenarios", "-m"],
        _ => &[flag],
    };
    let mut words = Vec::new();
    let mut rest = command.iter();
    while let Some(word) = rest.next() {
        if replaced.contains(&word.as_str()) {
            rest.next();
        } else if !replaced.iter().any(|old| word.starts_with(&format!("{old}="))) {
            words.push(word.clone());
        }
    }
    words.extend([flag.to_owned(), value.to_owned()]);
    words
}

#[cfg(test)]
mod tests {
    use super::with_flag;

    #[test]
    fn a_flag_replaces_its_other_forms() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
        let longer = |line: &str| with_flag(&words(line), "--budget", "9m").join(" ");
        assert_eq!(longer("tare run --seed 1"), "tare run --seed 1 --budget 9m");
        assert_eq!(longer("tare run --budget 5m --seed 1"), "tare run --seed 1 --budget 9m");
        assert_eq!(longer("tare run --budget=5m --forks 3"), "tare run --budget 9m");
        assert_eq!(with_flag(&words("tare run -s a,b"), "--servers", "b").join(" "), "tare run --servers b");
    }
}
