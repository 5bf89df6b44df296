//! From the starts of both sides to a ratio with interval and verdict. All figures are judged together.

use serde::{Deserialize, Serialize};
use tare_stats::quantile::mean;
use tare_stats::{Interval, Polarity, Region, SD_FLOOR, SampleMean, holm};

use super::samples::StartFigure;
use crate::format::{Change, count};
use crate::summary::{Cell, Summary, VerdictKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Its ratio to the baseline of the same start.
    Ratio,
    Level,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureChange {
    pub group: String,
    pub scenario: String,
    pub variant: String,
    pub name: String,
    pub label: String,
    pub basis: Basis,
    /// Unit of the two values: `per_s`, `users`, `ns`, `bytes`, or `1` for ratios.
    pub unit: String,
    /// A level as the report of the first record states it; a ratio as geometric mean over its starts.
    pub before: f64,
    pub after: f64,
    /// Geometric mean over the starts of the second side / the same of the first.
    pub ratio: f64,
    pub lo: Option<f64>,
    pub hi: Option<f64>,
    pub starts_before: u32,
    pub starts_after: u32,
    /// What it says. A difference is stated only if it stands among all figures.
    pub verdict: VerdictKind,
    pub material: bool,
    /// The verdict in few words: `worse 8.1 % [7.2, 9.0]`.
    pub short: String,
}

pub(super) struct FigurePair<'a> {
    pub cells: (&'a Cell, &'a Cell),
    pub basis: Basis,
    /// Whether both ran side by side, so that starts of one number are a pair.
    pub side_by_side: bool,
    pub before: StartFigure,
    pub after: StartFigure,
}

impl<'a> FigurePair<'a> {
    /// A pair of figures; of two that ran side by side, only the starts that both have. `None` where none is left.
    pub fn new(
        cells: (&'a Cell, &'a Cell),
        basis: Basis,
        side_by_side: bool,
        (before, after): (StartFigure, StartFigure),
    ) -> Option<Self> {
        let (before, after) =
            if side_by_side { (before.in_starts_of(&after), after.in_starts_of(&before)) } else { (before, after) };
        let is_empty = before.logs.is_empty() || after.logs.is_empty();
        (!is_empty).then_some(Self { cells, basis, side_by_side, before, after })
    }

    /// Not all starts have the figure of both: a percentile needs enough requests, and odd starts have no ratio.
    pub fn missing_starts(&self, summary: &Summary) -> Option<String> {
        let (starts, all) = (self.before.logs.len() as u64, self.cells.0.forks.min(self.cells.1.forks).into());
        let label = &self.after.label;
        let scenario = || self.cells.1.scenario_among(&summary.cells);
        let is_told = self.side_by_side && starts < all;
        is_told.then(|| format!("{label} on {}: {starts} of {} count.", scenario(), count(all, "start")))
    }

    /// The difference of the mean logarithms; `None` where a side has one start only.
    fn contrast(&self) -> Option<SampleMean> {
        let sample = |values: &[f64]| SampleMean::of_values(values, SD_FLOOR).ok();
        if self.side_by_side {
            let change = |(start, log): (&u32, &f64)| Some(self.after.logs.get(start)? - log);
            return sample(&self.before.logs.iter().filter_map(change).collect::<Vec<f64>>());
        }
        Some(sample(&self.after.values())?.minus(&sample(&self.before.values())?))
    }
}

/// A difference is stated where Holm's procedure rejects "no difference" among all figures.
pub(super) fn judge(pairs: Vec<FigurePair<'_>>, alpha: f64, region: f64) -> Vec<FigureChange> {
    let contrasts: Vec<Option<SampleMean>> = pairs.iter().map(FigurePair::contrast).collect();
    let p_values: Vec<f64> = contrasts.iter().flatten().map(SampleMean::p_value).collect();
    let mut stated = holm(&p_values, alpha).unwrap_or_default().into_iter();
    let region = Region { margin: region };
    let change = |(pair, contrast): (FigurePair<'_>, Option<SampleMean>)| {
        let is_stated = contrast.is_some() && stated.next().unwrap_or(false);
        figure_change(&pair, contrast.as_ref(), is_stated, alpha, region)
    };
    pairs.into_iter().zip(contrasts).map(change).collect()
}

fn figure_change(
    pair: &FigurePair<'_>,
    contrast: Option<&SampleMean>,
    is_stated: bool,
    alpha: f64,
    region: Region,
) -> FigureChange {
    let centre = |figure: &StartFigure| mean(&figure.values()).unwrap_or(f64::NAN);
    let [before, after] = [&pair.before, &pair.after].map(centre);
    let ratio_at = |level: f64| contrast.and_then(|contrast| contrast.interval(level).ok()).map(|log| log.exp());
    let interval = ratio_at(alpha);
    let ratio = contrast.map_or(after - before, |contrast| contrast.mean).exp();
    let levels =
        [(&pair.before, before), (&pair.after, after)].map(|(figure, centre)| figure.level.unwrap_or(centre.exp()));
    // The two figures are of all starts, a change only of those that state it.
    let is_opposite = (ratio - 1.0) * (levels[1] - levels[0]) < 0.0;
    let is_stated = is_stated && !is_opposite;
    let verdict = verdict(ratio_at(2.0 * alpha), is_stated.then_some(pair.after.polarity), region);
    let bounds = interval.map(|one| (one.lo, one.hi));
    let material = is_stated && interval.is_some_and(|one| one.hi < region.lo() || one.lo > region.hi());
    let forks = pair.cells.0.forks.min(pair.cells.1.forks);
    let short = match verdict {
        VerdictKind::NoInterval if forks > 1 => format!("? one of {forks} starts states it"),
        VerdictKind::Inconclusive if is_opposite => "? the two figures differ in the other direction".to_owned(),
        _ => short(verdict, &Change { ratio, bounds }),
    };
    FigureChange {
        group: pair.cells.1.group.clone(),
        scenario: pair.cells.1.scenario.clone(),
        variant: pair.cells.1.variant.clone(),
        name: pair.after.name.clone(),
        label: pair.after.label.clone(),
        basis: pair.basis,
        unit: pair.after.unit.to_owned(),
        before: levels[0],
        after: levels[1],
        ratio,
        lo: bounds.map(|one| one.0),
        hi: bounds.map(|one| one.1),
        starts_before: pair.before.logs.len() as u32,
        starts_after: pair.after.logs.len() as u32,
        verdict,
        material,
        short,
    }
}

/// What a ratio says by its interval at 2 α. A difference that is stated has the polarity of its figure.
pub(super) fn verdict(ratio: Option<Interval>, stated: Option<Polarity>, region: Region) -> VerdictKind {
    match (ratio, stated) {
        (None, _) => VerdictKind::NoInterval,
        (Some(ratio), Some(polarity)) if polarity.is_worse(ratio.estimate, 1.0) => VerdictKind::Worse,
        (Some(_), Some(_)) => VerdictKind::Better,
        (Some(ratio), None) if region.lo() < ratio.lo && ratio.hi < region.hi() => VerdictKind::NoMaterialDifference,
        (Some(_), None) => VerdictKind::Inconclusive,
    }
}

pub(super) fn short(verdict: VerdictKind, change: &Change) -> String {
    match verdict {
        VerdictKind::Worse => format!("worse: {}", change.signed_interval()),
        VerdictKind::Better => format!("better: {}", change.signed_interval()),
        VerdictKind::NoMaterialDifference => format!("no material change: {}", change.signed_interval()),
        VerdictKind::Inconclusive | VerdictKind::Void => format!("undecided: {}", change.signed_interval()),
        VerdictKind::NoInterval => format!("one start, no interval: {}", change.short()),
    }
}
