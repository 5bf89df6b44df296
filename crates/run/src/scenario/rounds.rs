//! What is scored of a scenario before its latency: saturated slices and slices at a fixed rate, randomly alternating.

use std::time::Duration;

use tare_plan::plan::{Mode, SliceKind};
use tare_record::Phase;

use crate::context::FixedLoad;
use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::scenario::alternating_round::drive_alternating;
use crate::test_bed::slice::SliceLoad;

/// The longest slice that shows what servers can do before they are profiled: those of a profile last up to minutes.
const LONGEST_BEFORE_PROFILE: Duration = Duration::from_secs(2);

/// Measures all rounds, the open ones at the rate that is `fixed`, and none of them where it is not known. Kinds of rounds
/// are mixed at random, and so are the members in each round or turn. The plan's numbers hold where no server has shown
/// what is `fixed` for all forks.
pub(crate) fn measure_rounds(scenario: &mut ScenarioRun<'_, '_>, fixed: Option<FixedLoad>) -> Result<(), RunError> {
    let (members, slices) = (scenario.members(), &scenario.plan().slices);
    let parts = fixed.and_then(|fixed| fixed.turns).map(|turns| (turns, turns.per_part()));
    let saturating = fixed.map_or(slices.saturating, |fixed| fixed.rounds);
    let of_saturating = parts.as_ref().map_or(members, |(_, counts)| counts.len()) as u32;
    let of = saturating * of_saturating + slices.fixed * members as u32;
    let rounds = [(SliceKind::Saturating, saturating), (SliceKind::Fixed, slices.fixed)];
    let rounds = rounds.into_iter().flat_map(|(kind, count)| (0..count).map(move |round| (kind, round)));
    let mut orders = scenario.random_orders("slices");
    let mut number = 0;
    for (kind, round) in orders.shuffled(rounds) {
        // A closed loop has no rate.
        let is_closed = kind == SliceKind::Saturating;
        let rate_per_s = if is_closed { Some(0.0) } else { fixed.map(|fixed| fixed.rate_per_s) };
        match parts.as_ref().filter(|_| is_closed) {
            Some((turns, counts)) => {
                // Every member has some turns in each part, and each turn has its own order.
                for (round, count) in (round * of_saturating..).zip(counts) {
                    let orders: Vec<_> = (0..*count).map(|_| orders.shuffled(0..members)).collect();
                    number += 1;
                    scenario.announce_round(*turns, (number, of));
                    let load = scenario.load(kind, round, 0.0);
                    drive_alternating(scenario, &load, *turns, &orders)?;
                }
            }
            None => {
                for member in orders.shuffled(0..members) {
                    number += 1;
                    let Some(rate_per_s) = rate_per_s.filter(|_| scenario.may_drive(member)) else { continue };
                    scenario.announce(member, kind, (number, of));
                    let load = scenario.load(kind, round, rate_per_s);
                    scenario.measure_whole_slice(member, &load)?;
                }
            }
        }
    }
    Ok(())
}

/// All slices of the only server, the last one too if it was cut short: it is paired with no other.
pub(crate) fn measure_cell(scenario: &mut ScenarioRun<'_, '_>) -> Result<(), RunError> {
    let plan = scenario.plan();
    let (slices, left) = (plan.slices.saturating, scenario.place.left);
    for round in 0..slices {
        if !scenario.may_drive(0) {
            break;
        }
        scenario.place.left = left.saturating_sub(plan.slices.length.0 * round);
        scenario.announce(0, SliceKind::Saturating, (round + 1, slices));
        let load = scenario.load(SliceKind::Saturating, round, 0.0);
        scenario.measure_slice(0, &SliceLoad { discard: Duration::ZERO, seed: plan.seed, ..load })?;
    }
    Ok(())
}

/// Measures one unscored slice of each server, in random order, on the cores where it will be scored. Returns the load
/// that follows from the slowest; `None` where it is a share of a capacity that no server has shown.
pub(crate) fn settle(scenario: &mut ScenarioRun<'_, '_>) -> Result<Option<FixedLoad>, RunError> {
    let mut load = SliceLoad { phase: Phase::Warmup, ..scenario.load(SliceKind::Saturating, u32::MAX, 0.0) };
    if scenario.plan().mode == Mode::Profiled {
        load.length = load.length.min(LONGEST_BEFORE_PROFILE);
    }
    let mut slowest: Option<f64> = None;
    for member in scenario.random_orders("settle").shuffled(0..scenario.members()) {
        if !scenario.may_drive(member) {
            continue;
        }
        let per_s = scenario.measure_slice(member, &load)?.load.throughput_per_s();
        if scenario.server_state(member).is_healthy() && per_s > 0.0 {
            slowest = Some(slowest.map_or(per_s, |slowest| slowest.min(per_s)));
        }
    }
    Ok(FixedLoad::of(scenario.plan(), slowest))
}
