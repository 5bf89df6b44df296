//! Two loads: what differs between their figures, and what can be said about it.
//!
//! Each load is one, so that nothing tells how much two loads of the same server differ. What each tells is how much its
//! own intervals differ, which is the least that two loads do.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::summary::{Interval, LoadSummary};
use crate::differences::{EnvironmentChange, section_changes};
use crate::summary::{LimitUnit, Row, Section, StatusCount, Validity};

pub const DIFFERENCES_SCHEMA: &str = "tare-load-comparison/1";
/// Intervals that tell how much a figure varies; with fewer, nothing is said.
const LEAST_INTERVALS: usize = 5;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadDifferences {
    pub schema: String,
    pub before: LoadSide,
    pub after: LoadSide,
    pub notes: Vec<String>,
    pub environment: Vec<EnvironmentChange>,
    pub figures: Vec<LoadFigureChange>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSide {
    pub url: String,
    pub started_at: String,
    pub verdict: Validity,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadFigureChange {
    /// `p99`, `throughput`, `status 503`, `p99(GET /cart)`.
    pub name: String,
    pub unit: LimitUnit,
    /// `null` where the load cannot tell it.
    pub before: Option<f64>,
    pub after: Option<f64>,
    /// After over before; `null` where one of them is unknown or 0.
    pub ratio: Option<f64>,
    /// The figure in the intervals of each load, from the tenth to the ninetieth percentile; `null` with fewer than five.
    pub before_range: Option<[f64; 2]>,
    pub after_range: Option<[f64; 2]>,
}

impl LoadFigureChange {
    fn new(name: &str, unit: LimitUnit, [before, after]: [Option<f64>; 2]) -> Self {
        let ratio = before.zip(after).filter(|(before, _)| *before > 0.0).map(|(before, after)| after / before);
        let ratio = ratio.filter(|ratio| *ratio > 0.0);
        Self { name: name.to_owned(), unit, before, after, ratio, before_range: None, after_range: None }
    }

    /// Whether the intervals of one load reach where those of the other are; `None` where it is not known.
    pub fn ranges_overlap(&self) -> Option<bool> {
        let (before, after) = self.before_range.zip(self.after_range)?;
        Some(before[0] <= after[1] && after[0] <= before[1])
    }
}

pub fn compare_loads(before: &LoadSummary, after: &LoadSummary) -> LoadDifferences {
    let side = |load: &LoadSummary| LoadSide {
        url: load.url.clone(),
        started_at: load.started_at.clone(),
        verdict: load.verdict.clone(),
    };
    let mut environment = section_changes(&question(before), &question(after), None);
    environment.extend(section_changes(&before.environment, &after.environment, None));
    environment.extend(section_changes(&before.settings, &after.settings, Some("setting")));
    LoadDifferences {
        schema: DIFFERENCES_SCHEMA.to_owned(),
        before: side(before),
        after: side(after),
        notes: notes(before, after),
        environment,
        figures: figures(before, after),
    }
}

fn notes(before: &LoadSummary, after: &LoadSummary) -> Vec<String> {
    let mut notes = vec![
        "these are two loads, and nothing tells how much two loads of the same server differ: repeat each, or compare \
         the servers with tare run, which alternates and restarts them"
            .to_owned(),
    ];
    if before.model.loop_kind != after.model.loop_kind {
        notes.push(format!(
            "a {} and a {} load measure different times: compare loads of one kind",
            before.model.loop_kind, after.model.loop_kind
        ));
    }
    notes
}

/// What was asked, as a table of facts.
fn question(load: &LoadSummary) -> [Section; 1] {
    let row = |key: &str, value: &str| Row { key: key.to_owned(), value: value.to_owned(), source: None };
    let rows = vec![row("URL", &load.url), row("model", &load.model.text), row("tare", &load.tare_version)];
    [Section { title: "load".to_owned(), rows }]
}

fn figures(before: &LoadSummary, after: &LoadSummary) -> Vec<LoadFigureChange> {
    let both = |of: fn(&LoadSummary) -> Option<f64>| [of(before), of(after)];
    let ranged = |change: LoadFigureChange, of: fn(&Interval) -> Option<f64>| LoadFigureChange {
        before_range: range(&before.intervals, of),
        after_range: range(&after.intervals, of),
        ..change
    };
    let mut figures = vec![
        ranged(
            LoadFigureChange::new("throughput", LimitUnit::PerS, both(|load| Some(load.throughput_per_s))),
            |interval| interval.throughput_per_s,
        ),
        LoadFigureChange::new("errors", LimitUnit::Share, both(|load| Some(load.requests.failed_share))),
        LoadFigureChange::new("mean", LimitUnit::Ns, both(|load| load.response.mean_ns)),
    ];
    let mut percentiles: Vec<f64> =
        [before, after].iter().flat_map(|load| load.response.percentiles.iter().map(|one| one.percentile)).collect();
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    for percentile in percentiles {
        let of = |load: &LoadSummary| load.response.percentile_ns(percentile).map(|ns| ns as f64);
        let change = LoadFigureChange::new(&format!("p{percentile}"), LimitUnit::Ns, [of(before), of(after)]);
        figures.push(match percentile {
            50.0 => ranged(change, |interval| interval.p50_ns.map(|ns| ns as f64)),
            99.0 => ranged(change, |interval| interval.p99_ns.map(|ns| ns as f64)),
            _ => change,
        });
    }
    let max = LoadFigureChange::new("max", LimitUnit::Ns, both(|load| load.response.max_ns.map(|ns| ns as f64)));
    figures.push(ranged(max, |interval| interval.max_ns.map(|ns| ns as f64)));
    figures.extend(status_changes(&before.statuses, &after.statuses));
    figures.extend(url_changes(before, after));
    figures
}

fn status_changes(before: &[StatusCount], after: &[StatusCount]) -> Vec<LoadFigureChange> {
    let all: BTreeSet<u16> = before.iter().chain(after).map(|one| one.status).collect();
    let count = |side: &[StatusCount], status: u16| {
        Some(side.iter().find(|one| one.status == status).map_or(0.0, |one| one.count as f64))
    };
    let change = |status: u16| {
        let counts = [count(before, status), count(after, status)];
        LoadFigureChange::new(&format!("status {status}"), LimitUnit::Count, counts)
    };
    all.into_iter().map(change).collect()
}

fn url_changes(before: &LoadSummary, after: &LoadSummary) -> Vec<LoadFigureChange> {
    let mut changes = Vec::new();
    for old in &before.urls {
        let Some(new) = after.urls.iter().find(|new| new.url == old.url) else { continue };
        let time = |name: &str, before: Option<u64>, after: Option<u64>| {
            let times = [before, after].map(|ns| ns.map(|ns| ns as f64));
            LoadFigureChange::new(&format!("{name}({})", old.url), LimitUnit::Ns, times)
        };
        changes.push(time("p50", old.p50_ns, new.p50_ns));
        changes.push(time("p99", old.p99_ns, new.p99_ns));
        let shares = [Some(old.failed_share), Some(new.failed_share)];
        changes.push(LoadFigureChange::new(&format!("errors({})", old.url), LimitUnit::Share, shares));
    }
    changes
}

/// From the tenth to the ninetieth percentile of the intervals; the last one is cut short by the end of the load.
fn range(intervals: &[Interval], of: fn(&Interval) -> Option<f64>) -> Option<[f64; 2]> {
    let whole = &intervals[..intervals.len().saturating_sub(1)];
    let mut values: Vec<f64> = whole.iter().filter_map(of).collect();
    if values.len() < LEAST_INTERVALS {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    Some([at(0.1), at(0.9)])
}
