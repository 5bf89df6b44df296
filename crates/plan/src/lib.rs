//! Intent: a suite file, the flags and what is known of the servers become one explicit [`Plan`]. This crate is pure.
//! It reads text that others have loaded, and never a clock, a file or a socket.

pub mod agent_place;
pub mod choices;
pub mod condition;
pub mod contract;
pub mod currency;
pub mod document;
pub mod earlier;
pub mod estimate;
pub mod inventory;
pub mod load_plan;
pub mod names;
pub mod plan;
pub mod profile;
pub mod resolve;
pub mod settings;
pub mod slo;
pub mod suite;
pub mod turn;

pub use choices::{Engine, ForkCovers, GroupOrder, PriorUse, SchedulingPolicy, SliceKind};
pub use currency::{Currency, LatencyFigure, ratio_limit};
pub use load_plan::LoadPlan;
pub use plan::Plan;
pub use tare_sample::ServerClock;
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
