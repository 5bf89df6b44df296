//! The answer of a run in one to three sentences, whether it may be used, and what to do next.

use serde::{Deserialize, Serialize};

use super::{ValidityState, VerdictKind};
use tare_plan::Currency;

/// The answer: what is known first, then what is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headline {
    /// `http4s.Tapir uses 6.9 % more CPU per request than http4s.Vanilla on SimpleGet [0.1, 14.1].`
    pub text: String,
    /// What its first fact says, for colour and order.
    pub verdict: VerdictKind,
    /// What is decided, the strongest first.
    pub known: Vec<KnownFact>,
    /// What is not decided yet, in the order of the measures.
    pub open: Vec<OpenQuestion>,
}

/// What one measure has decided for one or more comparisons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownFact {
    /// The measure.
    pub currency: Currency,
    /// Its name for people, with the load where it has one: `p99 at half load`.
    pub label: String,
    /// `worse`, `better` or `no_material_difference`.
    pub verdict: VerdictKind,
    /// Ids of the comparisons.
    pub comparisons: Vec<String>,
    /// The smallest of their ratios.
    pub ratio_min: f64,
    /// The largest of their ratios.
    pub ratio_max: f64,
}

/// What one measure has not decided yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// The measure.
    pub currency: Currency,
    /// Its name for people.
    pub label: String,
    /// Ids of the comparisons.
    pub comparisons: Vec<String>,
}

/// Whether the figures of a run may be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// `valid`: use them; `suspect`: use them with care; `void`: do not use them.
    pub state: ValidityState,
    /// At most two reasons, the gravest first.
    pub reasons: Vec<String>,
    /// Findings that are warnings or errors.
    pub warnings: u32,
}

/// The one thing to do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    /// The command.
    pub command: String,
    /// What it answers.
    pub text: String,
}
