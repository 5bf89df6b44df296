//! Comparing the answers of servers with their contract, and with each other.

use std::collections::BTreeMap;

use tare_plan::plan::{Role, Variant};
use tare_record::{EventKind, EventRecord};
use tare_sut::contract::{AgreedAnswer, CheckOutcome, GivenAnswer, header_differences};

use crate::context::RunContext;
use crate::error::RunError;
use crate::progress::RunPosition;
use crate::test_bed::ServerId;

/// What the baseline of each group answers where the contract states no body, by group and scenario. In a plain run
/// without a baseline, the first server takes its place.
#[derive(Debug, Default)]
pub(crate) struct BaselineAnswers(BTreeMap<(String, String), (String, GivenAnswer)>);

impl BaselineAnswers {
    /// Takes over the right answers of a baseline, and holds those of any other server against them.
    fn hold_against(&mut self, group: &str, variant: &Variant, outcomes: &mut [CheckOutcome]) {
        for outcome in outcomes.iter_mut().filter(|outcome| outcome.passed) {
            let Some(answer) = outcome.answer.as_ref().filter(|answer| answer.agreed().is_some()) else { continue };
            let key = (group.to_owned(), outcome.check.clone());
            match self.0.get(&key) {
                Some((baseline, theirs)) if variant.role != Role::Baseline => outcome.compare_with(baseline, theirs),
                _ => drop(self.0.insert(key, (variant.name.clone(), answer.clone()))),
            }
        }
    }

    /// What every server of a group must answer under load, where the contract does not say it.
    pub fn agreed(&self, group: &str, scenario: &str) -> Option<AgreedAnswer> {
        self.0.get(&(group.to_owned(), scenario.to_owned())).and_then(|(_, answer)| answer.agreed())
    }
}

/// Verifies servers, the baseline first. Each answer that differs from the contract, or from that of the baseline, is an
/// event.
///
/// # Errors
/// When the record cannot be written.
pub(crate) fn verify_servers(
    context: &mut RunContext<'_>,
    servers: &[(ServerId, &Variant)],
    scenarios: &[&str],
    place: &RunPosition<'_>,
) -> Result<Vec<Vec<CheckOutcome>>, RunError> {
    let mut all = Vec::with_capacity(servers.len());
    for (server, variant) in servers {
        let mut outcomes = context.bed.verify(*server, scenarios)?;
        context.baseline_answers.hold_against(place.group, variant, &mut outcomes);
        for outcome in outcomes.iter().filter(|outcome| !outcome.passed) {
            let kind = EventKind::ContractMismatch {
                server: variant.server.clone(),
                check: outcome.check.clone(),
                difference: outcome.difference.clone(),
            };
            let failed = EventRecord { log: context.bed.log_tail(*server), ..EventRecord::new(kind) };
            context.server_event(failed, place, &variant.name, None)?;
        }
        all.push(outcomes);
    }
    Ok(all)
}

/// Reports headers that differ between a variant and its baseline: they may be a cost, or a mistake of the benchmark.
/// Where the contract lets a variant answer otherwise, its headers may differ too.
///
/// # Errors
/// When the record cannot be written.
pub(crate) fn report_header_differences(
    context: &mut RunContext<'_>,
    answers: &[(&str, Vec<CheckOutcome>)],
    place: &RunPosition<'_>,
) -> Result<(), RunError> {
    let Some(((_, first), others)) = answers.split_first() else { return Ok(()) };
    for (name, other) in others {
        let is_alike = |outcome: &&CheckOutcome| outcome.passed && outcome.because.is_none();
        let alike: Vec<CheckOutcome> = other.iter().filter(is_alike).cloned().collect();
        let differences = header_differences(first, &alike);
        if !differences.is_empty() {
            let found = EventRecord::new(EventKind::HeadersDiffer { differences });
            context.server_event(found, place, name, None)?;
        }
    }
    Ok(())
}
