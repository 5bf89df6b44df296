//! What a run says of its limits (`tare check`).

use serde::{Deserialize, Serialize};

use tare_plan::Currency;

/// What a run says of all of its limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitCheck {
    pub outcome: CheckResult,
    /// One entry per limit and comparison, in the order of the limits.
    pub limits: Vec<LimitResult>,
    /// What the brackets of the limits mean; `null` where none has an interval.
    pub legend: Option<String>,
    /// What the run could see, said before it: `in 6 min, 8 starts show differences from 4 % on (…)`.
    pub power: Option<String>,
}

/// What all limits together come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    Holds,
    Regressed,
    /// No limit is exceeded, and at least one is void, or nothing was compared.
    Void,
    /// No limit is exceeded or void, and at least one is not judged.
    Undecided,
}

/// One limit held against one comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitResult {
    pub comparison: String,
    pub scenario: String,
    pub variant: String,
    pub baseline: String,
    pub currency: Currency,
    pub label: String,
    pub limit: String,
    pub limit_ratio: f64,
    pub ratio: Option<f64>,
    /// Lower end of its interval of error probability 2 α, by which the limit holds or not.
    pub lo: Option<f64>,
    pub hi: Option<f64>,
    /// The change in few words: `+9.7 % [+7.5, +11.9]`, `not measured`.
    pub short: String,
    pub verdict: LimitVerdictKind,
    pub reason: Option<String>,
    /// With undecided: how much longer it would have taken, about.
    pub needed_s: Option<f64>,
}

/// What an interval says of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitVerdictKind {
    Regressed,
    /// The limit holds, and the whole interval lies on the good side of "no difference".
    Improved,
    NoMaterialChange,
    /// It cannot be judged: one of the builds failed, or answered wrongly.
    Void,
    Undecided,
}

impl LimitVerdictKind {
    /// In words: `no material change`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::NoMaterialChange => "no material change",
            Self::Void => "void",
            Self::Undecided => "undecided",
        }
    }
}

impl LimitCheck {
    pub fn with_verdict(&self, verdict: LimitVerdictKind) -> Vec<&LimitResult> {
        self.limits.iter().filter(|limit| limit.verdict == verdict).collect()
    }
}
