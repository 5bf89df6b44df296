//! The answer in sentences: what is known first, then how much is open.

use super::Style;
use crate::clean;
use crate::format::count;
use crate::palette::Tone;
use crate::summary::{Sentence, Summary, VerdictKind};

/// Sentences that stand above the table; it has the rest.
const SENTENCES: usize = 3;

pub(super) fn answer(summary: &Summary, style: &Style) -> String {
    let is_open = |sentence: &&Sentence| sentence.verdict == VerdictKind::Inconclusive;
    let (open, known): (Vec<&Sentence>, Vec<&Sentence>) = summary.sentences.iter().partition(is_open);
    let mut lines: Vec<(Tone, String)> =
        known.iter().take(SENTENCES).map(|one| (one.verdict.into(), clean::line(&one.text).to_string())).collect();
    let more = known.len().saturating_sub(SENTENCES) as u64;
    if more > 0 {
        lines.push((Tone::Plain, format!("And {}: see the table.", count(more, "more answer"))));
    }
    lines.extend(still_open(open.len(), summary.sentences.len()).map(|line| (Tone::Undecided, line)));
    lines.iter().map(|(tone, line)| style.paragraph(*tone, &format!("  {line}"), 4)).collect::<String>() + "\n"
}

fn still_open(open: usize, all: usize) -> Option<String> {
    match open {
        0 => None,
        _ if open == all => Some("Nothing is decided yet.".to_owned()),
        _ => Some(format!("Not decided yet: {open} of {}.", count(all as u64, "comparison"))),
    }
}
