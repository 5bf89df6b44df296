//! The verdicts of a run in a few words, for a list of runs.

use serde::Deserialize;

use tare_analysis::summary::{CheckResult, VerdictKind};

/// The part of a `summary.json` that is read.
#[derive(Deserialize)]
struct SummaryVerdicts {
    sentences: Vec<ComparisonVerdict>,
    /// Of a run with limits.
    check: Option<CheckOutcome>,
}

#[derive(Deserialize)]
struct CheckOutcome {
    outcome: CheckResult,
}

#[derive(Deserialize)]
struct ComparisonVerdict {
    verdict: VerdictKind,
}

/// The words of the verdicts, in the order of the text: decided ones first.
const VERDICT_WORDS: [(VerdictKind, &str); 6] = [
    (VerdictKind::Worse, "worse"),
    (VerdictKind::Better, "better"),
    (VerdictKind::NoMaterialDifference, "no difference"),
    (VerdictKind::Inconclusive, "inconclusive"),
    (VerdictKind::NoInterval, "without interval"),
    (VerdictKind::Void, "void"),
];

/// `2 worse, 1 inconclusive`, or what a check came to, from the text of a `summary.json`; `None` where that is no summary or
/// nothing was compared.
pub fn count_verdicts(summary_json: &str) -> Option<String> {
    let summary: SummaryVerdicts = serde_json::from_str(summary_json).ok()?;
    if let Some(check) = summary.check {
        let word = match check.outcome {
            CheckResult::Holds => "check passed",
            CheckResult::Regressed => "check: regressed",
            CheckResult::Undecided => "check: undecided",
            CheckResult::Void => "check: void",
        };
        return Some(word.to_owned());
    }
    let count = |kind| summary.sentences.iter().filter(|one| one.verdict == kind).count();
    let counts = VERDICT_WORDS.map(|(kind, word)| (count(kind), word)).into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted_and_what_is_known_comes_first() {
        let sentence = |verdict: &str| format!(r#"{{"comparison":"a","text":"b","verdict":"{verdict}"}}"#);
        let all = ["inconclusive", "worse", "worse", "void"].map(sentence).join(",");
        let counted = count_verdicts(&format!(r#"{{"schema":"x","sentences":[{all}],"cells":[]}}"#));
        assert_eq!(counted.as_deref(), Some("2 worse, 1 inconclusive, 1 void"));
        let check = format!(r#"{{"sentences":[{all}],"check":{{"outcome":"holds","limits":[]}}}}"#);
        assert_eq!(count_verdicts(&check).as_deref(), Some("check passed"), "a check is judged by its limits");
        assert_eq!(count_verdicts(r#"{"sentences":[]}"#), None);
        assert_eq!(count_verdicts("no JSON"), None);
    }
}
