//! What earlier looks at a record that grows have found, so that the next one analyses only cells with new entries.

use std::collections::HashMap;

use tare_plan::plan::SliceKind;

use crate::cell::CellAnalysis;
use crate::evidence::Evidence;
use crate::evidence::disturbance::SetAside;
use crate::summary::Cell;

/// The cells of the last look, by their ids.
#[derive(Default)]
pub(crate) struct SeenCells(HashMap<String, SeenCell>);

pub(super) struct SeenCell {
    /// Of slices, warm-ups, starts and events. Entries are only added, so as many are the same ones.
    entries: [usize; 4],
    set_aside: SetAside,
    pub cpu_kind: Option<SliceKind>,
    pub cell: Cell,
}

fn entries(evidence: &Evidence<'_>) -> [usize; 4] {
    let Evidence { slices, warmups, forks, events, .. } = evidence;
    [slices.len(), warmups.len(), forks.len(), events.len()]
}

impl SeenCells {
    pub fn set_aside(&self, together: &[Evidence<'_>]) -> SetAside {
        let first = together.first().filter(|_| self.have_no_new_entries(together));
        let seen = first.and_then(|first| self.0.get(&first.id()));
        seen.map_or_else(|| SetAside::of(together), |cell| cell.set_aside.clone())
    }

    /// Hands out the cells of a group and scenario, unless one of them has new entries: they depend on one another.
    pub(super) fn take(&mut self, together: &[Evidence<'_>]) -> Option<Vec<SeenCell>> {
        let are_known = self.have_no_new_entries(together);
        are_known.then(|| together.iter().filter_map(|cell| self.0.remove(&cell.id())).collect())
    }

    fn have_no_new_entries(&self, together: &[Evidence<'_>]) -> bool {
        together.iter().all(|cell| self.0.get(&cell.id()).is_some_and(|seen| seen.entries == entries(cell)))
    }

    pub fn keep(&mut self, cells: Vec<CellAnalysis<'_>>) {
        let seen = |CellAnalysis { evidence, cpu_kind, cell }: CellAnalysis<'_>| {
            let (entries, set_aside) = (entries(&evidence), evidence.set_aside);
            (cell.id.clone(), SeenCell { entries, set_aside, cpu_kind, cell })
        };
        self.0 = cells.into_iter().map(seen).collect();
    }
}
