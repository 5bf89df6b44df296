//! The answer of a run in one to three sentences, whether it may be used, and what to do next.

use serde::{Deserialize, Serialize};

use super::{ValidityState, VerdictKind};

/// The answer: what is known first, then what is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// `http4s.Tapir uses 6.9 % more CPU per request than http4s.Vanilla on SimpleGet [0.1, 14.1].`
    pub text: String,
    pub verdict: VerdictKind,
}

/// Whether the figures of a run may be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// `valid`: use them; `suspect`: use them with care; `void`: do not use them.
    pub state: ValidityState,
    pub reasons: Vec<String>,
    pub warnings: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    pub command: String,
    pub text: String,
}
