//! The paired slices of a record by fork, as its comparisons use them: what a replay draws from.

use tare_record::RunRecord;

use crate::cell::analyze_cells;
use crate::compare::ratio::deciding_pairs;
use crate::compare::with_baselines;
use tare_plan::Currency;

/// The forks of one comparison, each with its pairs `(variant, baseline)`, one for each round.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedForks {
    pub comparison: String,
    pub family: String,
    pub currency: Currency,
    pub forks: Vec<Vec<(f64, f64)>>,
}

/// Every comparison and control of a record that was measured by rounds of saturating slices.
pub fn recorded_forks(record: &RunRecord) -> Vec<RecordedForks> {
    let (plan, cells) = (&record.header.plan, analyze_cells(record));
    let recorded = with_baselines(&cells).map(|(variant, baseline)| {
        let (currency, forks) = deciding_pairs(plan, variant, baseline);
        let (comparison, family) = (variant.cell.id.clone(), baseline.cell.family.clone());
        RecordedForks { comparison, family, currency, forks }
    });
    recorded.filter(|recorded| !recorded.forks.is_empty()).collect()
}
