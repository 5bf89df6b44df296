//! What can be wrong with what the user wrote, and what would be right.

use thiserror::Error;

/// Why a suite, a contract or a set of flags does not become a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The text is not the document it should be: syntax, an unknown key, a wrong type.
    #[error("{file}:{line}: {message}")]
    Document {
        /// File as the user named it.
        file: String,
        /// 1-based line.
        line: usize,
        /// What is wrong there, and the nearest thing that would be right.
        message: String,
    },
    /// A value is well-formed but means nothing here.
    #[error("{origin}: {message}")]
    Value {
        /// The flag (`--budget`) or file and key (`my.toml: [run] budget`) that holds it.
        origin: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A name or glob matches nothing that exists.
    #[error("{origin}: no {kind} matches \"{pattern}\"{suggestion}; there are: {known}")]
    NoMatch {
        /// The flag or key that holds the pattern.
        origin: String,
        /// "server" or "scenario".
        kind: &'static str,
        /// What was asked for.
        pattern: String,
        /// `; did you mean "…"?` or nothing.
        suggestion: String,
        /// Everything that exists, comma separated.
        known: String,
    },
    /// Each name is known, but nothing is left to measure.
    #[error("nothing to measure: {0}")]
    Empty(String),
}
