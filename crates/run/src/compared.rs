//! Forks of every group in turn, until each comparison is decided, the forks are done or the budget is spent.

use tare_plan::plan::Group;
use tare_record::checkpoint::{ComparisonState, DoneStep, GroupVerdicts};
use tare_record::{EndStatus, EventKind, EventName, EventRecord, RunRecord};

use crate::context::RunContext;
use crate::error::RunError;
use crate::fork::{is_hopeless, run_fork};
use crate::progress::{Progress, RunPosition};
use crate::schedule::{ForkSchedule, NextStep};
use crate::servers::report_unavailable;

/// Runs the whole plan and says how it ended.
pub(crate) fn run_compared(context: &mut RunContext<'_>) -> Result<EndStatus, RunError> {
    let plan = context.plan;
    let mut schedule = ForkSchedule::new(plan, &plan.groups);
    context.checkpoint.steps.iter().for_each(|step| schedule.note_step(step));
    for (at, group) in plan.groups.iter().enumerate() {
        report_unavailable(context, &group.variants, &group.id)?;
        let record = context.journal.record();
        if was_left_out(group, record) {
            schedule.run_out_of_time(at);
        } else if is_hopeless(group, record) {
            schedule.close(at);
        }
    }
    while let Some(step) = schedule.next_step(context.elapsed()) {
        let (at, group, fork) = match step {
            NextStep::Fork { at, group, fork } => (at, group, fork),
            NextStep::LeaveOut { group, left, needed } => {
                let (left_s, needed_s) = (left.as_secs(), needed.as_secs());
                let event = EventRecord::new(EventKind::GroupNotMeasured { left_s, needed_s });
                context.record_event(EventRecord { group: Some(group.id.clone()), ..event })?;
                continue;
            }
        };
        let begin = context.elapsed();
        let left = schedule.time_left(at, begin);
        let place = RunPosition { group: &group.id, fork, step: fork, of: schedule.fixed_forks(), left };
        run_fork(context, group, place)?;
        if context.bed.is_interrupted() {
            return Ok(EndStatus::Interrupted);
        }
        let taken_ns = context.elapsed().saturating_sub(begin).as_nanos() as u64;
        let (standing, forks_counted) = progress_of_group(context, group, place);
        let step = DoneStep { group: group.id.clone(), taken_ns, standing, forks_counted };
        schedule.note_step(&step);
        context.note_step(step)?;
        if is_hopeless(group, context.journal.record()) {
            schedule.close(at);
        }
    }
    Ok(if schedule.is_out_of_time { EndStatus::BudgetSpent } else { EndStatus::Complete })
}

/// Shows the comparisons of a group: one scenario may have changed what holds of another. Returns the group's standing,
/// and the forks that count in all open ones. Void comparisons are settled, and so is a group without any.
fn progress_of_group(context: &mut RunContext<'_>, group: &Group, place: RunPosition<'_>) -> (GroupVerdicts, u32) {
    let standings = context.standings(&group.id);
    context.journal.show(&Progress::Standing { place, standings: &standings });
    let record = context.journal.record();
    let is_void = |standing: &ComparisonState| {
        let is_void = |name: &str| record.is_void(&group.id, &standing.scenario, name);
        is_void(&standing.variant) || is_void(&group.baseline().name)
    };
    let is_open = |standing: &&ComparisonState| standing.reason_to_stop.is_none() && !is_void(standing);
    let open: Vec<&ComparisonState> = standings.iter().filter(is_open).collect();
    let forks_counted = open.iter().map(|standing| standing.forks).min().unwrap_or(0);
    let standing = match open.as_slice() {
        [] => GroupVerdicts::Settled,
        open if open.iter().all(|standing| standing.has_verdict) => GroupVerdicts::Answered,
        _ => GroupVerdicts::Open,
    };
    (standing, forks_counted)
}

/// Whether it is on record, from before an interruption, that a group was never measured.
fn was_left_out(group: &Group, record: &RunRecord) -> bool {
    let is_here = |event: &EventRecord| event.group.as_deref() == Some(&group.id);
    record.events.iter().any(|event| event.kind.name() == EventName::GroupNotMeasured && is_here(event))
}
