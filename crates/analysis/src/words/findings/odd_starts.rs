//! Starts that settled in another mode than the rest of their cell.

use tare_stats::{OddStart, find_odd_starts};

use crate::cell::CellAnalysis;
use crate::summary::ForkValue;

/// The odd starts of a cell by their number. A start is odd if its level is odd both by itself and relative to the other servers
/// of the same fork: the speed of the machine changes too, for all of them.
pub(crate) fn odd_starts(analysis: &CellAnalysis<'_>, cells: &[CellAnalysis<'_>]) -> Vec<(u32, OddStart)> {
    let own = &analysis.cell;
    let beside = cells.iter().map(|other| &other.cell).filter(|other| other.id != own.id);
    let beside = beside.filter(|other| (&other.group, &other.scenario) == (&own.group, &own.scenario));
    let others: Vec<(u32, f64)> = beside.flat_map(|other| speeds(&other.fork_values)).collect();
    let (forks, levels): (Vec<u32>, Vec<f64>) = speeds(&own.fork_values).into_iter().unzip();
    let relative: Vec<f64> = forks.iter().zip(&levels).map(|(fork, speed)| speed / typical(&others, *fork)).collect();
    let odd = |values: &[f64]| find_odd_starts(values).unwrap_or_default();
    let by_itself = odd(&levels);
    let both = odd(&relative).into_iter().filter(|start| by_itself.iter().any(|own| own.index == start.index));
    both.map(|start| (forks[start.index], start)).collect()
}

/// The geometric mean of these speeds in a fork; 1 where there is none.
fn typical(others: &[(u32, f64)], fork: u32) -> f64 {
    let logs: Vec<f64> = others.iter().filter(|(other, _)| *other == fork).map(|(_, speed)| speed.ln()).collect();
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
