//! Findings in the terminal: errors and warnings below the table; all of them, with their remedies, on request.

use super::{Style, notes};
use crate::clean;
use crate::palette::Tone;
use tare_analysis::format::sentence;
use tare_analysis::summary::{Finding, Severity, Summary};

/// Errors, and warnings, that stand below the table.
const SHOWN: usize = 4;
const LOG_LINES: usize = 3;

/// The errors, each with its remedy and the end of its log, then the warnings.
pub(super) fn main_findings(summary: &Summary, style: &Style) -> String {
    let errors = of(summary, Severity::Error).take(SHOWN).map(|finding| one_finding(finding, LOG_LINES, style));
    let warnings = of(summary, Severity::Warning).take(SHOWN).map(|finding| painted(finding, &text(finding), style));
    errors.chain(warnings).collect()
}

/// How many findings the report for a terminal leaves out.
pub fn unshown_findings(summary: &Summary) -> usize {
    let shown = |severity| of(summary, severity).count().min(SHOWN);
    summary.findings.len() - shown(Severity::Error) - shown(Severity::Warning)
}

/// Facts of the run, every finding in full, then every reason why a figure is open or doubtful.
pub fn render_findings(summary: &Summary, style: &Style) -> String {
    let facts = summary.run.headline.iter().map(|line| style.paragraph(Tone::Quiet, &format!("  {line}"), 4));
    let findings = summary.findings.iter().map(|finding| one_finding(finding, usize::MAX, style));
    let none = if summary.findings.is_empty() { "  no findings\n" } else { "" };
    let reasons = notes::all_reasons(summary, style);
    let head = super::head(summary, style) + &facts.collect::<String>() + "\n";
    head + &findings.collect::<String>() + none + &reasons
}

fn of(summary: &Summary, severity: Severity) -> impl Iterator<Item = &Finding> {
    summary.findings.iter().filter(move |finding| finding.severity == severity)
}

pub(crate) const fn severity_word(severity: Severity) -> (Tone, &'static str) {
    match severity {
        Severity::Info => (Tone::Quiet, "note"),
        Severity::Warning => (Tone::Worse, "warning"),
        Severity::Error => (Tone::Void, "error"),
    }
}

fn text(finding: &Finding) -> String {
    let (_, word) = severity_word(finding.severity);
    format!("  {word:<7} {}: {}", finding.title, sentence(&finding.text))
}

fn painted(finding: &Finding, text: &str, style: &Style) -> String {
    let (tone, word) = severity_word(finding.severity);
    style.paragraph(Tone::Plain, text, 10).replacen(word, &tone.paint(style.colored, word), 1)
}

fn one_finding(finding: &Finding, log_lines: usize, style: &Style) -> String {
    let remedy = finding.remedy.as_ref().map(|remedy| format!(" {}", sentence(remedy))).unwrap_or_default();
    let log: Vec<&str> = finding.log.iter().flat_map(|log| log.lines()).collect();
    let end = &log[log.len().saturating_sub(log_lines)..];
    let log: String = end.iter().map(|line| format!("          │ {}\n", clean::sanitize_line(line))).collect();
    painted(finding, &(text(finding) + &remedy), style) + &Tone::Quiet.paint(style.colored, &log)
}
