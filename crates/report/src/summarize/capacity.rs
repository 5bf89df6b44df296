//! The largest load that keeps the curve of the plan: the search of each fork is made again from its tries.

use tare_plan::plan::{Plan, SliceKind};
use tare_plan::slo::{LoadBy, Slo};
use tare_record::StoredSlice;
use tare_record::keeping::replay;

use super::evidence::Evidence;
use super::level;
use crate::summary::CapacityAt;

/// None where the plan has no curve, or nothing was tried.
pub(super) fn capacity(plan: &Plan, cell: &Evidence<'_>) -> Option<CapacityAt> {
    let slo = plan.slo.as_ref()?;
    let by = searched_by(plan, slo, cell);
    let found = |fork: u32| replay(slo, by, tries(cell, fork));
    let forks: Vec<_> = cell.fork_numbers().into_iter().map(found).collect();
    let loads: Vec<f64> = forks.iter().map(|found| found.borne.unwrap_or(0.0)).collect();
    Some(CapacityAt {
        curve: slo.curve.to_string(),
        by,
        load: level::estimate(&loads, plan.stop.alpha)?,
        forks_at_most: forks.iter().filter(|found| found.borne.is_some() && found.broken.is_none()).count() as u32,
        fork_loads: loads,
    })
}

/// What the search of a cell varies: the rate or the number of users.
fn searched_by(plan: &Plan, slo: &Slo, cell: &Evidence<'_>) -> LoadBy {
    let planned = plan.scenario(cell.subject.group, cell.subject.scenario);
    planned.map_or(slo.by, |named| slo.by(&named.scenario))
}

fn tries<'a>(cell: &Evidence<'a>, fork: u32) -> impl Iterator<Item = &'a StoredSlice> {
    cell.of_kind(SliceKind::Capacity).filter(move |s| s.key.fork == fork)
}

/// Each fork's largest load that was kept, by the number of the fork; those that keep nothing cannot be part of a ratio.
pub(super) fn per_fork(plan: &Plan, cell: &Evidence<'_>) -> Vec<(u32, f64)> {
    let Some(slo) = &plan.slo else { return Vec::new() };
    let found = |fork: u32| replay(slo, searched_by(plan, slo, cell), tries(cell, fork)).borne;
    cell.fork_numbers().into_iter().filter_map(|fork| Some((fork, found(fork)?))).collect()
}
