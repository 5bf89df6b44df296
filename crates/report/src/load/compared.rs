//! Two loads side by side, for a terminal and as Markdown.

use tare_analysis::format::{Change, Unit, grouped, rate, share, single};
use tare_analysis::load::{LoadDifferences, LoadFigureChange};
use tare_analysis::summary::LimitUnit;

use crate::clean::{escape_markdown, sanitize_line};
use crate::differences::environment_table;
use crate::palette::Tone;
use crate::text::{Grid, Style, wrap};

const HEADS: [&str; 5] = ["figure", "before", "after", "change", "beside the intervals of each load"];

/// Doubts, environment, then every figure.
pub fn render_differences(differences: &LoadDifferences, style: &Style) -> String {
    let palette = style.palette();
    let (before, after) = (&differences.before, &differences.after);
    let title = format!("tare compare · {} ({}) → {} ({})", before.url, before.started_at, after.url, after.started_at);
    let mut out = format!("{}\n\n", palette.paint(Tone::Head, &sanitize_line(&title)));
    for line in doubts(differences).iter().chain(&differences.notes) {
        out += &format!("{}\n", wrap(&format!("  {}", sanitize_line(line)), style.width, 2));
    }
    out += &environment_table(&differences.environment, style);
    let mut grid = Grid::default();
    let heads = HEADS.map(|head| (Tone::Quiet, head.to_owned()));
    grid.push(indented(heads.to_vec()));
    for change in &differences.figures {
        let cells = cells(change).map(|cell| (Tone::Plain, sanitize_line(&cell)));
        grid.push(indented(cells.to_vec()));
    }
    format!("{out}\n{}", grid.render(&palette))
}

/// The same as Markdown.
pub fn render_differences_markdown(differences: &LoadDifferences) -> String {
    let mut out = String::new();
    for line in doubts(differences).iter().chain(&differences.notes) {
        out += &format!("{}\n\n", escape_markdown(line));
    }
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    if !differences.environment.is_empty() {
        out += &row(&["what else differs".to_owned(), "before".to_owned(), "after".to_owned()]);
        out += "|---|---|---|\n";
    }
    for change in &differences.environment {
        let [before, after] = [&change.before, &change.after].map(|value| value.as_deref().unwrap_or("–"));
        let name = format!("{}: {}", change.section, change.key);
        out += &row(&[name.as_str(), before, after].map(escape_markdown));
    }
    out += &format!("\n{}|---|---|---|---|---|\n", row(&HEADS.map(str::to_owned)));
    for change in &differences.figures {
        out += &row(&cells(change).map(|cell| escape_markdown(&cell)));
    }
    out
}

fn indented(mut cells: Vec<(Tone, String)>) -> Vec<(Tone, String)> {
    if let Some((_, first)) = cells.first_mut() {
        first.insert_str(0, "  ");
    }
    cells
}

/// Why the numbers of a side are to be used with care.
fn doubts(differences: &LoadDifferences) -> Vec<String> {
    let sides = [("before", &differences.before), ("after", &differences.after)];
    let doubt = |(name, side): (&str, &tare_analysis::load::LoadSide)| {
        let state = side.verdict.state.name().to_uppercase();
        let reasons = side.verdict.reasons.iter().map(|reason| format!("{name} is {state}: {}", reason.text));
        reasons.collect::<Vec<_>>()
    };
    sides.into_iter().flat_map(doubt).collect()
}

fn cells(change: &LoadFigureChange) -> [String; 5] {
    let of = |value: Option<f64>| value.map_or("–".to_owned(), |value| shown(change.unit, value));
    let beside = match change.ranges_overlap() {
        None => String::new(),
        Some(true) => "no further apart than these".to_owned(),
        Some(false) => "further apart than these".to_owned(),
    };
    let ratio = change.ratio.map_or(String::new(), |ratio| Change { ratio, bounds: None }.short());
    [change.name.clone(), of(change.before), of(change.after), ratio, beside]
}

fn shown(unit: LimitUnit, value: f64) -> String {
    match unit {
        LimitUnit::Ns => single(Unit::Nanos, value),
        LimitUnit::Share => share(value),
        LimitUnit::Count => grouped(value as u64),
        LimitUnit::PerS => rate(value),
    }
}
