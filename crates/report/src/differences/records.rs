//! The comparison of two records or servers: what was different around the servers first, then every figure.

use super::ComparisonText;
use crate::clean::sanitize_line;
use crate::text::Sheet;
use tare_analysis::differences::{Basis, EnvironmentChange, FigureChange, MethodChange, RunDifferences};
use tare_analysis::format::{Unit, count, cut, share, single};
use tare_analysis::summary::VerdictKind;
use tare_analysis::words::count_verdicts;

/// The longest value of a fact that is shown whole.
const VALUE_WIDTH: usize = 60;

impl From<&RunDifferences> for ComparisonText {
    fn from(differences: &RunDifferences) -> Self {
        Self {
            title: format!("{} → {}", differences.before.name(), differences.after.name()),
            answers: vec![headline(differences)],
            notes: differences.notes.clone(),
            sheets: sheets(differences).into(),
        }
    }
}

/// `12 figures: 2 worse, 1 better, 6 no material difference, 3 not decided.`
fn headline(differences: &RunDifferences) -> String {
    let verdicts: Vec<VerdictKind> = differences.changes.iter().map(|change| change.verdict).collect();
    match verdicts.len() as u64 {
        0 => "No figure can be compared.".to_owned(),
        figures => format!("{}: {}.", count(figures, "figure"), count_verdicts(&verdicts)),
    }
}

fn sheets(differences: &RunDifferences) -> [Sheet; 3] {
    let figure = |change: &FigureChange| {
        let variant = differences.variant_in_group(&change.variant, &change.scenario, &change.group);
        let [label, before, after] = shown_figure(change);
        let mut row = Sheet::plain([variant, change.scenario.clone(), label, before, after]);
        row.push((change.verdict.into(), change.short.clone()));
        row
    };
    let method = |change: &MethodChange| {
        let variant = differences.variant_in_group(&change.variant, &change.scenario, &change.group);
        let [before, after] = [change.before, change.after].map(share);
        let [scenario, event, method] = [&change.scenario, &change.event, &change.method].map(String::clone);
        Sheet::plain([variant, scenario, event, method, before, after])
    };
    let figures = ["variant", "scenario", "figure", "before", "after", "change"];
    let methods = ["variant", "scenario", "event", "method", "before", "after"];
    [
        environment("What else differs", &differences.environment),
        Sheet::new("Figures", figures, differences.changes.iter().map(figure)).by_place(2),
        Sheet::new("Methods whose own share differs", methods, differences.methods.iter().map(method)).by_place(2),
    ]
}

pub(super) fn environment(title: &str, changes: &[EnvironmentChange]) -> Sheet {
    let row = |change: &EnvironmentChange| {
        let [before, after] = shown_facts(change);
        Sheet::plain([change.section.clone(), change.key.clone(), before, after])
    };
    Sheet::new(title, ["where", "what", "before", "after"], changes.iter().map(row))
}

/// Both values of a fact; long ones without the words with which both begin.
fn shown_facts(change: &EnvironmentChange) -> [String; 2] {
    let [before, after] = [&change.before, &change.after].map(|value| value.as_deref().unwrap_or("–"));
    let is_long = before.len().max(after.len()) > VALUE_WIDTH;
    let alike = before.split_inclusive(' ').zip(after.split_inclusive(' ')).take_while(|(one, other)| one == other);
    let skipped: usize = alike.filter(|_| is_long).map(|(word, _)| word.len()).sum();
    [before, after].map(|value| {
        let lead = if skipped > 0 { "… " } else { "" };
        cut(&sanitize_line(&format!("{lead}{}", &value[skipped..])), VALUE_WIDTH)
    })
}

/// The name of a figure and both its values, in their unit; a ratio as a number.
fn shown_figure(change: &FigureChange) -> [String; 3] {
    let shown = |value: f64| match change.unit.as_str() {
        "per_s" => single(Unit::PerSecond, value),
        "ns" => single(Unit::Nanos, value),
        "bytes" => single(Unit::Bytes, value),
        _ => format!("{value:.3}"),
    };
    let label = match change.basis {
        Basis::Ratio => format!("{}, × baseline", change.label),
        Basis::Level => change.label.clone(),
    };
    [label, shown(change.before), shown(change.after)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_facts_are_shown_from_where_they_differ() {
        let change = |before: &str, after: &str| EnvironmentChange {
            section: "server".to_owned(),
            key: "command".to_owned(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        assert_eq!(shown_facts(&change("java -a", "java -b")), ["java -a", "java -b"]);
        let long = "java -cp … ".repeat(9);
        assert_eq!(shown_facts(&change(&format!("{long}-a"), &format!("{long}-b -c"))), ["… -a", "… -b -c"]);
        assert_eq!(shown_facts(&change(&long, &long[..13]))[1], "… ", "one is the beginning of the other");
    }
}
