//! A round in which all servers alternate, in short turns or one each: the speed of a core changes within tens of ms,
//! and turns are ten times as many as slices. A server's slice is the sum of its turns. Its CPU counts over the whole
//! round: what it compiles or collects meanwhile is its own cost.

use tare_load::SliceSample;
use tare_plan::plan::SliceKind;
use tare_plan::turn::Turns;

use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::test_bed::ServerId;
use crate::test_bed::slice::{SliceLoad, count_whole_if_slow};

/// Drives a round of slices of `load`, cut into `turns`: one of each member per entry of `orders`. Returns the members
/// whose slices it kept, in the record's order. Of an interrupted round it keeps none: they would be shorter than others.
pub(crate) fn drive_alternating(
    scenario: &mut ScenarioRun<'_, '_>,
    load: &SliceLoad,
    turns: Turns,
    orders: &[Vec<usize>],
) -> Result<Vec<usize>, RunError> {
    let driven: Vec<usize> = (0..scenario.members()).filter(|member| scenario.may_drive(*member)).collect();
    let ids: Vec<ServerId> = driven.iter().map(|member| scenario.server_state(*member).id).collect();
    scenario.context.bed.begin_watch(&ids, load.phase);
    // What each member has shown so far; `None` for members that get no load.
    let mut sums: Vec<Option<SliceSample>> = vec![None; scenario.members()];
    let mut silent = vec![false; sums.len()];
    for (number, order) in (0_u64..).zip(orders) {
        for member in order.iter().copied().filter(|member| driven.contains(member)) {
            if silent[member] || scenario.context.bed.is_interrupted() {
                continue;
            }
            // Each turn has arrivals of its own; those of the servers of one turn are alike.
            let seed = load.seed ^ (number << 16);
            let turn = SliceLoad { length: turns.length, discard: turns.discard, seed, ..*load };
            let mut sample = scenario.drive_load(member, &turn)?;
            if load.kind == SliceKind::Saturating && turn.length == load.length {
                count_whole_if_slow(&mut sample, turn.users, scenario.context.bed.elapsed_ns());
            }
            // A server that hangs would take the time of a whole drain in every turn.
            silent[member] = sample.completed_in_slice == 0;
            match &mut sums[member] {
                Some(sum) => sum.append_turn(&sample),
                none => *none = Some(sample),
            }
        }
    }
    let scored_from_ns = sums.iter().flatten().map(|sum| sum.window_start_ns()).min();
    let readings = scenario.context.bed.end_watch(scored_from_ns.unwrap_or(0));
    if scenario.context.bed.is_interrupted() {
        return Ok(Vec::new());
    }
    for (member, readings) in driven.iter().copied().zip(readings) {
        let sample = sums[member].take().unwrap_or_default();
        let slice = scenario.slice_record(member, load, sample, readings);
        scenario.keep_slice(member, slice)?;
    }
    Ok(driven)
}
