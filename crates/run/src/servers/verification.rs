//! Comparing the answers of servers with their contract, and with each other.

use std::time::Duration;

use tare_plan::plan::{Group, Program, Role, Variant};
use tare_record::{EventKind, EventRecord};
use tare_sut::contract::{CheckOutcome, header_differences};
use tare_sut::server::Status;

use crate::context::RunContext;
use crate::error::RunError;
use crate::progress::RunPosition;
use crate::servers::why_down;
use crate::test_bed::ServerId;

/// How often a server that left a question open is looked at, and the time between two looks.
const MOST_LOOKS: u32 = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Verifies servers, the baseline first. Each wrong answer is an event, and so is the end of a server that gave none.
pub(crate) fn verify_servers(
    context: &mut RunContext<'_>,
    servers: &[(ServerId, &Variant)],
    scenarios: &[&str],
    place: &RunPosition<'_>,
) -> Result<Vec<Vec<CheckOutcome>>, RunError> {
    let is_compared = |group: &Group| group.id == place.group && group.baseline().role == Role::Baseline;
    let has_baseline = context.plan.groups.iter().any(is_compared);
    let file = &context.plan.suite_file;
    let mut all = Vec::with_capacity(servers.len());
    for (server, variant) in servers {
        let mut outcomes = context.bed.verify(*server, scenarios)?;
        context.baseline_answers.hold_against(place.group, has_baseline, variant, &mut outcomes);
        let failed = || outcomes.iter().filter(|outcome| !outcome.passed);
        let open = failed().find(|outcome| outcome.answer.is_none());
        let down = open.and_then(|open| why_down_at(status_of_silent(context, *server), &open.check));
        let is_down = down.is_some();
        let is_of_suite = variant.program != Program::Catalog && !file.is_empty();
        let mismatch = |outcome: &CheckOutcome| EventKind::ContractMismatch {
            server: variant.server.clone(),
            suite_file: if is_of_suite { shell_words::quote(file).into_owned() } else { String::new() },
            check: outcome.check.clone(),
            difference: outcome.difference.clone(),
        };
        let wrong = failed().filter(|outcome| !is_down || outcome.answer.is_some());
        let kinds: Vec<EventKind> = wrong.map(mismatch).chain(down).collect();
        for kind in kinds {
            let failed = EventRecord { log: context.bed.servers().log_tail(*server), ..EventRecord::new(kind) };
            context.fork_event(failed, place, Some(&variant.name), None)?;
        }
        all.push(outcomes);
    }
    Ok(all)
}

/// Why a server of this state cannot answer, with the first check that it left open; `None` for one that runs.
fn why_down_at(status: Status, check: &str) -> Option<EventKind> {
    Some(match why_down(status)? {
        EventKind::ServerEnded { end } => EventKind::ServerEnded { end: format!("{end}, at the check {check}") },
        other => other,
    })
}

/// The state of a server that left a question open. The client sees its end a little before its supervisor does.
fn status_of_silent(context: &mut RunContext<'_>, server: ServerId) -> Status {
    for _ in 0..MOST_LOOKS {
        let status = context.bed.servers().status(server);
        if status != Status::Running {
            return status;
        }
        context.bed.servers().observe_rest(&[], BETWEEN_LOOKS);
    }
    context.bed.servers().status(server)
}

/// Reports headers that differ from the baseline's, a cost or a mistake, unless the contract allows other answers.
pub(crate) fn report_header_differences(
    context: &mut RunContext<'_>,
    answers: &[(&Variant, Vec<CheckOutcome>)],
    place: &RunPosition<'_>,
) -> Result<(), RunError> {
    let Some(((first, of_first), others)) = answers.split_first() else { return Ok(()) };
    if first.role != Role::Baseline {
        return Ok(());
    }
    for (variant, other) in others {
        let is_alike = |outcome: &&CheckOutcome| outcome.passed && outcome.because.is_none();
        let alike: Vec<CheckOutcome> = other.iter().filter(is_alike).cloned().collect();
        let differences: Vec<String> = header_differences(of_first, &alike).iter().map(ToString::to_string).collect();
        if !differences.is_empty() {
            let found = EventRecord::new(EventKind::HeadersDiffer { differences });
            context.fork_event(found, place, Some(&variant.name), None)?;
        }
    }
    Ok(())
}
