//! Whether figures may be used: of a cell or load as a whole, and of each of its measures.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tare_plan::Currency;
use tare_units::named_values;

/// May the numbers of a cell, or of a load, be used?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// Of a cell, a doubt about one measure alone counts in [`Self::state_in`] only. Of a load, every doubt counts.
    pub state: ValidityState,
    pub reasons: Vec<Reason>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    pub text: String,
    /// What to do about it; `None` where nothing can be done.
    pub remedy: Option<String>,
    pub concerns: Concern,
}

/// The figures that a reason makes doubtful.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Concern {
    #[default]
    Everything,
    Throughput,
    CpuPerRequest,
    /// Percentiles of latency, and the capacity that is found by them.
    Latency,
}

named_values! {
    pub enum ValidityState: "a validity" {
        Valid = "valid",
        Suspect = "suspect",
        Void = "void",
    }
}

impl Validity {
    /// Of a cell with these doubts, which may be none.
    pub(crate) fn of_cell(reasons: Vec<Reason>) -> Self {
        let is_general = reasons.iter().any(|reason| reason.concerns == Concern::Everything);
        Self { state: if is_general { ValidityState::Suspect } else { ValidityState::Valid }, reasons }
    }

    /// Of a cell with one more doubt. What is void stays so for its own reasons.
    pub(crate) fn and(self, doubt: Reason) -> Self {
        match self.state {
            ValidityState::Void => self,
            _ => Self::of_cell(self.reasons.into_iter().chain([doubt]).collect()),
        }
    }

    /// Of a load, from that of its only cell and more doubts: each of them counts.
    pub(crate) fn of_load(cell: Self, more: impl Iterator<Item = Reason>) -> Self {
        let reasons: Vec<Reason> = cell.reasons.into_iter().chain(more).collect();
        let state = match cell.state {
            ValidityState::Void => ValidityState::Void,
            _ if reasons.is_empty() => ValidityState::Valid,
            _ => ValidityState::Suspect,
        };
        Self { state, reasons }
    }

    pub fn state_in(&self, currency: Currency) -> ValidityState {
        match self.state {
            ValidityState::Void => ValidityState::Void,
            _ if self.reasons.iter().any(|reason| reason.concerns.includes(currency)) => ValidityState::Suspect,
            _ => ValidityState::Valid,
        }
    }

    /// The measures that are doubtful by themselves, each once.
    pub fn doubtful_measures(&self) -> Vec<Concern> {
        let all = self.reasons.iter().map(|reason| reason.concerns).filter(|one| *one != Concern::Everything);
        all.collect::<BTreeSet<Concern>>().into_iter().collect()
    }

    /// The reasons without their remedies, separated by semicolons.
    pub fn joined_reasons(&self) -> String {
        self.reasons.iter().map(|reason| reason.text.as_str()).collect::<Vec<_>>().join("; ")
    }
}

impl Reason {
    /// A reason to doubt all numbers; an empty remedy is none.
    pub fn new(text: String, remedy: &str) -> Self {
        Self::about(Concern::Everything, text, remedy)
    }

    /// A reason to doubt these figures; an empty remedy is none.
    pub fn about(concerns: Concern, text: String, remedy: &str) -> Self {
        Self { text, remedy: (!remedy.is_empty()).then(|| remedy.to_owned()), concerns }
    }
}

impl Concern {
    pub const fn includes(self, currency: Currency) -> bool {
        match self {
            Self::Everything => true,
            Self::Throughput => matches!(currency, Currency::Throughput),
            Self::CpuPerRequest => matches!(currency, Currency::CpuPerRequest),
            Self::Latency => currency.is_latency() || matches!(currency, Currency::Capacity),
        }
    }

    /// As people are told: `latency`; nothing where it is everything.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Everything => "",
            Self::Throughput => "throughput",
            Self::CpuPerRequest => "CPU per request",
            Self::Latency => "latency",
        }
    }
}
