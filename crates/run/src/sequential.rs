//! The plain run: a fresh server for each cell, a fixed warm-up, then load for a fixed time; no intervals.

use std::time::Duration;

use tare_plan::estimate::cell_time;
use tare_plan::plan::{Group, NamedScenario, Variant};
use tare_record::EndStatus;
use tare_record::checkpoint::{DoneStep, GroupVerdicts};
use tare_record::cross_check::CrossCheckOutcome;

use crate::context::RunContext;
use crate::error::RunError;
use crate::fork::measure_scenario;
use crate::progress::RunPosition;
use crate::scenario::ScenarioRun;
use crate::servers::{ForkServers, report_unavailable};

/// One server of a group under one scenario.
type SequentialCell<'a> = (&'a Group, &'a NamedScenario, &'a Variant);

/// Runs every cell of the plan, one after another.
pub(crate) fn run_sequential(context: &mut RunContext<'_>) -> Result<EndStatus, RunError> {
    let plan = context.plan;
    let cells: Vec<SequentialCell<'_>> = plan.groups.iter().flat_map(cells_of).collect();
    let done = context.checkpoint.steps.len();
    for (index, (group, named, variant)) in cells.iter().copied().enumerate().skip(done) {
        let begin = context.elapsed();
        let left: Duration = cells[index..].iter().map(|(_, named, _)| cell_time(plan, named)).sum();
        let (step, of) = (index as u32 + 1, Some(cells.len() as u32));
        let place = RunPosition { group: &group.id, fork: 1, step, of, left };
        if index == done && variant.name != group.baseline().name {
            ask_baseline_again(context, group, named, place)?;
        }
        run_cell(context, named, variant, place)?;
        if context.bed.is_interrupted() {
            return Ok(EndStatus::Interrupted);
        }
        let taken_ns = context.elapsed().saturating_sub(begin).as_nanos() as u64;
        let group = group.id.clone();
        context.note_step(DoneStep { group, taken_ns, standing: GroupVerdicts::Open, forks_counted: 0 })?;
    }
    Ok(EndStatus::Complete)
}

fn cells_of(group: &Group) -> impl Iterator<Item = SequentialCell<'_>> {
    let of_scenario = move |named| group.variants.iter().map(move |variant| (group, named, variant));
    group.scenarios.iter().flat_map(of_scenario)
}

/// Asks the baseline of a scenario in the middle of which a run goes on: what it answered before is not on record, and the
/// servers to come must answer alike.
fn ask_baseline_again<'a>(
    context: &mut RunContext<'a>,
    group: &'a Group,
    named: &NamedScenario,
    place: RunPosition<'a>,
) -> Result<(), RunError> {
    let baseline = group.baseline();
    let is_void = context.journal.record().is_void(&group.id, &named.name, &baseline.name);
    if is_void || !named.scenario.compares_answers() {
        return Ok(());
    }
    let mut servers = ForkServers::start(context, [baseline], place)?;
    servers.verify(context, &[&named.name])?;
    // It gets no load, so that its start is none of the record.
    context.bed.servers().stop(&servers.ids());
    Ok(())
}

fn run_cell<'a>(
    context: &mut RunContext<'a>,
    named: &NamedScenario,
    variant: &'a Variant,
    place: RunPosition<'a>,
) -> Result<(), RunError> {
    report_unavailable(context, [variant], place.group)?;
    let mut servers = ForkServers::start(context, [variant], place)?;
    servers.verify(context, &[&named.name])?;
    if servers.healthy() > 0 {
        let mut scenario = ScenarioRun::open(context, &mut servers, named)?;
        measure_scenario(&mut scenario)?;
        scenario.close();
    }
    cross_check(context, &servers, named)?;
    servers.stop(context)
}

/// Lets every other load tool of the plan drive the cell that was just measured.
fn cross_check(context: &mut RunContext<'_>, servers: &ForkServers<'_>, named: &NamedScenario) -> Result<(), RunError> {
    let (plan, place) = (context.plan, servers.place);
    for member in &servers.members {
        for &engine in &plan.engines {
            if context.bed.is_interrupted() || !member.is_healthy() {
                break;
            }
            context.show_step(place, &format!("{}  {}  driven by {engine}", named.name, member.variant.name));
            let check = context.bed.cross_check(member.id, engine, named, &place)?;
            // A tool that Ctrl-C has ended has not failed.
            if !context.bed.is_interrupted() || matches!(check.outcome, CrossCheckOutcome::Measured(_)) {
                context.journal.append_cross_check(check)?;
            }
        }
    }
    Ok(())
}
