//! Whether another number of rounds in a start would narrow an interval in the same time.

use tare_plan::estimate::{saturating_rounds, saturating_time};
use tare_plan::plan::{Mode, SliceKind};
use tare_record::RunRecord;
use tare_stats::ForkRatio;
use tare_stats::rounds::{BestRounds, StartFigures};

use crate::compare::Pair;
use crate::compare::fork_time;

/// Fewer starts do not tell how much starts differ.
const FEWEST_FORKS: usize = 5;
/// Advice is given where the interval becomes at least this much narrower.
const WORTHWHILE: f64 = 0.9;

/// The number of saturating rounds that would make the deciding interval of this pair clearly narrower.
pub(crate) fn better_rounds(record: &RunRecord, pair: &Pair<'_>) -> Option<BestRounds> {
    let plan = &record.header.plan;
    let measured_ratio = pair.measured_ratios.first().filter(|_| pair.void.is_none() && plan.mode == Mode::Compared)?;
    if measured_ratio.load != SliceKind::Saturating || measured_ratio.forks.len() < FEWEST_FORKS {
        return None;
    }
    let group = plan.groups.iter().find(|group| group.id == pair.variant.cell.group)?;
    let named = group.scenarios.iter().find(|named| named.name == pair.variant.cell.scenario)?;
    let squared_error = |fork: &ForkRatio| Some(fork.slice_sd?.powi(2) / f64::from(fork.pairs));
    let squared_errors: Vec<f64> = measured_ratio.forks.iter().filter_map(squared_error).collect();
    let figures = StartFigures {
        rounds: saturating_rounds(plan, named),
        within_se: (squared_errors.iter().sum::<f64>() / squared_errors.len() as f64).sqrt(),
        // Intervals have this floor, whatever the rounds.
        fork_sd: measured_ratio.comparison.sd_forks?.max(plan.stop.floor),
        fork_s: fork_time::mean_s(record, &group.id)?,
        rounds_s: saturating_time(plan, group).as_secs_f64(),
    };
    figures.best_rounds().filter(|best| best.width <= WORTHWHILE)
}
