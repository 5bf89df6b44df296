//! Methods that a sentence names at one version of a library, with their shares at all versions.

use std::collections::BTreeSet;

use tare_profile::over_forks::method_over_forks;
use tare_record::RunRecord;
use tare_units::grouped_by;

use super::ALPHA;
use super::sides::Side;
use crate::summary::{AcrossVersions, Estimate, ProfileView, VersionRow};

const NONE: Estimate = Estimate { value: 0.0, lo: None, hi: None };

/// One table per server, scenario and event that was profiled at several versions.
pub(super) fn across(record: &RunRecord, views: &[ProfileView]) -> Vec<AcrossVersions> {
    let versioned = views.iter().filter(|view| view.baseline.is_some()).filter_map(|view| {
        let variant = record.header.plan.variant(&view.group, &view.variant)?;
        Some(((&variant.server, &view.scenario, view.event), (variant.version.clone()?, view)))
    });
    let tables = grouped_by(versioned).into_iter().filter(|(_, versions)| versions.len() > 1);
    let tables = tables.map(|((server, scenario, event), versions)| {
        let (versions, views): (Vec<String>, Vec<&ProfileView>) = versions.into_iter().unzip();
        let rows = rows(record, &views);
        AcrossVersions { server: server.clone(), scenario: scenario.clone(), event, versions, rows }
    });
    tables.collect()
}

fn rows(record: &RunRecord, views: &[&ProfileView]) -> Vec<VersionRow> {
    let named: BTreeSet<(&str, &str)> = views
        .iter()
        .flat_map(|view| view.moved.iter().filter(|frame| frame.named))
        .map(|frame| (frame.name.as_str(), frame.short.as_str()))
        .collect();
    let side = |view: &ProfileView| Side::of_variant(record, &view.group, &view.scenario, &view.variant, view.event);
    let sides: Vec<Option<Side<'_>>> = views.iter().map(|view| side(view)).collect();
    let share = |side: &Option<Side<'_>>, name: &str| {
        let method = side.as_ref().and_then(|side| method_over_forks(&side.forks, name, ALPHA));
        method.map_or(NONE, |method| method.total.into())
    };
    let row = |(name, short): (&str, &str)| VersionRow {
        short: short.to_owned(),
        name: name.to_owned(),
        shares: sides.iter().map(|side| share(side, name)).collect(),
    };
    let mut rows: Vec<VersionRow> = named.into_iter().map(row).collect();
    rows.sort_by(|a, b| b.shares[0].value.total_cmp(&a.shares[0].value));
    rows
}
