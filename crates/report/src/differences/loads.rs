//! Two loads side by side.

use tare_analysis::format::{Change, Unit, grouped, rate, share, single};
use tare_analysis::load::{LoadDifferences, LoadFigureChange};
use tare_analysis::summary::LimitUnit;

use super::ComparisonText;
use super::records::environment;
use crate::text::Sheet;

impl From<&LoadDifferences> for ComparisonText {
    fn from(differences: &LoadDifferences) -> Self {
        let (before, after) = (&differences.before, &differences.after);
        Self {
            title: format!("{} ({}) → {} ({})", before.url, before.started_at, after.url, after.started_at),
            answers: doubts(differences),
            notes: differences.notes.clone(),
            sheets: vec![environment("What else differs", &differences.environment), figures(differences)],
        }
    }
}

fn figures(differences: &LoadDifferences) -> Sheet {
    let columns = ["figure", "before", "after", "change", "beside the intervals of each load"];
    Sheet::new("Figures", columns, differences.figures.iter().map(|change| Sheet::plain(cells(change))))
}

fn doubts(differences: &LoadDifferences) -> Vec<String> {
    let sides = [("before", &differences.before), ("after", &differences.after)];
    let doubt = |(name, side): (&str, &tare_analysis::load::LoadSide)| {
        let state = side.verdict.state.name().to_uppercase();
        let reasons = side.verdict.reasons.iter().map(|reason| format!("{name} is {state}: {}", reason.text));
        reasons.collect::<Vec<_>>()
    };
    sides.into_iter().flat_map(doubt).collect()
}

fn cells(change: &LoadFigureChange) -> [String; 5] {
    let of = |value: Option<f64>| value.map_or("–".to_owned(), |value| shown(change.unit, value));
    let beside = match change.ranges_overlap() {
        None => String::new(),
        Some(true) => "no further apart than these".to_owned(),
        Some(false) => "further apart than these".to_owned(),
    };
    let ratio = change.ratio.map_or(String::new(), |ratio| Change { ratio, bounds: None }.short());
    [change.name.clone(), of(change.before), of(change.after), ratio, beside]
}

fn shown(unit: LimitUnit, value: f64) -> String {
    match unit {
        LimitUnit::Ns => single(Unit::Nanos, value),
        LimitUnit::Share => share(value),
        LimitUnit::Count => grouped(value as u64),
        LimitUnit::PerS => rate(value),
    }
}
