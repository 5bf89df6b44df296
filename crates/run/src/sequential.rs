//! The plain run of the seeds: a fresh server for each cell, a fixed warm-up, then load for so many seconds; no intervals.

use std::time::Duration;

use tare_load::Sending;
use tare_plan::estimate::cell_time;
use tare_plan::plan::{Group, NamedScenario, SliceKind, Variant};
use tare_record::sample::{EndStatus, Phase};

use crate::engine::cross_check;
use crate::error::RunError;
use crate::fleet::Fleet;
use crate::fork::Trial;
use crate::journal::Journal;
use crate::progress::{Place, Progress};
use crate::slice::{Order, Slot, drive};
use crate::warmup::warm_up;

/// Runs every cell of the plan, one after another.
pub(crate) fn run<'a>(
    trial: &mut Trial<'a>,
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
    trial: &mut Trial<'a>,
    named: &NamedScenario,
    variant: &'a Variant,
    place: &Place<'_>,
    journal: &mut Journal<'_>,
) -> Result<(), RunError> {
    trial.yard.report_missing([variant], place, journal)?;
    let mut fleet = Fleet::start(trial.yard, [variant], &trial.cores.server, place, journal)?;
    fleet.verify(trial.yard, &[&named.name], place, journal)?;
    if let Some(push) = named.scenario.push.as_ref().filter(|_| fleet.healthy() > 0) {
        trial.pushed(&mut fleet, named, push, place, journal)?;
    } else if fleet.healthy() > 0 {
        let mut sessions = trial.sessions(&fleet, named)?;
        warm_up(&mut fleet, &mut sessions, &trial.cores, trial.yard.plan, &named.name, place, &trial.cancel, journal)?;
        measure(trial, &mut fleet, &mut sessions, named, place, journal)?;
    }
    for member in &fleet.members {
        cross_check(trial, member, named, place, journal)?;
    }
    fleet.stop(place, journal)
}

fn measure(
    trial: &Trial<'_>,
    fleet: &mut Fleet<'_>,
    sessions: &mut [tare_load::LoadSession],
    named: &NamedScenario,
    place: &Place<'_>,
    journal: &mut Journal<'_>,
) -> Result<(), RunError> {
    let plan = trial.yard.plan;
    let slot = Slot { group: place.group, scenario: &named.name, fork: place.fork };
    let mut last_per_s = None;
    for round in 0..plan.slices.saturating {
        let member = &mut fleet.members[0];
        if trial.cancel.is_cancelled() || !member.healthy {
            break;
        }
        journal.show(&Progress::Measuring {
            place: Place { left: place.left.saturating_sub(plan.slices.length.0 * round), ..*place },
            scenario: &named.name,
            variant: &member.variant.name,
            kind: SliceKind::Saturating,
            slice: round + 1,
            slices: plan.slices.saturating,
            last_per_s,
        });
        let order = Order {
            kind: SliceKind::Saturating,
            phase: Phase::Measure,
            round,
            users: plan.load.users,
            rate_per_s: 0.0,
            length: plan.slices.length.0,
            discard: Duration::ZERO,
            seed: plan.seed,
            sending: Sending::Exact,
        };
        let slice = drive(member, &mut sessions[0], &order, slot, plan, &trial.cancel, journal)?;
        last_per_s = Some(slice.completed as f64 * 1e9 / slice.window_ns.max(1) as f64);
        let answered = slice.ok > 0 || trial.cancel.is_cancelled();
        journal.slice(slice)?;
        member.check_health(answered, place, &named.name, journal)?;
    }
    Ok(())
}
