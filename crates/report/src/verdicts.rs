//! The verdicts of a run for a list of runs.

use tare_analysis::summary::{CheckResult, Summary, VerdictKind};
use tare_analysis::words::count_verdicts;

/// `2 worse, 1 not decided`, or what a check came to; `None` where nothing was compared.
pub fn verdicts_in_words(summary: &Summary) -> Option<String> {
    let verdicts: Vec<VerdictKind> = summary.sentences.iter().map(|sentence| sentence.verdict).collect();
    match summary.check.as_ref().map(|check| check.outcome) {
        Some(CheckResult::Holds) => Some("check passed".to_owned()),
        Some(CheckResult::Regressed) => Some("check: regressed".to_owned()),
        Some(CheckResult::Undecided) => Some("check: undecided".to_owned()),
        Some(CheckResult::Void) => Some("check: void".to_owned()),
        None => Some(count_verdicts(&verdicts)).filter(|words| !words.is_empty()),
    }
}
