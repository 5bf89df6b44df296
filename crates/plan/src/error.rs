//! What can be wrong with what the user wrote, and what would be right.

use thiserror::Error;

/// Why a suite, a contract or a set of flags does not become a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The text is not the document it should be: syntax, an unknown key, a wrong type.
    #[error("{file}:{line}: {message}")]
    Document { file: String, line: usize, message: String },
    /// Its origin is the flag (`--budget`) or file and key (`my.toml: [run] budget`) that holds it.
    #[error("{origin}: {message}")]
    Value { origin: String, message: String },
    #[error("{origin}: no {kind} matches \"{pattern}\"{suggestion}; there are: {known}")]
    NoMatch { origin: String, kind: &'static str, pattern: String, suggestion: String, known: String },
    /// Each name is known, but nothing is left to measure.
    #[error("nothing to measure: {0}")]
    Empty(String),
}

impl PlanError {
    /// What is wrong with the value that `origin` holds: a flag, or a file and key.
    pub fn value(origin: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Value { origin: origin.into(), message: message.into() }
    }
}
