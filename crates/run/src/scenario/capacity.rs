//! The search for the largest load that keeps a latency objective: each server is tried in turn, at a load that follows
//! from its tries so far.

use tare_plan::plan::SliceKind;
use tare_plan::slo::{LoadBy, Slo};
use tare_record::curve::{keeps_curve, start_search};
use tare_stats::CapacitySearch;

use crate::error::RunError;
use crate::scenario::ScenarioRun;
use crate::test_bed::slice::SliceLoad;

/// One search for each server of a fork.
pub(crate) struct CapacitySearches<'p> {
    slo: &'p Slo,
    by: LoadBy,
    searches: Vec<CapacitySearch>,
}

impl<'p> CapacitySearches<'p> {
    /// Searches in which nothing was tried.
    pub fn new(slo: &'p Slo, scenario: &ScenarioRun<'_, '_>) -> Self {
        let by = slo.grows_by(&scenario.named.scenario);
        let search = start_search(slo, by, scenario.least_users());
        Self { slo, by, searches: vec![search; scenario.members()] }
    }

    /// Tries each healthy server in turn until every search is over: in rounds, each in random order.
    pub fn run(mut self, scenario: &mut ScenarioRun<'_, '_>) -> Result<(), RunError> {
        let mut orders = scenario.random_orders("tries");
        let mut round = 0;
        while self.try_each(scenario, orders.shuffled(0..scenario.members()), round)? {
            round += 1;
        }
        Ok(())
    }

    /// One try of each server whose search continues, in this order; false if there was none.
    fn try_each(
        &mut self,
        scenario: &mut ScenarioRun<'_, '_>,
        order: Vec<usize>,
        round: u32,
    ) -> Result<bool, RunError> {
        let mut has_tried = false;
        for member in order {
            let search = &mut self.searches[member];
            let Some(amount) = search.next_load().filter(|_| scenario.may_drive(member)) else { continue };
            has_tried = true;
            scenario.announce(member, SliceKind::Capacity, (round + 1, round + 1));
            let load = try_load(self.slo, self.by, scenario, round, amount);
            if let Some(slice) = scenario.measure_whole_slice(member, &load)? {
                search.note_outcome(keeps_curve(self.slo, slice));
            }
        }
        Ok(has_tried)
    }
}

/// The slice that tries an amount of load: users, or requests per second.
fn try_load(slo: &Slo, by: LoadBy, scenario: &ScenarioRun<'_, '_>, round: u32, amount: f64) -> SliceLoad {
    let load = SliceLoad { length: slo.each.0, ..scenario.load(SliceKind::Capacity, round, 0.0) };
    match by {
        LoadBy::Users => SliceLoad { users: amount.round() as u32, ..load },
        LoadBy::Rate => SliceLoad { rate_per_s: amount, ..load },
    }
}
