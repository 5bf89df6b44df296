//! Profiles in the terminal: the sentences, then for each view the methods that differ or are hot.

use super::grid::shorten;
use super::{Sheet, Style};
use crate::palette::Tone;
use tare_analysis::format::{count, share};
use tare_analysis::profile::{cost, interval};
use tare_analysis::summary::{AcrossVersions, HotFrame, MovedFrame, ProfileView, Profiles};

/// Rows of a table in the terminal; the page has more.
const ROWS: usize = 12;
/// What a method's name may take of a line.
const NAME: usize = 64;

pub(super) fn profiles(profiles: &Profiles, style: &Style) -> String {
    let mut out = whys(profiles, style);
    for view in &profiles.views {
        out += &format!("\n{}\n", style.heading(&head(view)));
        out += &style.paragraph(Tone::Plain, &format!("  {}", facts(view, &profiles.focus)), 4);
        out += &if view.moved.is_empty() { hot(view, style) } else { moved(view, style) };
    }
    out += &profiles.versions.iter().map(|table| versions(table, style)).collect::<String>();
    out
}

pub(super) fn whys(profiles: &Profiles, style: &Style) -> String {
    let mut out = String::new();
    for why in &profiles.whys {
        out += &format!("\n{}\n", style.heading(&format!("why {} on {}", why.variant, why.scenario)));
        let sentences = why.sentences.iter().map(|one| style.paragraph(Tone::Plain, &format!("  {}", one.text), 2));
        out.extend(sentences);
    }
    out
}

fn head(view: &ProfileView) -> String {
    let against = view.baseline.as_ref().map_or(String::new(), |baseline| format!(" against {baseline}"));
    format!("{} of {}{against}, {}", view.event.name(), view.variant, view.scenario)
}

fn facts(view: &ProfileView, focus: &str) -> String {
    let samples = view.samples.map_or(String::new(), |samples| format!(" · {}", count(samples, "sample")));
    let coverage = view.coverage.map_or(String::new(), |c| format!(" · they stand for {} of its CPU", share(c)));
    let focus = view.focus_share.map_or(String::new(), |part| {
        let own = view.focus_own.map_or(String::new(), |own| format!(", by themselves {}", interval(own)));
        format!(" · frames of /{focus}/ hold {}{own}", interval(part))
    });
    let unsteady = view.forks - view.steady_forks.min(view.forks);
    let unsteady = if unsteady == 0 { String::new() } else { format!(" ({unsteady} not steady)") };
    let (starts, unwalked) = (count(view.forks.into(), "start"), share(view.failed_share));
    format!("{starts}{unsteady}{samples}{coverage} · {unwalked} could not be walked · {}{focus}", view.sampler)
}

fn moved(view: &ProfileView, style: &Style) -> String {
    let head = ["difference/request", "share", "in the baseline", "method, with all that it calls"];
    let row = |frame: &MovedFrame| {
        let tone = match (frame.certain, frame.difference.value > 0.0) {
            (false, _) => Tone::Undecided,
            (true, true) => Tone::Worse,
            (true, false) => Tone::Better,
        };
        let sign = if frame.difference.value < 0.0 { "−" } else { "+" };
        let certain = if frame.certain { "" } else { " ?" };
        let amount = format!("{sign}{}{certain}", cost(view, frame.difference.value));
        vec![
            (tone, amount),
            (Tone::Plain, interval(frame.share)),
            (Tone::Quiet, interval(frame.baseline_share)),
            (Tone::Plain, shorten(&frame.short, NAME)),
        ]
    };
    // Everything differs somewhere between root and leaf; the layer's own methods say most.
    let some_in_focus = view.moved.iter().any(|frame| frame.in_focus);
    let telling = view.moved.iter().filter(|frame| frame.in_focus || !some_in_focus);
    table(&head, telling.take(ROWS).map(row), style)
}

fn hot(view: &ProfileView, style: &Style) -> String {
    let head = ["own", "total", "own/request", "method", "mostly called by"];
    let row = |frame: &HotFrame| {
        vec![
            (Tone::Plain, interval(frame.own)),
            (Tone::Quiet, interval(frame.total)),
            (Tone::Plain, frame.own_per_request.map_or_else(|| "–".to_owned(), |own| cost(view, own))),
            (Tone::Plain, shorten(&frame.short, NAME)),
            (Tone::Quiet, shorten(frame.caller.as_deref().unwrap_or(""), NAME)),
        ]
    };
    table(&head, view.hot.iter().take(ROWS).map(row), style)
}

fn versions(table: &AcrossVersions, style: &Style) -> String {
    let title = format!("{} of {} by version, {}", table.event.name(), table.server, table.scenario);
    let mut head: Vec<&str> = table.versions.iter().map(String::as_str).collect();
    head.push("method");
    let rows = table.rows.iter().map(|row| {
        let mut cells: Vec<_> = row.shares.iter().map(|share| (Tone::Plain, interval(*share))).collect();
        cells.push((Tone::Plain, shorten(&row.short, NAME)));
        cells
    });
    format!("\n{}\n{}", style.heading(&title), self::table(&head, rows, style))
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<(Tone, String)>>, style: &Style) -> String {
    let sheet = Sheet::new("", head.iter().copied(), rows);
    if sheet.rows.is_empty() { "  no method stands out\n".to_owned() } else { sheet.text(style) }
}
