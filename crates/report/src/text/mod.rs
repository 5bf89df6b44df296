//! The terminal report: headlines, a table per scenario, the noise floor, findings. Where the full report lies is for the command line to say.

mod capacity;
mod cross_check;
mod grid;
mod ladder;
mod messages;
mod profile;
mod table;

use crate::clean;
use crate::format::{sentence, share};
use crate::palette::{Palette, Tone};
use crate::summary::{Cell, Finding, Mode, RunStatus, Severity, Summary};
pub(crate) use cross_check::shown;
use grid::shorten;
pub(crate) use grid::wrap;

/// How the terminal report is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Colours, or none for files, pipes and `NO_COLOR`.
    pub colored: bool,
    /// Columns of the terminal.
    pub width: usize,
}

impl Style {
    pub(crate) fn palette(&self) -> Palette {
        Palette::new(self.colored)
    }
}

/// The whole report for a terminal.
pub fn render(summary: &Summary, style: &Style) -> String {
    let mut out = head(summary, style);
    for cells in tables(summary) {
        out.push('\n');
        out.push_str(&table::table(summary, &cells, style));
    }
    out.push_str(&cross_check::cross_checks(summary, style));
    out.push('\n');
    out.push_str(&summary.ladders.iter().map(|one| ladder::ladder(one, style)).collect::<String>());
    out.push_str(&summary.profiles.iter().map(|profiles| profile::profiles(profiles, style)).collect::<String>());
    out.push_str(&noise(summary));
    out.push_str(&findings(summary, style));
    out
}

fn head(summary: &Summary, style: &Style) -> String {
    let run = &summary.run;
    let status = match run.status {
        RunStatus::Complete => String::new(),
        RunStatus::BudgetSpent => " · the budget was spent first".to_owned(),
        RunStatus::Interrupted => " · interrupted".to_owned(),
        RunStatus::Partial => " · partial".to_owned(),
    };
    let mut out = style.palette().paint(Tone::Head, &format!("tare · {}{status}", clean::line(&run.id))) + "\n";
    for line in &run.headline {
        out.push_str(&wrap(&format!("  {}", clean::line(line)), style.width, 4));
        out.push('\n');
    }
    out
}

/// Cells of one group and scenario each, in the order of the summary; the control stands in the noise line instead.
fn tables(summary: &Summary) -> Vec<Vec<&Cell>> {
    let mut tables: Vec<Vec<&Cell>> = Vec::new();
    let itself = |cell: &Cell| summary.comparisons.iter().any(|c| c.cell == cell.id);
    for cell in summary.cells.iter().filter(|c| !c.control || itself(c)) {
        match tables.last_mut().filter(|t| (&t[0].group, &t[0].scenario) == (&cell.group, &cell.scenario)) {
            Some(table) => table.push(cell),
            None => tables.push(vec![cell]),
        }
    }
    tables
}

fn noise(summary: &Summary) -> String {
    let floor = summary
        .noise
        .iter()
        .filter_map(|n| n.floor)
        .fold(None, |most: Option<f64>, f| Some(most.map_or(f, |m| m.max(f))));
    match floor {
        Some(floor) => format!("  noise floor (A/A, same server twice): ±{}\n", share(floor)),
        None if matches!(summary.run.mode, Mode::Sequential | Mode::Profiled) => String::new(),
        None if summary.noise.is_empty() => "  noise floor: not measured (no A/A control)\n".to_owned(),
        None => "  noise floor (A/A, same server twice): no interval yet\n".to_owned(),
    }
}

fn findings(summary: &Summary, style: &Style) -> String {
    summary.findings.iter().map(|finding| one_finding(finding, style)).collect()
}

fn one_finding(finding: &Finding, style: &Style) -> String {
    let (tone, word) = match finding.severity {
        Severity::Info => (Tone::Quiet, "note"),
        Severity::Warning => (Tone::Worse, "warning"),
        Severity::Error => (Tone::Void, "error"),
    };
    let remedy = finding.remedy.as_ref().map(|r| format!(" {}", sentence(&clean::line(r)))).unwrap_or_default();
    let text =
        format!("  {word:<7} {}: {}{remedy}", clean::line(&finding.title), sentence(&clean::line(&finding.text)));
    // What asks for nothing takes one line here; the full report has the rest.
    let brief = finding.severity == Severity::Info && finding.remedy.is_none();
    let text = if brief { shorten(&text, style.width) } else { wrap(&text, style.width, 10) };
    let log: String =
        finding.log.iter().flat_map(|log| log.lines()).map(|l| format!("          │ {}\n", clean::line(l))).collect();
    let painted = text.replacen(word, &style.palette().paint(tone, word), 1);
    format!("{painted}\n{}", style.palette().paint(Tone::Quiet, &log))
}
