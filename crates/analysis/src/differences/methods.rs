//! Methods whose own share differs between two profiles of one server, where both records have them.

use serde::{Deserialize, Serialize};
use tare_stats::{Interval, SampleMean, holm};

use crate::profile::ALPHA;
use crate::summary::{Cell, Estimate, HotFrame, ProfileView, Summary};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodChange {
    pub group: String,
    pub scenario: String,
    pub variant: String,
    /// What was sampled: `cpu`, `alloc`, …
    pub event: String,
    /// `org.example.Uri.parse`.
    pub method: String,
    pub before: f64,
    pub after: f64,
    /// The difference of the shares, with its 95 % interval.
    pub difference: Estimate,
}

/// Every method that is among the hot ones of both sides and whose share differs for certain, the largest difference first.
pub(super) fn method_changes(before: &Summary, after: &Summary, cells: &[(&Cell, &Cell)]) -> Vec<MethodChange> {
    let mut found = Vec::new();
    for (old, new) in cells {
        for view in views_of(before, old) {
            if let Some(other) = views_of(after, new).find(|other| other.event == view.event) {
                found.extend(common_methods(view, other));
            }
        }
    }
    let p_values: Vec<f64> = found.iter().map(|(_, contrast)| contrast.p_value()).collect();
    let stated = holm(&p_values, ALPHA).unwrap_or_default();
    let certain = found.into_iter().zip(stated).filter(|(_, stated)| *stated).map(|((change, _), _)| change);
    let mut changes: Vec<MethodChange> = certain.collect();
    changes.sort_by(|a, b| b.difference.value.abs().total_cmp(&a.difference.value.abs()));
    changes
}

/// What was sampled of one cell. The same variant and scenario may stand in several groups, each with starts of its own.
fn views_of<'a>(summary: &'a Summary, cell: &'a Cell) -> impl Iterator<Item = &'a ProfileView> {
    let of_cell = |view: &&ProfileView| {
        (&view.group, &view.scenario, &view.variant) == (&cell.group, &cell.scenario, &cell.variant)
    };
    summary.profiles.iter().flat_map(|profiles| &profiles.views).filter(of_cell)
}

fn common_methods(before: &ProfileView, after: &ProfileView) -> Vec<(MethodChange, SampleMean)> {
    let change = |old: &HotFrame| {
        let new = after.hot.iter().find(|new| new.name == old.name)?;
        let contrast = share(&new.own, after.forks)?.minus(&share(&old.own, before.forks)?);
        let difference = contrast.interval(ALPHA).ok()?.into();
        let change = MethodChange {
            group: after.group.clone(),
            scenario: after.scenario.clone(),
            variant: after.variant.clone(),
            event: after.event.name().to_owned(),
            method: old.name.clone(),
            before: old.own.value,
            after: new.own.value,
            difference,
        };
        Some((change, contrast))
    };
    before.hot.iter().filter_map(change).collect()
}

fn share(share: &Estimate, starts: u32) -> Option<SampleMean> {
    let interval = Interval { estimate: share.value, lo: share.lo?, hi: share.hi? };
    SampleMean::of_interval(&interval, starts as usize, ALPHA).ok()
}
