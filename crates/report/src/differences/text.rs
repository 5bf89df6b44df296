//! The comparison for a terminal: what was different around the servers first, then every figure.

use crate::clean::sanitize_line;
use crate::palette::Tone;
use crate::text::{Grid, Style, wrap};
use tare_analysis::differences::{Basis, EnvironmentChange, FigureChange, RunDifferences};
use tare_analysis::format::{Unit, count, cut, share, single};
use tare_analysis::summary::VerdictKind;
use tare_analysis::words::count_verdicts;

/// The longest value of a fact that is shown whole.
const VALUE_WIDTH: usize = 60;

pub fn render(differences: &RunDifferences, style: &Style) -> String {
    let palette = style.palette();
    let title = format!("tare compare · {} → {}", differences.before.name(), differences.after.name());
    let mut out = format!("{}\n\n", palette.paint(Tone::Head, &sanitize_line(&title)));
    out.push_str(&format!("  {}\n\n", palette.paint(Tone::Head, &headline(differences))));
    for note in &differences.notes {
        out.push_str(&format!("{}\n", palette.paint(Tone::Quiet, &wrap(&format!("  {note}"), style.width, 2))));
    }
    out.push_str(&environment_table("What else differs", &differences.environment, style));
    out.push_str(&figures(differences, style));
    out.push_str(&methods(differences, style));
    out
}

/// `12 figures: 2 worse, 1 better, 6 no material difference, 3 not decided.`
pub(super) fn headline(differences: &RunDifferences) -> String {
    let verdicts: Vec<VerdictKind> = differences.changes.iter().map(|change| change.verdict).collect();
    match verdicts.len() as u64 {
        0 => "No figure can be compared.".to_owned(),
        figures => format!("{}: {}.", count(figures, "figure"), count_verdicts(&verdicts)),
    }
}

pub(crate) fn environment_table(heading: &str, changes: &[EnvironmentChange], style: &Style) -> String {
    let heading = style.palette().paint(Tone::Head, &format!("  {heading}"));
    if changes.is_empty() {
        return String::new();
    }
    let mut grid = Grid::default();
    for change in changes {
        let [before, after] = shown_facts(change);
        let section = format!("    {}", change.section);
        grid.push_in(Tone::Plain, [section, change.key.clone(), format!("{before} → {after}")]);
    }
    format!("\n{heading}\n{}", grid.render(&style.palette()))
}

/// Both values of a fact; long ones without the words with which both begin.
pub(super) fn shown_facts(change: &EnvironmentChange) -> [String; 2] {
    let [before, after] = [&change.before, &change.after].map(|value| value.as_deref().unwrap_or("–"));
    let is_long = before.len().max(after.len()) > VALUE_WIDTH;
    let alike = before.split_inclusive(' ').zip(after.split_inclusive(' ')).take_while(|(one, other)| one == other);
    let skipped: usize = alike.filter(|_| is_long).map(|(word, _)| word.len()).sum();
    [before, after].map(|value| {
        let lead = if skipped > 0 { "… " } else { "" };
        cut(&sanitize_line(&format!("{lead}{}", &value[skipped..])), VALUE_WIDTH)
    })
}

fn figures(differences: &RunDifferences, style: &Style) -> String {
    let mut grid = Grid::default();
    let mut place = None;
    for change in &differences.changes {
        let here = (&change.group, &change.scenario, &change.variant);
        if place != Some(here) {
            place = Some(here);
            let variant = differences.variant_in_group(&change.variant, &change.scenario, &change.group);
            let heading = sanitize_line(&format!("{variant} · {}", change.scenario));
            grid.push_heading(format!("\n  {}", style.palette().paint(Tone::Head, &heading)));
        }
        let [label, before, after] = shown_figure(change);
        grid.push(vec![
            (Tone::Plain, format!("    {label}")),
            (Tone::Plain, format!("{before} → {after}")),
            (change.verdict.into(), change.short.clone()),
        ]);
    }
    grid.render(&style.palette())
}

/// The name of a figure and both its values, in their unit; a ratio as a number.
pub(super) fn shown_figure(change: &FigureChange) -> [String; 3] {
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

fn methods(differences: &RunDifferences, style: &Style) -> String {
    if differences.methods.is_empty() {
        return String::new();
    }
    let mut grid = Grid::default();
    for change in &differences.methods {
        let variant = differences.variant_in_group(&change.variant, &change.scenario, &change.group);
        let place = format!("    {variant} · {} · {}", change.scenario, change.event);
        let shares = format!("{} → {}", share(change.before), share(change.after));
        grid.push_in(Tone::Plain, [place, change.method.clone(), shares]);
    }
    let heading = style.palette().paint(Tone::Head, "  Methods whose own share differs");
    format!("\n{heading}\n{}", grid.render(&style.palette()))
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
