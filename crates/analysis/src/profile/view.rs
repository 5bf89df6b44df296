//! One event of one variant, with its baseline if it has one: shares, tables and the flame graph.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use tare_plan::profile::ProfileEvent;
use tare_profile::FlameTree;
use tare_profile::causes::choose_causes;
use tare_profile::over_forks::{hot_methods, method_over_forks, moved_methods};
use tare_record::RunRecord;
use tare_record::profile::Weight;
use tare_units::grouped_by;

use super::ALPHA;
use super::sides::Side;
use crate::summary::{AcrossVersions, Estimate, HotFrame, MovedFrame, PackageShare, ProfileView, VersionRow};

/// Methods below this total share stand in no table.
const LEAST: f64 = 0.002;
const ROWS: usize = 40;
/// Nodes of a flame graph below this share are drawn as part of their callers.
const CUT: f64 = 0.0002;

pub(super) fn view(own: &Side<'_>, other: Option<&Side<'_>>, focus: Option<&Regex>) -> ProfileView {
    let first = own.records[0];
    let mut hot = hot_methods(&own.forks, LEAST, ALPHA);
    let packages = packages(&hot_methods(&own.forks, 0.0, ALPHA));
    keep_telling(&mut hot, focus);
    let moved = other.map_or_else(Vec::new, |other| moved_frames(own, other, focus));
    let variant: Vec<_> = own.stacks.iter().collect();
    let baseline: Vec<_> = other.iter().flat_map(|other| &other.stacks).collect();
    ProfileView {
        id: format!("{}/{}/{}/{}", first.group, first.scenario, first.variant, own.event.name()),
        group: first.group.clone(),
        scenario: first.scenario.clone(),
        variant: first.variant.clone(),
        baseline: other.map(|other| other.records[0].variant.clone()),
        event: own.event,
        unit: if own.event == ProfileEvent::Alloc { "bytes".to_owned() } else { "ns".to_owned() },
        sampler: first.sampler.clone(),
        forks: own.forks.len() as u32,
        steady_forks: own.steady,
        offered_per_s: first.offered_per_s,
        samples: matches!(first.weight, Weight::Samples { .. }).then(|| own.samples()),
        failed_share: own.forks.iter().map(|fork| fork.usage.failed).sum::<f64>() / own.forks.len() as f64,
        coverage: coverage(own),
        per_request: per_request(own),
        baseline_per_request: other.and_then(per_request),
        difference_per_request: other.and_then(|other| difference(own, other)),
        focus_share: focus.map(|focus| share(own, |stacks| stacks.weight_containing(&stacks.matching_frames(focus)))),
        focus_own: focus.map(|focus| share(own, |stacks| stacks.weight_ending_in(&stacks.matching_frames(focus)))),
        hot,
        packages,
        moved,
        flame: FlameTree::from_stacks(&variant, &baseline, CUT),
        files: own.records.iter().filter_map(|record| record.file.clone()).collect(),
    }
}

/// The CPU that samples stand for, as a share of the kernel's count.
pub(super) fn coverage(side: &Side<'_>) -> Option<f64> {
    let (mut sampled, mut counted) = (0.0, 0.0);
    for (record, fork) in side.records.iter().zip(&side.forks).filter(|_| side.event == ProfileEvent::Cpu) {
        let Weight::Samples { every_ns } = record.weight else { continue };
        sampled += fork.usage.weight as f64 * every_ns as f64;
        counted += record.cpu_ns? as f64;
    }
    (counted > 0.0).then(|| sampled / counted)
}

fn per_request(side: &Side<'_>) -> Option<Estimate> {
    let values: Option<Vec<f64>> = side.forks.iter().map(|fork| fork.per_request).collect();
    values.map(|values| Estimate::of_any_mean(&values, ALPHA))
}

fn difference(own: &Side<'_>, other: &Side<'_>) -> Option<Estimate> {
    let partner = |fork: u32| other.forks.iter().find(|one| one.fork == fork)?.per_request;
    let differences: Vec<f64> =
        own.forks.iter().filter_map(|fork| Some(fork.per_request? - partner(fork.fork)?)).collect();
    (!differences.is_empty()).then(|| Estimate::of_any_mean(&differences, ALPHA))
}

pub(super) fn share(side: &Side<'_>, of: impl Fn(&tare_profile::Stacks) -> u64) -> Estimate {
    let shares: Vec<f64> =
        side.stacks.iter().map(|stacks| of(stacks) as f64 / stacks.total_weight().max(1) as f64).collect();
    Estimate::of_any_mean(&shares, ALPHA)
}

/// The methods with the largest own share, with the largest total share, and with the largest total share within the
/// focus.
fn keep_telling(methods: &mut Vec<HotFrame>, focus: Option<&Regex>) {
    let in_focus = |method: &HotFrame| focus.is_some_and(|focus| focus.is_match(&method.name));
    let least_of = |mut totals: Vec<f64>| {
        totals.sort_by(|a, b| b.total_cmp(a));
        totals.get(ROWS).copied().unwrap_or(0.0)
    };
    let least = least_of(methods.iter().map(|method| method.total.value).collect());
    let least_in_focus = least_of(methods.iter().filter(|m| in_focus(m)).map(|method| method.total.value).collect());
    let mut place = 0;
    methods.retain(|method| {
        place += 1;
        let total = method.total.value;
        place <= ROWS || total > least || in_focus(method) && total > least_in_focus
    });
}

fn packages(methods: &[HotFrame]) -> Vec<PackageShare> {
    let mut sums: BTreeMap<&str, (f64, Option<f64>)> = BTreeMap::new();
    for method in methods {
        let sum = sums.entry(&method.package).or_insert((0.0, Some(0.0)));
        sum.0 += method.own.value;
        sum.1 = sum.1.zip(method.own_per_request).map(|(sum, mean)| sum + mean);
    }
    let of = |(name, (own, own_per_request)): (&str, (f64, Option<f64>))| PackageShare {
        name: name.to_owned(),
        own,
        own_per_request,
    };
    let mut packages: Vec<PackageShare> = sums.into_iter().map(of).filter(|package| package.own >= LEAST).collect();
    packages.sort_by(|a, b| b.own.total_cmp(&a.own).then_with(|| a.name.cmp(&b.name)));
    packages
}

fn moved_frames(own: &Side<'_>, other: &Side<'_>, focus: Option<&Regex>) -> Vec<MovedFrame> {
    let mut moved = moved_methods(&own.forks, &other.forks, LEAST, ALPHA);
    let stacks = own.merged();
    let mut named = choose_causes(&moved, &stacks, focus);
    if named.is_empty() {
        named = choose_causes(&moved, &stacks, None);
    }
    let (mut place, mut of_focus) = (0, 0);
    moved.retain_mut(|method| {
        method.named = named.contains(&place);
        method.in_focus = focus.is_some_and(|focus| focus.is_match(&method.name));
        place += 1;
        of_focus += usize::from(method.in_focus);
        place <= ROWS || method.named || method.in_focus && of_focus <= ROWS
    });
    moved
}

/// One table per server, scenario and event that was profiled at several versions.
pub(super) fn across_versions(record: &RunRecord, views: &[ProfileView]) -> Vec<AcrossVersions> {
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
        method.map_or(Estimate::new(0.0, None), |method| method.total)
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
