//! The steps of a ladder: what each variant costs beyond the one before it, paired by forks.

use std::collections::BTreeMap;

use tare_plan::plan::Plan;

use crate::cell::CellAnalysis;
use crate::cell::level::{allocated_per_fork, cpu_per_fork, over_forks};
use crate::summary::{Estimate, Ladder, LadderStep, ValidityState};

type Forks = BTreeMap<u32, f64>;

/// One entry per group that is a ladder, and scenario.
pub(crate) fn ladders(plan: &Plan, cells: &[CellAnalysis<'_>]) -> Vec<Ladder> {
    let mut ladders = Vec::new();
    for (group, named) in plan.groups.iter().filter(|g| g.ladder).flat_map(|g| g.scenarios.iter().map(move |s| (g, s)))
    {
        let mine = |cell: &&CellAnalysis<'_>| {
            let cell = &cell.cell;
            (&cell.group, &cell.scenario) == (&group.id, &named.name) && !cell.control
        };
        let steps = steps(cells.iter().filter(mine), plan.stop.alpha);
        let forks = cells.iter().filter(mine).map(|cell| cell.cell.forks).max().unwrap_or(0);
        let id = format!("{}/{}", group.id, named.name);
        ladders.push(Ladder { id, group: group.id.clone(), scenario: named.name.clone(), forks, steps });
    }
    ladders
}

fn steps<'a>(cells: impl Iterator<Item = &'a CellAnalysis<'a>>, alpha: f64) -> Vec<LadderStep> {
    let mut below: Option<(Forks, Forks)> = None;
    let step = |cell: &CellAnalysis<'_>| {
        let counted = |forks: Forks| if cell.cell.validity.state == ValidityState::Void { Forks::new() } else { forks };
        let cpu = counted(cpu_per_fork(&cell.evidence, cell.cpu_kind));
        let bytes = counted(allocated_per_fork(&cell.evidence));
        let step = LadderStep {
            variant: cell.cell.variant.clone(),
            cpu_ns: over_forks(&cpu, alpha),
            cpu_ns_added: below.as_ref().and_then(|(below, _)| added(&cpu, below, alpha)),
            allocated_bytes: over_forks(&bytes, alpha),
            allocated_bytes_added: below.as_ref().and_then(|(_, below)| added(&bytes, below, alpha)),
        };
        below = Some((cpu, bytes));
        step
    };
    cells.map(step).collect()
}

/// The mean of the differences between forks of one number; unlike a level, it may be below zero.
fn added(above: &Forks, below: &Forks, alpha: f64) -> Option<Estimate> {
    let differences: Vec<f64> = above.iter().filter_map(|(fork, value)| Some(value - below.get(fork)?)).collect();
    (!differences.is_empty()).then(|| Estimate::of_any_mean(&differences, alpha))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_the_mean_of_the_differences_of_paired_forks() {
        let below = Forks::from([(1, 10.0), (2, 20.0), (3, 30.0)]);
        let above = Forks::from([(1, 12.0), (2, 22.5), (4, 99.0)]);
        let step = added(&above, &below, 0.05).unwrap();
        assert!((step.value - 2.25).abs() < 1e-12 && step.lo.unwrap() < 2.0 && step.hi.unwrap() > 2.5);
        assert_eq!(added(&Forks::from([(9, 1.0)]), &below, 0.05), None);
        assert_eq!(added(&Forks::from([(1, 9.0)]), &below, 0.05), Some(Estimate { value: -1.0, lo: None, hi: None }));
    }
}
