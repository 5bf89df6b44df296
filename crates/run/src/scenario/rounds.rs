//! What is scored of a scenario before its latency: saturated slices and slices at a fixed rate, randomly alternating.

use std::time::Duration;

use tare_plan::plan::{Mode, SliceKind, Slices};
use tare_plan::turn::Turns;
use tare_record::Phase;

use crate::context::FixedLoad;
use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::scenario::alternating_round::drive_alternating;
use crate::schedule::random_orders::RandomOrders;
use crate::test_bed::slice::SliceLoad;

/// The longest slice that shows what servers can do before they are profiled: those of a profile last up to minutes.
const LONGEST_BEFORE_PROFILE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq)]
enum RoundStep {
    Slice {
        kind: SliceKind,
        round: u32,
        member: usize,
    },
    /// Part of a round in which every member has some turns: for each turn, the order of the members.
    Alternate {
        round: u32,
        turns: Turns,
        orders: Vec<Vec<usize>>,
    },
}

/// The scored slices in their order. Kinds of rounds are mixed at random, and so are the members in each round or turn.
/// The plan's `counts` hold where no server has shown what is `fixed` for all forks.
fn round_steps(counts: &Slices, members: usize, fixed: Option<FixedLoad>, mut orders: RandomOrders) -> Vec<RoundStep> {
    let turns = fixed.and_then(|fixed| fixed.turns);
    let saturating = fixed.map_or(counts.saturating, |fixed| fixed.rounds);
    let rounds = [(SliceKind::Saturating, saturating), (SliceKind::Fixed, counts.fixed)];
    let rounds = rounds.into_iter().flat_map(|(kind, count)| (0..count).map(move |round| (kind, round)));
    let mut steps = Vec::new();
    for (kind, round) in orders.shuffled(rounds) {
        match turns.filter(|_| kind == SliceKind::Saturating) {
            Some(turns) => {
                let parts = turns.per_part();
                let first = round * parts.len() as u32;
                steps.extend((first..).zip(parts).map(|(round, count)| {
                    let orders = (0..count).map(|_| orders.shuffled(0..members)).collect();
                    RoundStep::Alternate { round, turns, orders }
                }));
            }
            None => {
                let members = orders.shuffled(0..members).into_iter();
                steps.extend(members.map(|member| RoundStep::Slice { kind, round, member }));
            }
        }
    }
    steps
}

/// Measures all rounds; the open ones at the rate that is `fixed`, none of them where it is not known.
pub(crate) fn measure_rounds(scenario: &mut ScenarioRun<'_, '_>, fixed: Option<FixedLoad>) -> Result<(), RunError> {
    let orders = scenario.random_orders("slices");
    let steps = round_steps(&scenario.plan().slices, scenario.members(), fixed, orders);
    let of = steps.len() as u32;
    for (number, step) in (1..).zip(steps) {
        match step {
            RoundStep::Slice { kind, round, member } => {
                // A closed loop has no rate.
                let is_closed = kind == SliceKind::Saturating;
                let rate_per_s = if is_closed { Some(0.0) } else { fixed.map(|fixed| fixed.rate_per_s) };
                let Some(rate_per_s) = rate_per_s.filter(|_| scenario.may_drive(member)) else { continue };
                scenario.announce(member, kind, (number, of));
                let load = scenario.load(kind, round, rate_per_s);
                scenario.measure_whole_slice(member, &load)?;
            }
            RoundStep::Alternate { round, turns, orders } => {
                scenario.announce_round(turns, (number, of));
                let load = scenario.load(SliceKind::Saturating, round, 0.0);
                drive_alternating(scenario, &load, turns, &orders)?;
            }
        }
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
