//! The plain run: a fresh server for each cell, a fixed warm-up, then load for so many seconds; no intervals.

use std::time::Duration;

use tare_plan::estimate::cell_time;
use tare_plan::plan::{Group, NamedScenario, SliceKind, Variant};
use tare_record::sample::EndStatus;

use crate::driver::Driver;
use crate::engine::cross_check;
use crate::error::RunError;
use crate::fleet::Fleet;
use crate::fork::Trial;
use crate::journal::Journal;
use crate::progress::Place;
use crate::slice::Order;

/// Runs every cell of the plan, one after another.
pub(crate) fn run<'a>(
    trial: &Trial<'a>,
    groups: &'a [Group],
    journal: &mut Journal<'_>,
) -> Result<EndStatus, RunError> {
    let cells: Vec<(&Group, &NamedScenario, &Variant)> = groups
        .iter()
        .flat_map(|group| group.scenarios.iter().flat_map(move |s| group.variants.iter().map(move |v| (group, s, v))))
        .collect();
    for (index, (group, named, variant)) in cells.iter().enumerate() {
        let left: Duration = cells[index..].iter().map(|(_, named, _)| cell_time(trial.yard.plan, named)).sum();
        let place = Place { group: &group.id, fork: 1, step: index as u32 + 1, of: Some(cells.len() as u32), left };
        run_cell(trial, named, variant, &place, journal)?;
        if trial.cancel.is_cancelled() {
            return Ok(EndStatus::Interrupted);
        }
    }
    Ok(EndStatus::Complete)
}

fn run_cell<'a>(
    trial: &Trial<'a>,
    named: &NamedScenario,
    variant: &'a Variant,
    place: &Place<'_>,
    journal: &mut Journal<'_>,
) -> Result<(), RunError> {
    trial.yard.report_missing([variant], place, journal)?;
    let mut fleet = Fleet::start(trial.yard, [variant], &trial.cores.server, place, journal)?;
    fleet.verify(trial.yard, &[&named.name], place, journal)?;
    if fleet.healthy() > 0 {
        let mut driver = Driver::open(trial, &mut fleet, named, place, journal)?;
        if let Some(push) = &named.scenario.push {
            driver.pushed(push)?;
        } else {
            driver.warm_up()?;
            driver.cell()?;
        }
    }
    for member in &fleet.members {
        cross_check(trial, member, named, place, journal)?;
    }
    fleet.stop(place, journal)
}

impl Driver<'_, '_, '_> {
    /// All slices of the only server, the last one too if it was cut short: it is paired with no other.
    fn cell(&mut self) -> Result<(), RunError> {
        let plan = self.plan();
        let (slices, left) = (plan.slices.saturating, self.place.left);
        let mut last_per_s = None;
        for round in 0..slices {
            if !self.may_drive(0) {
                break;
            }
            self.place.left = left.saturating_sub(plan.slices.length.0 * round);
            self.announce(0, SliceKind::Saturating, (round + 1, slices), last_per_s);
            let order = self.order(SliceKind::Saturating, round, 0.0);
            let order = Order { discard: Duration::ZERO, seed: plan.seed, ..order };
            last_per_s = Some(self.slice(0, &order)?.load.throughput_per_s());
        }
        Ok(())
    }
}
