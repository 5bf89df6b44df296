//! The comparison as Markdown, for a pull request or the notes of a release.

use super::text::{headline, shown_facts, shown_value};
use crate::clean::escape_markdown as safe;
use tare_analysis::differences::{Basis, FigureChange, RunDifferences};
use tare_analysis::format::share;

/// Headline, notes, and a table each for environment, figures and methods.
pub fn render_markdown(differences: &RunDifferences) -> String {
    let title = format!("{} → {}", differences.before.name(), differences.after.name());
    let mut out = format!("**{}: {}**\n", safe(&title), headline(differences));
    out.extend(differences.notes.iter().map(|note| format!("\n{}\n", safe(note))));
    if !differences.environment.is_empty() {
        out.push_str("\n## What else differs\n\n| where | what | before | after |\n|---|---|---|---|\n");
        for change in &differences.environment {
            let [before, after] = shown_facts(change);
            out.push_str(&row(&[change.section.clone(), change.key.clone(), before, after]));
        }
    }
    if !differences.changes.is_empty() {
        out.push_str(
            "\n## Figures\n\n| scenario | variant | figure | before | after | change |\n|---|---|---|--:|--:|---|\n",
        );
        out.extend(differences.changes.iter().map(|change| figure_row(differences, change)));
    }
    if !differences.methods.is_empty() {
        out.push_str(
            "\n## Methods\n\n| scenario | variant | event | method | before | after |\n|---|---|---|---|--:|--:|\n",
        );
        for change in &differences.methods {
            let variant = differences.variant_in_group(&change.variant, &change.scenario, &change.group);
            let place = [change.scenario.clone(), variant, change.event.clone(), change.method.clone()];
            out.push_str(&row(&[place.to_vec(), vec![share(change.before), share(change.after)]].concat()));
        }
    }
    out
}

fn figure_row(differences: &RunDifferences, change: &FigureChange) -> String {
    let label = match change.basis {
        Basis::Ratio => format!("{}, × baseline", change.label),
        Basis::Level => change.label.clone(),
    };
    let (before, after) = (shown_value(change, change.before), shown_value(change, change.after));
    let variant = differences.variant_in_group(&change.variant, &change.scenario, &change.group);
    row(&[change.scenario.clone(), variant, label, before, after, change.short.clone()])
}

fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| safe(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}
