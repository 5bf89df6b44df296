//! Runs over time: a line for each server and scenario, and the places where its level changed.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tare_plan::plan::SliceKind;
use tare_stats::quantile::mean;
use tare_stats::{ChangePoint, Interval, Polarity, find_change_points};

use crate::summary::{Cell, Comparison, CurrencyRatio, Estimate, Summary, ValidityState, VerdictKind};
use tare_plan::Currency;

pub const SCHEMA: &str = "tare-history/1";

/// A change of level is stated with this error probability, as in Hunter (ICPE 2023).
pub const ALPHA: f64 = 0.001;

pub const IMPORT_SCHEMA: &str = "tare-import/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedResult {
    pub schema: String,
    pub tool: String,
    pub file: String,
    pub at: String,
    pub revision: Option<String>,
    pub figures: Vec<ImportedFigure>,
    /// What the file has too, and no figure is made of: a benchmark whose score is `NaN`, a metric without a unit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedFigure {
    pub name: String,
    /// What of it: `mean`, `p99`, `throughput`.
    pub figure: String,
    pub unit: String,
    pub polarity: Polarity,
    #[serde(flatten)]
    pub estimate: Estimate,
}

impl ImportedFigure {
    pub fn new(name: &str, figure: &str, unit: &str, polarity: Polarity, value: f64) -> Self {
        let [name, figure, unit] = [name, figure, unit].map(str::to_owned);
        Self { name, figure, unit, polarity, estimate: Estimate::new(value, None) }
    }

    /// The same with its interval, where both ends are finite.
    pub fn with_interval(self, ends: Option<(f64, f64)>) -> Self {
        let ends = ends.filter(|(lo, hi)| lo.is_finite() && hi.is_finite());
        Self { estimate: Estimate::new(self.estimate.value, ends), ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct History {
    pub schema: String,
    pub lines: Vec<HistoryLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryLine {
    pub name: String,
    /// Scenario, with its group where several groups compare the same servers in it; empty for imported figures.
    pub scenario: String,
    /// The figure with its unit: `CPU/request, × http4s.Vanilla`.
    pub figure: String,
    pub polarity: Polarity,
    pub points: Vec<HistoryPoint>,
    pub changes: Vec<LevelChange>,
}

impl HistoryLine {
    /// The server and its scenario; what another tool measured has none.
    pub fn subject(&self) -> String {
        if self.scenario.is_empty() { self.name.clone() } else { format!("{} · {}", self.name, self.scenario) }
    }

    /// Geometric mean of the points since the last change; `None` where none of them counts.
    pub fn level(&self) -> Option<f64> {
        self.level_of(self.changes.last().map_or(0, |change| change.at)..self.points.len())
    }

    pub fn level_of(&self, points: Range<usize>) -> Option<f64> {
        let logs: Vec<f64> = self.points[points].iter().filter_map(HistoryPoint::log).collect();
        mean(&logs).ok().map(f64::exp)
    }

    pub fn left_out(&self) -> usize {
        self.points.iter().filter(|point| point.log().is_none()).count()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryPoint {
    /// Id of the run; the file of an imported result.
    pub run: String,
    /// When it began, RFC 3339 UTC.
    pub at: String,
    pub revision: Option<String>,
    pub version: Option<String>,
    #[serde(flatten)]
    pub estimate: Estimate,
}

impl HistoryPoint {
    /// The logarithm, of which levels are made. A figure of 0 or less has none, and counts in no level.
    pub fn log(&self) -> Option<f64> {
        Some(self.estimate.value.ln()).filter(|log| log.is_finite())
    }
}

/// One change of level: it happened after the run `after_run` and not later than `first_run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelChange {
    pub at: usize,
    pub after_run: String,
    /// When it began, RFC 3339 UTC.
    pub after_at: String,
    pub after_revision: Option<String>,
    pub first_run: String,
    /// When it began, RFC 3339 UTC.
    pub first_at: String,
    pub first_revision: Option<String>,
    /// New level / old level.
    pub ratio: f64,
    /// Lower end of its interval.
    pub lo: f64,
    pub hi: f64,
    pub verdict: VerdictKind,
}

/// Whether `tare check` or `tare bisect` made a run. They compare a server with an earlier build of itself, mostly another build
/// each time. Such ratios stay near 1 while a cost creeps, so that a history leaves them out.
pub fn is_check(run: &Summary) -> bool {
    run.check.is_some()
}

/// A cell's name over time: its variant's, without the version of its server, which changes from run to run. Where the run
/// compares several versions of it, they are no same line, and have their names in full.
fn name_over_time(run: &Summary, cell: &Cell) -> String {
    let is_beside = |other: &Cell| {
        (&other.server, &other.scenario) == (&cell.server, &cell.scenario) && other.variant != cell.variant
    };
    let is_alone = !run.cells.iter().any(|other| !other.control && is_beside(other));
    let version = cell.version.as_ref().filter(|_| is_alone).map(|version| format!("@{version}"));
    version.map_or_else(|| cell.variant.clone(), |version| cell.variant.replace(&version, ""))
}

/// The history of `runs` in one currency, without checks, and of all imported figures.
pub fn history(runs: &[Summary], imported: &[ImportedResult], currency: Currency) -> History {
    let mut runs: Vec<&Summary> = runs.iter().filter(|run| !is_check(run)).collect();
    runs.sort_by(|a, b| a.run.started_at.cmp(&b.run.started_at));
    let is_of_one_load = runs.windows(2).all(|pair| pair[0].users() == pair[1].users());
    let compared = runs.into_iter().flat_map(|run| run.comparisons.iter().map(move |one| (run, one)));
    let compared = compared.filter_map(|(run, comparison)| {
        let (mut title, polarity, point) = compared_point(run, comparison, currency)?;
        title[2] += &run.users().filter(|_| !is_of_one_load).map_or(String::new(), |users| format!(", {users} users"));
        Some((title, polarity, point))
    });
    let mut imported: Vec<&ImportedResult> = imported.iter().collect();
    imported.sort_by(|a, b| a.at.cmp(&b.at));
    // In the order of their first points, with the place of each by its title.
    let (mut lines, mut places) = (Vec::<HistoryLine>::new(), HashMap::new());
    for (title, polarity, point) in compared.chain(imported.into_iter().flat_map(imported_points)) {
        let at = *places.entry(title).or_insert_with_key(|title| {
            let [name, scenario, figure] = title.clone();
            lines.push(HistoryLine { name, scenario, figure, polarity, points: Vec::new(), changes: Vec::new() });
            lines.len() - 1
        });
        lines[at].points.push(point);
    }
    lines.iter_mut().for_each(|line| line.changes = level_changes(line));
    History { schema: SCHEMA.to_owned(), lines }
}

/// A point with the name, the scenario and the figure of its line.
type TitledPoint = ([String; 3], Polarity, HistoryPoint);

fn compared_point(run: &Summary, comparison: &Comparison, currency: Currency) -> Option<TitledPoint> {
    let cell = |id: &str| run.cells.iter().find(|cell| cell.id == id);
    let (own, baseline) = (cell(&comparison.cell)?, cell(&comparison.baseline_cell)?);
    let void = [own, baseline].iter().any(|cell| cell.validity.state == ValidityState::Void);
    let ratio = comparison.ratio_in(currency);
    let ratio = ratio.filter(|ratio| !void && ratio.is_known() && ratio.ratio.is_finite())?;
    let figure = format!("{}, × {}", figure_name(ratio), name_over_time(run, baseline));
    let point = HistoryPoint {
        run: run.run.id.clone(),
        at: run.run.started_at.clone(),
        revision: run.run.git_revision.clone(),
        version: own.version.clone(),
        estimate: Estimate { value: ratio.ratio, lo: ratio.lo, hi: ratio.hi },
    };
    let scenario = comparison.scenario_among(&run.comparisons);
    Some(([name_over_time(run, own), scenario, figure], currency.facts().polarity, point))
}

/// A figure and the load that it depends on: figures of different loads are no same line.
fn figure_name(ratio: &CurrencyRatio) -> String {
    match ratio.name {
        Currency::CpuPerRequest if ratio.load != SliceKind::Saturating => {
            format!("{} under {}", ratio.label, ratio.load.load_name())
        }
        _ => ratio.label.clone(),
    }
}

fn imported_points(result: &ImportedResult) -> impl Iterator<Item = TitledPoint> {
    result.figures.iter().map(move |figure| {
        let point = HistoryPoint {
            run: result.file.clone(),
            at: result.at.clone(),
            revision: result.revision.clone(),
            version: None,
            estimate: figure.estimate,
        };
        let title = format!("{}, {} ({})", figure.figure, figure.unit, result.tool);
        ([figure.name.clone(), String::new(), title], figure.polarity, point)
    })
}

/// The changes of level in the logarithms of the figures. A figure that has no logarithm is in no level.
fn level_changes(line: &HistoryLine) -> Vec<LevelChange> {
    let counted: Vec<(usize, f64)> =
        line.points.iter().enumerate().filter_map(|(at, point)| Some((at, point.log()?))).collect();
    let logs: Vec<f64> = counted.iter().map(|(_, log)| *log).collect();
    let change = |found: ChangePoint| {
        let (last, at) = (counted[found.at - 1].0, counted[found.at].0);
        let (before, first) = (&line.points[last], &line.points[at]);
        let Interval { estimate, lo, hi } = found.size.exp();
        let is_worse = (estimate > 1.0) == (line.polarity == Polarity::LowerIsBetter);
        LevelChange {
            at,
            after_run: before.run.clone(),
            after_at: before.at.clone(),
            after_revision: before.revision.clone(),
            first_run: first.run.clone(),
            first_at: first.at.clone(),
            first_revision: first.revision.clone(),
            ratio: estimate,
            lo,
            hi,
            verdict: if is_worse { VerdictKind::Worse } else { VerdictKind::Better },
        }
    };
    // Logarithms are finite, and the error probability is a constant.
    find_change_points(&logs, ALPHA).unwrap_or_default().into_iter().map(change).collect()
}
