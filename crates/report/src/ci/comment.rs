//! Markdown for a comment on a pull request: the answer, a row per comparison, and the whole report folded away.

use crate::clean::escape_markdown as safe;
use crate::markdown;
use tare_analysis::format::{and, count, cut};
use tare_analysis::summary::{Comparison, CurrencyRatio, Mode, Summary, VerdictKind};

/// Bytes of a comment, up to which its table grows and the report is folded in. GitHub takes 65,536 characters, of which
/// a picture needs some.
const MOST: usize = 60_000;
/// Letters of the answer: a name in it may be of any length.
const MOST_OF_ANSWER: usize = 12_000;

/// Where a program that keeps pictures may put one.
const PICTURE_PLACE: &str = "<!-- picture -->";

/// The comment. Its first line marks it, so that a later run finds and replaces it.
pub fn render(summary: &Summary) -> String {
    let answer = cut(&summary.headline.text, MOST_OF_ANSWER);
    // All loads are of one suite.
    let (run, load) = (&summary.run, format!("load {}", summary.run.question));
    let subject = if run.mode == Mode::Load { &load } else { &run.suite };
    let mut out = format!("{}\n**{}**\n", mark(subject), safe(&answer));
    out.push_str(&first_lines(&table(summary), MOST.saturating_sub(out.len())));
    out.push_str(&format!("\n{PICTURE_PLACE}\n"));
    if let Some(power) = summary.check.as_ref().and_then(|check| check.power.as_ref()) {
        out.push_str(&format!("\n<sub>What this check could see: {}</sub>\n", safe(power)));
    }
    let rest = markdown::render(summary);
    if out.len() + rest.len() > MOST {
        let again = format!("tare report {}", summary.run.id);
        out.push_str(&format!("\nThe whole report is too long for a comment: `{again}`.\n"));
    } else {
        let title = safe(&format!("The whole report of run {}", summary.run.id));
        out.push_str(&format!("\n<details><summary>{title}</summary>\n\n{rest}\n</details>\n"));
    }
    out
}

/// A row per limit, or else per comparison.
fn table(summary: &Summary) -> String {
    if summary.check.is_some() {
        return markdown::limits_of_check(summary);
    }
    let head = "\n| scenario | variant | verdict | other measures |\n|---|---|---|---|\n";
    markdown::table(head, summary.comparisons.iter().map(|comparison| row(summary, comparison)))
}

/// The lines of a table that fit into this many bytes, and how many rows and notes the report has besides.
fn first_lines(table: &str, most: usize) -> String {
    let mut out = String::new();
    let mut left_out = [(0, "more row"), (0, "more note")];
    for line in table.split_inclusive('\n') {
        if left_out.iter().all(|(number, _)| *number == 0) && out.len() + line.len() <= most {
            out.push_str(line);
        } else if !line.trim().is_empty() {
            left_out[usize::from(!line.starts_with('|'))].0 += 1;
        }
    }
    let more = left_out.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| count(number, what));
    let more: Vec<String> = more.collect();
    if more.is_empty() { out } else { format!("{out}\nThe report has {}.\n", and(&more)) }
}

/// The line by which a comment about this suite or load is found again, and no comment about another one. Nothing in it ends it.
fn mark(subject: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._".contains(c);
    let letter = |c: char| if is_plain(c) { c.to_string() } else { c.escape_unicode().to_string() };
    format!("<!-- tare report of {} -->", subject.chars().map(letter).collect::<String>())
}

fn row(summary: &Summary, comparison: &Comparison) -> [String; 4] {
    let (verdict, others) = match comparison.currencies.split_first() {
        Some((first, others)) => (format!("{}: {}", first.label, first.short), others),
        None => ("void".to_owned(), [].as_slice()),
    };
    let others = others.iter().filter(|ratio| ratio.verdict != VerdictKind::Void);
    let changes = others.map(|ratio| change(comparison, ratio));
    let others: Vec<String> = changes.chain(comparison.cpu_cost.iter().map(|cost| cost.text.clone())).collect();
    [comparison.scenario_among(&summary.comparisons), comparison.variant.clone(), verdict, others.join("; ")]
}

/// `p99 at half load +4.7 % [+3.1, +6.2]`, with a question mark and the reason where it is not decided.
fn change(comparison: &Comparison, ratio: &CurrencyRatio) -> String {
    let (label, change) = (&ratio.label, ratio.change().signed_interval());
    match (ratio.verdict, comparison.untold(ratio)) {
        _ if ratio.bound.is_some() => format!("{label} {}", ratio.short),
        (_, Some(why)) => format!("{label} ? ({why})"),
        (VerdictKind::Inconclusive, None) => {
            // What more starts would show follows the reason.
            let reason = ratio.reason.iter().filter_map(|reason| reason.split("; ").next());
            format!("{label} {change} ?{}", reason.map(|why| format!(" ({why})")).collect::<String>())
        }
        _ => format!("{label} {change}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn suites_of_different_names_have_different_marks() {
        let names = ["api.toml", "api-v1.toml", "apiv1.toml", "api/v1.toml", "api v1.toml", "-->"];
        let marks: BTreeSet<String> = names.into_iter().map(mark).collect();
        assert_eq!(marks.len(), names.len(), "{marks:?}");
        assert!(marks.contains("<!-- tare report of api.toml -->"), "{marks:?}");
        assert!(marks.iter().all(|mark| mark.matches("--").count() == 2), "{marks:?}");
    }
}
