//! What the baselines of a run answer: the other servers of their groups must answer alike.

use std::collections::BTreeMap;

use tare_plan::plan::{Role, Variant};
use tare_sut::contract::{CheckOutcome, GivenAnswer};

/// What the baseline of each group, or else its first server, answers where the contract states no body.
#[derive(Debug, Default)]
pub(crate) struct BaselineAnswers(BTreeMap<(String, String), (String, GivenAnswer)>);

impl BaselineAnswers {
    /// Takes over a baseline's right answers, and holds other servers against them. One that did not start has none.
    pub fn hold_against(&mut self, group: &str, has_baseline: bool, variant: &Variant, outcomes: &mut [CheckOutcome]) {
        let is_baseline = variant.role == Role::Baseline;
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.passed) {
            let Some(answer) = outcome.answer.as_ref().filter(|answer| answer.is_compared()) else { continue };
            let key = (group.to_owned(), outcome.check.clone());
            match self.0.get(&key) {
                Some((baseline, theirs)) if !is_baseline => outcome.compare_with(baseline, theirs),
                None if has_baseline && !is_baseline => {}
                _ => drop(self.0.insert(key, (variant.name.clone(), answer.clone()))),
            }
        }
    }

    /// What every server of a group must answer under load, where the contract does not say it.
    pub fn agreed(&self, group: &str, scenario: &str) -> Option<&GivenAnswer> {
        self.0.get(&(group.to_owned(), scenario.to_owned())).map(|(_, answer)| answer)
    }
}
