//! What became of the conditions of a run or a load. Every form that knows failures takes them from here.

use super::{LimitResult, LimitVerdictKind, Summary, ThresholdResult, ValidityState};

/// A condition on which a run or a load fails, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionOutcome {
    /// Which condition: `new vs old: cpu > +3%`, `p99>5ms`.
    pub name: String,
    /// What it is about: the scenario, or the URL of a load.
    pub subject: String,
    /// Whether it was met.
    pub result: ConditionResult,
    /// What was measured, in words.
    pub text: String,
}

/// Whether a condition was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionResult {
    /// It was not: all is well.
    Passed,
    /// It was: this is a failure in every form. The text is what was measured.
    Failed(String),
    /// Nothing can be said yet, and why.
    Undecided(String),
    /// The figures may not be used, and why.
    Void(String),
}

impl Summary {
    /// The conditions of `tare check` or of a load's `--fail-if`, in their order; none where nothing was asked.
    pub fn conditions(&self) -> Vec<ConditionOutcome> {
        let limits = self.check.iter().flat_map(|check| &check.limits).map(of_limit);
        let asked = self.load.iter().flat_map(|load| &load.conditions).map(|condition| self.of_load(condition));
        limits.chain(asked).collect()
    }

    /// How many conditions were met; `None` where nothing was asked.
    pub fn failed_conditions(&self) -> Option<Vec<ConditionOutcome>> {
        let all = self.conditions();
        let is_failed = |one: &ConditionOutcome| matches!(one.result, ConditionResult::Failed(_));
        (!all.is_empty()).then(|| all.into_iter().filter(is_failed).collect())
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
