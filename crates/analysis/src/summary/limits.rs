//! What a run says of its limits (`tare check`), and what became of all conditions of a run or a load.

use serde::{Deserialize, Serialize};

use super::{Summary, ThresholdResult, ValidityState, VerdictKind};
use tare_plan::Currency;
use tare_units::distinct;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitCheck {
    pub outcome: CheckResult,
    pub limits: Vec<LimitResult>,
    pub legend: Option<String>,
    pub power: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    Holds,
    Regressed,
    Void,
    Undecided,
}

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
    pub lo: Option<f64>,
    pub hi: Option<f64>,
    pub short: String,
    pub verdict: LimitVerdictKind,
    pub reason: Option<String>,
    pub needed_s: Option<f64>,
}

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

    /// The verdict of a comparison that says the same.
    pub const fn of_comparison(self) -> VerdictKind {
        match self {
            Self::Regressed => VerdictKind::Worse,
            Self::Improved => VerdictKind::Better,
            Self::NoMaterialChange => VerdictKind::NoMaterialDifference,
            Self::Void => VerdictKind::Void,
            Self::Undecided => VerdictKind::Inconclusive,
        }
    }
}

impl LimitCheck {
    pub fn with_verdict(&self, verdict: LimitVerdictKind) -> Vec<&LimitResult> {
        self.limits.iter().filter(|limit| limit.verdict == verdict).collect()
    }
}

/// A condition on which a run or a load fails, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionOutcome {
    /// Which condition: `new vs old: cpu > +3%`, `p99>5ms`.
    pub name: String,
    /// What it is about: the scenario, with its group where several have these names, or the URL of a load.
    pub subject: String,
    pub result: ConditionResult,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionResult {
    Passed,
    /// The text is what was measured.
    Failed(String),
    Undecided(String),
    Void(String),
}

impl Summary {
    /// The conditions of `tare check` or of a load's `--fail-if`, in their order, each once.
    pub fn conditions(&self) -> Vec<ConditionOutcome> {
        let limits = self.check.iter().flat_map(|check| &check.limits).map(of_limit);
        let asked = self.load.iter().flat_map(|load| &load.conditions).map(|condition| self.of_load(condition));
        distinct(limits.chain(asked))
    }

    /// `None` where nothing was asked, or where none was met and one is void: it may have been.
    pub fn failed_conditions(&self) -> Option<Vec<ConditionOutcome>> {
        let all = self.conditions();
        let is_failed = |one: &ConditionOutcome| matches!(one.result, ConditionResult::Failed(_));
        let is_void = |one: &ConditionOutcome| matches!(one.result, ConditionResult::Void(_));
        let is_known = !all.is_empty() && (all.iter().any(is_failed) || !all.iter().any(is_void));
        is_known.then(|| all.into_iter().filter(is_failed).collect())
    }

    fn of_load(&self, condition: &ThresholdResult) -> ConditionOutcome {
        let void = self.cells.iter().find(|cell| cell.validity.state == ValidityState::Void);
        let text = condition.text();
        let result = match void {
            _ if condition.failed => ConditionResult::Failed(text.clone()),
            Some(cell) => ConditionResult::Void(cell.validity.joined_reasons()),
            None => ConditionResult::Passed,
        };
        let subject = self.cells.first().map(|cell| cell.variant.clone()).unwrap_or_default();
        ConditionOutcome { name: condition.condition.clone(), subject, result, text }
    }
}

fn of_limit(limit: &LimitResult) -> ConditionOutcome {
    let why = limit.reason.as_ref().unwrap_or(&limit.short).clone();
    let result = match limit.verdict {
        LimitVerdictKind::Regressed => ConditionResult::Failed(why),
        LimitVerdictKind::Void => ConditionResult::Void(why),
        LimitVerdictKind::Undecided => ConditionResult::Undecided(why),
        LimitVerdictKind::Improved | LimitVerdictKind::NoMaterialChange => ConditionResult::Passed,
    };
    let name = format!("{} vs {}: {}", limit.variant, limit.baseline, limit.limit);
    let text = format!("{}: {} {}", limit.label, limit.short, limit.verdict.name());
    ConditionOutcome { name, subject: limit.scenario.clone(), result, text }
}

impl ThresholdResult {
    /// `p99>5ms: measured 7.2 ms`, or why there is no figure.
    pub fn text(&self) -> String {
        format!("{}: {}{}", self.condition, self.verb(), self.measured)
    }

    /// `measured `, if there is a figure.
    pub fn verb(&self) -> &'static str {
        if self.measured.starts_with(|first: char| first.is_ascii_digit()) { "measured " } else { "" }
    }
}
