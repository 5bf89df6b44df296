//! Starts that settled in another mode than the rest of their cell.

use tare_stats::{OddStart, find_odd_starts};

use super::cells::Found;
use crate::format::{count, share};
use crate::summarize::CellAnalysis;
use crate::summary::{Finding, ForkValue, ReportFinding};

/// Cells in which some starts had another speed than most.
pub(super) fn odd_starts(cells: &[CellAnalysis<'_>]) -> Option<Finding> {
    let of = |analysis: &CellAnalysis<'_>| {
        let odd = of_cell(analysis, cells);
        let starts = u64::from(analysis.cell.forks);
        let one = |(fork, start): &(u32, OddStart)| {
            format!("start {fork} at {}", share((start.ratio * 100.0).round() / 100.0))
        };
        let named: Vec<String> = odd.iter().map(one).collect();
        (!odd.is_empty()).then(|| format!("{} of {} ({})", odd.len(), count(starts, "start"), named.join(", ")))
    };
    let found = Found::among(cells, of)?;
    Some(found.finding(ReportFinding::OddStarts))
}

/// A start is odd if its level is odd both by itself and relative to the other servers of the same fork: the speed of
/// the machine changes too, for all of them.
fn of_cell(analysis: &CellAnalysis<'_>, cells: &[CellAnalysis<'_>]) -> Vec<(u32, OddStart)> {
    let speeds = speeds(&analysis.cell.fork_values);
    let others: Vec<Vec<(u32, f64)>> = cells
        .iter()
        .filter(|other| (&other.cell.group, &other.cell.scenario) == (&analysis.cell.group, &analysis.cell.scenario))
        .filter(|other| other.cell.id != analysis.cell.id)
        .map(|other| self::speeds(&other.cell.fork_values))
        .collect();
    let relative: Vec<f64> = speeds.iter().map(|(fork, speed)| speed / typical(&others, *fork)).collect();
    let levels: Vec<f64> = speeds.iter().map(|(_, speed)| *speed).collect();
    let odd = |values: &[f64]| find_odd_starts(values).unwrap_or_default();
    let by_itself = odd(&levels);
    let both = odd(&relative).into_iter().filter(|start| by_itself.iter().any(|own| own.index == start.index));
    both.map(|start| (speeds[start.index].0, start)).collect()
}

/// The geometric mean of the other servers' speeds in a fork; 1 where there is none.
fn typical(others: &[Vec<(u32, f64)>], fork: u32) -> f64 {
    let logs: Vec<f64> = others.iter().flatten().filter(|(f, _)| *f == fork).map(|(_, speed)| speed.ln()).collect();
    if logs.is_empty() { 1.0 } else { (logs.iter().sum::<f64>() / logs.len() as f64).exp() }
}

/// Throughput of each fork, or requests per CPU time where there was no saturating load.
fn speeds(forks: &[ForkValue]) -> Vec<(u32, f64)> {
    let speed = |fork: &ForkValue| {
        let speed = fork.throughput_per_s.or_else(|| fork.cpu_ns_per_request.map(f64::recip));
        speed.filter(|speed| speed.is_finite() && *speed > 0.0).map(|speed| (fork.fork, speed))
    };
    forks.iter().filter_map(speed).collect()
}
