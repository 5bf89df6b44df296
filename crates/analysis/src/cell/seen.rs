//! What earlier looks at a record that grows have found, so that the next one analyses only cells with new entries.

use std::collections::HashMap;

use tare_plan::plan::SliceKind;

use crate::cell::{CellAnalysis, LoadLatency};
use crate::evidence::Evidence;
use crate::evidence::disturbance::SetAside;
use crate::summary::Cell;

/// The cells of the last look, by group and scenario: those of one pair depend on one another.
#[derive(Default)]
pub(crate) struct SeenCells(HashMap<(String, String), Vec<SeenCell>>);

pub(super) struct SeenCell {
    /// Of slices, warm-ups, starts and events. Entries are only added, so as many are the same ones.
    entries: [usize; 4],
    set_aside: SetAside,
    pub loads: Vec<LoadLatency>,
    pub cpu_kind: Option<SliceKind>,
    pub cell: Cell,
}

fn entries(evidence: &Evidence<'_>) -> [usize; 4] {
    let Evidence { slices, warmups, forks, events, .. } = evidence;
    [slices.len(), warmups.len(), forks.len(), events.len()]
}

fn key(group: &str, scenario: &str) -> (String, String) {
    (group.to_owned(), scenario.to_owned())
}

impl SeenCells {
    pub fn set_aside(&self, together: &[Evidence<'_>]) -> SetAside {
        let seen = self.unchanged(together).and_then(<[SeenCell]>::first);
        seen.map_or_else(|| SetAside::of(together), |cell| cell.set_aside.clone())
    }

    /// Hands out the cells of a group and scenario, unless one of them has new entries.
    pub(super) fn take(&mut self, together: &[Evidence<'_>]) -> Option<Vec<SeenCell>> {
        self.unchanged(together)?;
        let subject = together.first()?.subject;
        self.0.remove(&key(subject.group, subject.scenario))
    }

    fn unchanged(&self, together: &[Evidence<'_>]) -> Option<&[SeenCell]> {
        let subject = together.first()?.subject;
        let seen = self.0.get(&key(subject.group, subject.scenario))?;
        seen.iter().map(|cell| cell.entries).eq(together.iter().map(entries)).then_some(seen.as_slice())
    }

    pub fn keep(&mut self, cells: Vec<CellAnalysis<'_>>) {
        self.0.clear();
        for CellAnalysis { evidence, loads, cpu_kind, cell } in cells {
            let together = self.0.entry(key(&cell.group, &cell.scenario)).or_default();
            let (entries, set_aside) = (entries(&evidence), evidence.set_aside);
            together.push(SeenCell { entries, set_aside, loads, cpu_kind, cell });
        }
    }
}
