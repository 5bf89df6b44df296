//! The paired slices of a record by fork, as its comparisons use them: what a replay draws from.

use tare_record::RunRecord;

use crate::cell::analyze_cells;
use crate::compare::ratio::deciding_pairs;
use tare_plan::Currency;

/// The forks of one comparison, each with its pairs `(variant, baseline)`, one for each round.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedForks {
    pub comparison: String,
    pub family: String,
    /// What was measured: the currency that decides.
    pub currency: Currency,
    /// The forks that counted, in the order in which they were started.
    pub forks: Vec<Vec<(f64, f64)>>,
}

/// Every comparison and control of a record that was measured by rounds of saturating slices.
pub fn recorded_forks(record: &RunRecord) -> Vec<RecordedForks> {
    let (plan, cells) = (&record.header.plan, analyze_cells(record));
    let baseline_of = |group: &str, scenario: &str| {
        cells.iter().find(|c| c.cell.baseline && c.cell.group == group && c.cell.scenario == scenario)
    };
    let compared = cells.iter().filter(|analysis| !analysis.cell.baseline);
    let recorded = compared.filter_map(|variant| {
        let baseline = baseline_of(&variant.cell.group, &variant.cell.scenario)?;
        let (currency, forks) = deciding_pairs(plan, variant, baseline);
        let (comparison, family) = (variant.cell.id.clone(), baseline.cell.family.clone());
        Some(RecordedForks { comparison, family, currency, forks })
    });
    recorded.filter(|recorded| !recorded.forks.is_empty()).collect()
}
