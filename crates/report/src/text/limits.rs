//! The report of a run with limits (`tare check`): a row per limit, what the run could see, and what to do.

use super::Style;
use super::sheet::Sheet;
use crate::clean;
use crate::palette::Tone;
use tare_analysis::summary::{LimitCheck, LimitResult, NextStep};

pub(crate) fn sheet(check: &LimitCheck) -> Sheet {
    let row = |limit: &LimitResult| {
        let LimitResult { limit, scenario, variant, short, verdict, .. } = limit;
        let mut row = Sheet::plain([limit, scenario, variant, short].map(String::clone));
        row.push((verdict.of_comparison().into(), verdict.name().to_owned()));
        row
    };
    Sheet::new("", ["limit", "scenario", "server", "change", "verdict"], check.limits.iter().map(row))
}

/// Why limits are open, and what brackets mean.
pub(crate) fn notes(check: &LimitCheck) -> impl Iterator<Item = String> {
    let reason =
        |limit: &LimitResult| Some(format!("{} on {}: {}", limit.limit, limit.scenario, limit.reason.as_ref()?));
    check.limits.iter().filter_map(reason).chain(check.legend.clone())
}

pub(super) fn limits(check: &LimitCheck, style: &Style) -> String {
    let lines = notes(check).chain(check.power.iter().map(|power| format!("power: {power}")));
    let lines = lines.map(|line| style.paragraph(Tone::Quiet, &format!("    {line}"), 6));
    sheet(check).text(style) + &lines.collect::<String>() + "\n"
}

pub(super) fn next_step(next: &NextStep, style: &Style) -> String {
    style.paragraph(Tone::Plain, &format!("  {}", next.text), 4)
        + &format!("    {}\n", clean::sanitize_line(&next.command))
}
