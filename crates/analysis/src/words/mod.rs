//! The words of a summary: the headline and its sentences, findings, how far to trust them, and what to do next.

pub(crate) mod findings;
pub(crate) mod headline;
pub(crate) mod limit_words;
pub(crate) mod next_step;
pub(crate) mod tail;
pub(crate) mod trust;

pub use findings::of_load as findings_of_load;
pub use trust::trust;

use crate::summary::VerdictKind;

/// The verdicts in the order in which they are told, what is known first, each as it is counted.
const VERDICTS: [(VerdictKind, &str); 6] = [
    (VerdictKind::Worse, "worse"),
    (VerdictKind::Better, "better"),
    (VerdictKind::NoMaterialDifference, "no material difference"),
    (VerdictKind::NoInterval, "one start"),
    (VerdictKind::Inconclusive, "not decided"),
    (VerdictKind::Void, "void"),
];

/// `7 worse, 2 no material difference, 3 not decided`.
pub fn count_verdicts(verdicts: &[VerdictKind]) -> String {
    let number = |kind| verdicts.iter().filter(|verdict| **verdict == kind).count();
    let counts = VERDICTS.map(|(kind, word)| (number(kind), word)).into_iter().filter(|(number, _)| *number > 0);
    counts.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
}
