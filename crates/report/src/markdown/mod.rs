//! Markdown: the headline, verdicts, a table per scenario, noise and findings, for a pull request or a job's summary.

pub mod memory;

use crate::clean::escape_markdown as safe;
use crate::text::{OPEN, Sheet, cross_check, interval_legend, is_open, limits, severity_word};
use tare_analysis::Currency;
use tare_analysis::format::{Unit, capital, sentence, share, single};
use tare_analysis::summary::{Cell, Concern, Finding, Sentence, Summary, ValidityState, VerdictKind};

pub fn render(summary: &Summary) -> String {
    let run = &summary.run;
    let mut out = format!("**{}**\n\n{}\n", safe(&summary.headline.text), safe(&run.question));
    out.push_str(&limits_of_check(summary));
    // The headline of one comparison is its sentence. What is open in a check, its limits say.
    let is_told = |sentence: &&Sentence| match summary.check {
        Some(_) => sentence.verdict != VerdictKind::Inconclusive,
        None => summary.sentences.len() > 1,
    };
    let sentences = summary.sentences.iter().filter(is_told);
    let sentences: String = sentences.map(|sentence| format!("- {}\n", safe(&sentence.text))).collect();
    if !sentences.is_empty() {
        out.push_str(&format!("\n{sentences}"));
    }
    for panel in summary.panels() {
        out.push_str(&format!("\n## {} ({})\n\n", safe(&panel[0].scenario), safe(&panel[0].group)));
        out.push_str(&(figures(summary, &panel) + &tails(&panel)));
    }
    // Nothing that others wrote has a bar.
    if out.contains(" ? |") {
        out.push_str(&paragraph(sentence(OPEN)));
    }
    out.push_str(&interval_legend(summary).map_or(String::new(), |legend| format!("\n{}\n", safe(&sentence(&legend)))));
    out.push_str(&section(&cross_check::sheet(summary)));
    out.extend(cross_check::notes(summary).map(paragraph));
    for why in summary.profiles.iter().flat_map(|profiles| &profiles.whys) {
        out.push_str(&format!("\n## Why {} on {}\n\n", safe(&why.variant), safe(&why.scenario)));
        why.sentences.iter().for_each(|one| out.push_str(&format!("- {}\n", safe(&one.text))));
    }
    out.push_str(&noise(summary));
    if !summary.findings.is_empty() {
        out.push_str("\n## Findings\n\n");
        summary.findings.iter().for_each(|f| out.push_str(&finding(f)));
    }
    out.push_str(&format!("\n## How\n\n{}\n\nAgain:\n\n{}\n", how(summary), fenced(&run.command)));
    out
}

/// A table under the two lines of its head; nothing without rows. What others wrote is no markup in a cell.
pub(crate) fn table<Row: AsRef<[String]>>(head: &str, rows: impl IntoIterator<Item = Row>) -> String {
    let cells = |row: Row| row.as_ref().iter().map(|cell| safe(cell)).collect::<Vec<_>>().join(" | ");
    let rows: String = rows.into_iter().map(|row| format!("| {} |\n", cells(row))).collect();
    if rows.is_empty() { rows } else { format!("{head}{rows}") }
}

/// A table below its title; nothing without rows.
pub(crate) fn section(sheet: &Sheet) -> String {
    let title = if sheet.title.is_empty() { String::new() } else { format!("## {}\n\n", safe(&sheet.title)) };
    let head = format!("\n{title}| {} |\n|{}\n", sheet.columns.join(" | "), "---|".repeat(sheet.columns.len()));
    table(&head, sheet.rows.iter().map(|row| row.iter().map(|(_, cell)| cell.clone()).collect::<Vec<_>>()))
}

fn paragraph(line: impl AsRef<str>) -> String {
    format!("\n{}\n", safe(line.as_ref()))
}

pub(crate) fn limits_of_check(summary: &Summary) -> String {
    let of = |check| section(&limits::sheet(check)) + &limits::notes(check).map(paragraph).collect::<String>();
    summary.check.iter().map(of).collect()
}

fn figures(summary: &Summary, cells: &[&Cell]) -> String {
    let head = "| variant | verdict | throughput | CPU/request | allocated/request | p99 | valid |\n|---|---|--:|--:|--:|--:|---|\n";
    let row = |cell: &&Cell| {
        let verdict = match summary.comparison_of(cell).map(|c| c.currencies.first()) {
            Some(Some(first)) => first.short.as_str(),
            Some(None) => "void",
            None if cell.baseline => "baseline",
            None => "control (A/A)",
        };
        let figure = |currency: Currency| {
            let level = cell.level_in(currency)?.value;
            let mark = if is_open(summary, cell, currency) == Some(true) { " ?" } else { "" };
            Some(single(Unit::with_name(currency.facts().unit), level) + mark)
        };
        let figure = |currency| figure(currency).unwrap_or_else(|| "–".to_owned());
        [
            cell.variant.clone(),
            verdict.to_owned(),
            figure(Currency::Throughput),
            figure(Currency::CpuPerRequest),
            figure(Currency::AllocatedPerRequest),
            figure(Currency::LatencyP99),
            valid(cell),
        ]
    };
    table(head, cells.iter().map(row))
}

/// What the slow requests of each cell met, a line for each.
fn tails(cells: &[&Cell]) -> String {
    let lines =
        cells.iter().flat_map(|cell| cell.tail.iter().map(move |line| safe(&format!("{}: {line}", cell.variant))));
    let lines: String = lines.map(|line| format!("- {}\n", sentence(&line))).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn valid(cell: &Cell) -> String {
    let measures = cell.validity.doubtful_measures();
    let word = match cell.validity.state {
        ValidityState::Valid if measures.is_empty() => return "yes".to_owned(),
        ValidityState::Valid => {
            format!("suspect in {}", measures.into_iter().map(Concern::noun).collect::<Vec<_>>().join(" and "))
        }
        ValidityState::Suspect => "suspect".to_owned(),
        ValidityState::Void => "VOID".to_owned(),
    };
    format!("{word}: {}", cell.validity.joined_reasons())
}

fn noise(summary: &Summary) -> String {
    let one = |n: &tare_analysis::summary::Noise| {
        let floor = n.floor.map_or("no interval yet".to_owned(), |f| format!("±{}", share(f)));
        format!("{} on {}: {floor}", safe(&n.server), safe(&n.scenario))
    };
    let all: Vec<String> = summary.noise.iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!("\nNoise floor (A/A): {}\n", all.join(" · ")) }
}

fn finding(finding: &Finding) -> String {
    let word = capital(severity_word(finding.severity).1);
    let remedy = finding.remedy.as_ref().map(|r| format!(" *{}*", safe(&sentence(r)))).unwrap_or_default();
    let log = finding.log.as_ref().map(|log| format!("\n{}\n", fenced(log))).unwrap_or_default();
    format!("- **{word}: {}.** {}{remedy}\n{log}", safe(&finding.title), safe(&sentence(&finding.text)))
}

fn how(summary: &Summary) -> String {
    let facts = [format!("tare {} · run {} · {}", summary.run.tare_version, summary.run.id, summary.run.started_at)];
    let lines = facts.iter().chain(&summary.run.headline);
    lines.map(|line| safe(line)).collect::<Vec<_>>().join("  \n")
}

/// A code block whose fence is longer than any run of backticks inside it.
pub(crate) fn fenced(text: &str) -> String {
    let text = crate::clean::sanitize_lines(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}
