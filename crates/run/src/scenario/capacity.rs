//! The search for the largest load that keeps a latency objective: each server is tried in turn, at a load that follows
//! from its tries so far.

use tare_plan::plan::SliceKind;
use tare_plan::slo::{LoadBy, Slo};
use tare_record::curve::{keeps_curve, start_search};

use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::test_bed::slice::SliceLoad;

/// Tries each healthy server in turn until every search is over: in rounds, each in random order.
pub(crate) fn search_capacity(scenario: &mut ScenarioRun<'_, '_>, slo: &Slo) -> Result<(), RunError> {
    let by = slo.grows_by(&scenario.named.scenario);
    let mut searches = vec![start_search(slo, by, scenario.context.bed.least_users()); scenario.members()];
    let mut orders = scenario.random_orders("tries");
    let (mut round, mut has_tried) = (0, true);
    while has_tried {
        has_tried = false;
        for member in orders.shuffled(0..scenario.members()) {
            let search = &mut searches[member];
            let Some(amount) = search.next_load().filter(|_| scenario.may_drive(member)) else { continue };
            has_tried = true;
            scenario.announce(member, SliceKind::Capacity, (round + 1, round + 1));
            let load = try_load(slo, by, scenario, round, amount);
            if let Some(slice) = scenario.measure_whole_slice(member, &load)? {
                search.note_outcome(keeps_curve(slo, slice));
            }
        }
        round += 1;
    }
    Ok(())
}

/// The slice that tries an amount of load: users, or requests per second.
fn try_load(slo: &Slo, by: LoadBy, scenario: &ScenarioRun<'_, '_>, round: u32, amount: f64) -> SliceLoad {
    let load = SliceLoad { length: slo.each.0, ..scenario.load(SliceKind::Capacity, round, 0.0) };
    match by {
        LoadBy::Users => SliceLoad { users: amount.round() as u32, ..load },
        LoadBy::Rate => SliceLoad { rate_per_s: amount, ..load },
    }
}
