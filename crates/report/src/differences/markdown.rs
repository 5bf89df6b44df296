//! The comparison as Markdown, for a pull request or the notes of a release.

use super::text::{headline, shown_facts, shown_figure};
use crate::clean::escape_markdown as safe;
use crate::markdown::table;
use tare_analysis::differences::{EnvironmentChange, RunDifferences};
use tare_analysis::format::share;

/// Headline, notes, and a table each for environment, figures and methods.
pub fn render_markdown(differences: &RunDifferences) -> String {
    let title = format!("{} → {}", differences.before.name(), differences.after.name());
    let mut out = format!("**{}: {}**\n", safe(&title), headline(differences));
    out.extend(differences.notes.iter().map(|note| format!("\n{}\n", safe(note))));
    let variant = |variant: &str, scenario: &str, group: &str| differences.variant_in_group(variant, scenario, group);
    out += &environment_markdown("What else differs", &differences.environment);
    out += &table(
        "\n## Figures\n\n| scenario | variant | figure | before | after | change |\n|---|---|---|--:|--:|---|\n",
        differences.changes.iter().map(|change| {
            let variant = variant(&change.variant, &change.scenario, &change.group);
            let [label, before, after] = shown_figure(change);
            [change.scenario.clone(), variant, label, before, after, change.short.clone()]
        }),
    );
    out + &table(
        "\n## Methods\n\n| scenario | variant | event | method | before | after |\n|---|---|---|---|--:|--:|\n",
        differences.methods.iter().map(|change| {
            let variant = variant(&change.variant, &change.scenario, &change.group);
            let (before, after) = (share(change.before), share(change.after));
            [change.scenario.clone(), variant, change.event.clone(), change.method.clone(), before, after]
        }),
    )
}

/// A section with every fact that differs; nothing without any.
pub(crate) fn environment_markdown(heading: &str, changes: &[EnvironmentChange]) -> String {
    let row = |change: &EnvironmentChange| {
        let [before, after] = shown_facts(change);
        [change.section.clone(), change.key.clone(), before, after]
    };
    let head = format!("\n## {heading}\n\n| where | what | before | after |\n|---|---|---|---|\n");
    table(&head, changes.iter().map(row))
}
