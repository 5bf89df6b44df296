//! The terminal report of a run with limits (`tare check`): a row per limit, what the run could see, and what to do.

use super::Style;
use super::grid::Grid;
use crate::clean;
use crate::palette::Tone;
use tare_analysis::summary::{LimitCheck, LimitResult, LimitVerdictKind, NextStep};

impl From<LimitVerdictKind> for Tone {
    fn from(verdict: LimitVerdictKind) -> Self {
        match verdict {
            LimitVerdictKind::Regressed => Self::Worse,
            LimitVerdictKind::Improved | LimitVerdictKind::NoMaterialChange => Self::Better,
            LimitVerdictKind::Void => Self::Void,
            LimitVerdictKind::Undecided => Self::Undecided,
        }
    }
}

/// A row per limit; below it why limits are open, and what the run could see.
pub(super) fn limits(check: &LimitCheck, style: &Style) -> String {
    let mut grid = Grid::default();
    grid.push_in(Tone::Quiet, ["  limit", "on", "server", "change", "verdict"]);
    for limit in &check.limits {
        let LimitResult { scenario, variant, short, verdict, .. } = limit;
        grid.push(vec![
            (Tone::Plain, format!("  {}", limit.limit)),
            (Tone::Plain, scenario.clone()),
            (Tone::Plain, variant.clone()),
            (Tone::Plain, short.clone()),
            ((*verdict).into(), verdict.name().to_owned()),
        ]);
    }
    let mut text = grid.render(&style.palette());
    let reason =
        |limit: &&LimitResult| Some(format!("{} on {}: {}", limit.limit, limit.scenario, limit.reason.as_ref()?));
    let reasons = check.limits.iter().filter_map(|limit| reason(&limit));
    let legend = check.legend.iter().cloned();
    let power = check.power.iter().map(|power| format!("power: {power}"));
    for line in reasons.chain(legend).chain(power) {
        text.push_str(&style.paragraph(Tone::Quiet, &format!("    {}", clean::sanitize_line(&line)), 6));
    }
    text + "\n"
}

pub(super) fn next_step(next: &NextStep, style: &Style) -> String {
    style.paragraph(Tone::Plain, &format!("  {}", next.text), 4)
        + &format!("    {}\n", clean::sanitize_line(&next.command))
}
