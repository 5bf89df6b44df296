//! A scenario in which the server sends: all users listen, and the delay of each message is measured. One slice lasts as
//! long as its messages, so variants take turns in minutes.

use std::time::Duration;

use tare_load::Sending;
use tare_plan::contract::Push;
use tare_plan::plan::{SliceKind, Warmup};
use tare_record::Phase;
use tare_units::clock_text;

use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::test_bed::slice::SliceLoad;

/// A server may be slower by this factor than its period says before its messages count as missing.
const SLOWEST_FACTOR: u32 = 2;

/// Warms up each server in turn with all users listening. The servers are then on the cores where they will be measured.
pub(crate) fn warm_up_listeners(scenario: &mut ScenarioRun<'_, '_>) -> Result<(), RunError> {
    scenario.servers.move_to(&mut *scenario.context.bed, &scenario.context.cores.warmup);
    for member in 0..scenario.members() {
        if scenario.may_drive(member) {
            warm_up_one(scenario, member)?;
        }
    }
    scenario.servers.move_to(&mut *scenario.context.bed, &scenario.context.cores.server);
    Ok(())
}

/// Lasts the whole cap: pushing costs too little CPU to see it settle.
fn warm_up_one(scenario: &mut ScenarioRun<'_, '_>, member: usize) -> Result<(), RunError> {
    let (Warmup::UntilSteady { cap: span, .. } | Warmup::Fixed { span, .. }) = scenario.plan().warmup;
    scenario.show(&format!("warming up 0:00 of ≤ {}", clock_text(span.0)));
    let load = SliceLoad { phase: Phase::Warmup, ..listening_load(scenario, 0, span.0) };
    let begin_ns = scenario.context.bed.elapsed_ns();
    scenario.measure_slice(member, &load)?;
    let span_ns = scenario.context.bed.elapsed_ns() - begin_ns;
    scenario.record_warmup(member, span_ns, None)
}

/// Measures rounds of one slice of each server, in random order.
pub(crate) fn measure_pushes(scenario: &mut ScenarioRun<'_, '_>, push: &Push) -> Result<(), RunError> {
    let plan = scenario.plan();
    let mut orders = scenario.random_orders("pushes");
    for round in 0..plan.slices.push {
        for member in orders.shuffled(0..scenario.members()) {
            if scenario.may_drive(member) {
                scenario.announce(member, SliceKind::Push, (round + 1, plan.slices.push));
                let load = listening_load(scenario, round, push.span().0 * SLOWEST_FACTOR + plan.load.timeout.0);
                scenario.measure_whole_slice(member, &load)?;
            }
        }
    }
    Ok(())
}

/// A slice of `length` in which all users listen.
pub(crate) fn listening_load(scenario: &ScenarioRun<'_, '_>, round: u32, length: Duration) -> SliceLoad {
    SliceLoad {
        length,
        discard: Duration::ZERO,
        seed: scenario.plan().seed,
        sending: Sending::Exact,
        ..scenario.load(SliceKind::Push, round, 0.0)
    }
}
