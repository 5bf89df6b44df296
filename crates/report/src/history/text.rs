//! The history for a terminal: for each line its runs in the order of time, with the changes of level between them.

use tare_stats::Polarity;

use crate::clean::sanitize_line;
use crate::palette::Tone;
use crate::text::{Grid, Style};
use tare_analysis::format::{Change, count};
use tare_analysis::history::{History, HistoryLine, HistoryPoint, LevelChange};
use tare_analysis::summary::{Estimate, VerdictKind};

const REVISION_DIGITS: usize = 10;

/// Every line with its last `shown` runs. Changes of level are shown wherever they are.
pub fn render(history: &History, shown: usize, style: &Style) -> String {
    if history.lines.is_empty() {
        return "no figures yet: tare run makes the first, tare history import takes those of other tools\n".to_owned();
    }
    let lines: Vec<String> = history.lines.iter().map(|line| lines_of(line, shown, style)).collect();
    format!("{}\n{}", style.paragraph(Tone::Plain, &headline(history), 2), lines.join("\n"))
}

/// What the history says in one sentence: how many levels have changed, and the latest change.
pub(super) fn headline(history: &History) -> String {
    let (lines, runs) = (history.lines.len() as u64, history.lines.iter().map(|line| line.points.len()).max());
    let place = format!("{} over {}", count(lines, "line"), count(runs.unwrap_or(0) as u64, "run"));
    let changes = history.lines.iter().flat_map(|line| line.changes.iter().map(move |change| (line, change)));
    // Times of RFC 3339 in UTC are in order as texts.
    let Some((line, latest)) = changes.clone().max_by_key(|(line, change)| &line.points[change.at].at) else {
        return format!("No change of level: {place}.");
    };
    let number = count(changes.count() as u64, "change");
    let (subject, figure) = (line.subject(), &line.figure);
    format!("{number} of level in {place}. The latest: {subject}, {figure}: {}.", change_words(latest))
}

/// `lower is better · level now 1.08 · 34 runs`.
pub(super) fn state(line: &HistoryLine) -> String {
    let better = if line.polarity == Polarity::LowerIsBetter { "lower" } else { "higher" };
    let level = line.level().map_or(String::new(), |level| format!(" · level now {}", number(level)));
    format!("{better} is better{level} · {}{}", count(line.points.len() as u64, "run"), left_out(line))
}

/// ` · 1 value of 0 or less left out of the levels`.
fn left_out(line: &HistoryLine) -> String {
    match line.left_out() as u64 {
        0 => String::new(),
        number => format!(" · {} of 0 or less left out of the levels", count(number, "value")),
    }
}

fn lines_of(line: &HistoryLine, shown: usize, style: &Style) -> String {
    let (points, changes) = (count(line.points.len() as u64, "run"), count(line.changes.len() as u64, "change"));
    let (subject, figure, left_out) = (line.subject(), &line.figure, left_out(line));
    let title = format!("{subject} · {figure} · {points}, {changes} of level{left_out}");
    let mut grid = Grid::default();
    let hidden = line.points.len().saturating_sub(shown);
    for (at, point) in line.points.iter().enumerate() {
        if let Some(change) = line.changes.iter().find(|change| change.at == at) {
            let words = sanitize_line(&change_words(change));
            grid.push_heading(format!("    {}", Tone::from(change.verdict).paint(style.colored, &words)));
        }
        if at >= hidden {
            grid.push_in(Tone::Plain, point_row(point));
        }
    }
    let omitted =
        if hidden > 0 { format!("    … {hidden} earlier (--last {})\n", line.points.len()) } else { String::new() };
    format!("{}\n{omitted}{}", style.heading(&title), grid.render(style.colored))
}

fn point_row(point: &HistoryPoint) -> [String; 5] {
    let Estimate { value, lo, hi } = point.estimate;
    let interval = lo.zip(hi).map_or(String::new(), |(lo, hi)| format!(" [{}, {}]", number(lo), number(hi)));
    [
        format!("    {}", point.run),
        point.at.chars().take(16).collect::<String>().replace('T', " "),
        short_revision(point.revision.as_deref()),
        point.version.clone().unwrap_or_default(),
        format!("{}{interval}", number(value)),
    ]
}

/// `worse: +4.9 % [3.1, 6.7] after 2026-11-20-1 (a1b2c3), from 2026-11-20-2 (d4e5f6) on`. Runs that no revision tells apart are
/// told apart by their times.
pub(super) fn change_words(change: &LevelChange) -> String {
    let size = Change { ratio: change.ratio, bounds: Some((change.lo, change.hi)) };
    let word = if change.verdict == VerdictKind::Worse { "worse" } else { "better" };
    let of_two_revisions = change.after_revision != change.first_revision;
    let named = |run: &str, at: &str, revision: Option<&str>| {
        let revision = revision.filter(|_| of_two_revisions);
        let second = || at.chars().take(19).collect::<String>().replace('T', " ");
        let told_by = revision.map_or_else(second, |revision| short_revision(Some(revision)));
        format!("{run} ({told_by})")
    };
    let old = named(&change.after_run, &change.after_at, change.after_revision.as_deref());
    let new = named(&change.first_run, &change.first_at, change.first_revision.as_deref());
    format!("{word}: {} after {old}, from {new} on", size.signed_interval())
}

pub(super) fn short_revision(revision: Option<&str>) -> String {
    revision.unwrap_or_default().chars().take(REVISION_DIGITS).collect()
}

/// Four significant digits: `1.083`, `12,340` without the comma, `3.217e-9`.
pub(super) fn number(value: f64) -> String {
    let magnitude = if value == 0.0 || !value.is_finite() { 0.0 } else { value.abs().log10().floor() };
    if magnitude < -6.0 {
        return format!("{value:.3e}");
    }
    let decimals = (3.0 - magnitude).max(0.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_four_digits_however_small_it_is() {
        let texts = [0.0, 12_340.0, 1.083, 0.0625, 3.2171e-9].map(number);
        assert_eq!(texts, ["0.000", "12340", "1.083", "0.06250", "3.217e-9"]);
    }
}
