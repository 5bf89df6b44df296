//! Levels: figures of several slices together, per fork and over forks. A fork's level is the ratio of its sums, so
//! that every request counts the same.

use std::collections::BTreeMap;

use tare_plan::plan::SliceKind;
use tare_record::{RuntimeUse, StoredSlice};
use tare_stats::interval::student_t_half_width;
use tare_stats::quantile::{mean, sd};
use tare_units::CpuSet;

use crate::evidence::Evidence;
use crate::summary::Estimate;

/// Right answers per second over some slices.
pub(crate) fn throughput<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> Option<f64> {
    let (completed, window_ns) = slices.fold((0, 0), |(c, w), s| (c + s.load.completed, w + s.load.window_ns));
    (window_ns > 0).then(|| completed as f64 * 1e9 / window_ns as f64)
}

/// CPU of the server per request over some slices, without that of its JIT compilers.
pub(crate) fn cpu<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> Option<f64> {
    quotient(slices.filter_map(|s| s.server.cpu.as_ref()).map(|cpu| (cpu.serving_ns(), cpu.requests)))
}

pub(crate) fn quotient(pairs: impl Iterator<Item = (u64, u64)>) -> Option<f64> {
    let (part, whole) = pairs.fold((0, 0), |(part, whole), (more, of)| (part + more, whole + of));
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub(crate) fn allocated<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> Option<f64> {
    let runtimes = slices.filter_map(|s| s.server.runtime.as_ref());
    quotient(runtimes.filter_map(|of| Some((of.allocated_bytes?, of.requests)))).filter(|bytes| *bytes > 0.0)
}

/// Over all scored slices of a fork: regions are too coarse for one slice.
pub(crate) fn allocated_per_fork(cell: &Evidence<'_>) -> BTreeMap<u32, f64> {
    cell.by_fork(|fork| allocated(cell.measured_in(fork)))
}

/// Time in which a runtime had stopped its threads, as a share of the time under load of the slices that know it.
pub(crate) fn time_share<'a>(
    slices: impl Iterator<Item = &'a StoredSlice>,
    stopped_ns: fn(&RuntimeUse) -> Option<u64>,
) -> Option<f64> {
    quotient(slices.filter_map(|s| Some((stopped_ns(s.server.runtime.as_ref()?)?, loaded_ns(s)?))))
}

/// The time under load between the readings of a server's CPU. Where servers take turns, the readings stand around all
/// turns: then it is the time that its own answers took, at the rate of its window.
pub(crate) fn loaded_ns(slice: &StoredSlice) -> Option<u64> {
    let (load, cpu) = (&slice.load, slice.server.cpu.as_ref()?);
    Some(if load.turns > 1 && load.completed > 0 {
        (load.window_ns as f64 * cpu.requests as f64 / load.completed as f64) as u64
    } else {
        cpu.wall_ns
    })
}

/// How long a runtime had stopped its threads, by its own counters. A JVM counts all its stops, other runtimes their collections.
pub(crate) fn stopped_ns(runtime: &RuntimeUse) -> Option<u64> {
    runtime.safepoint_ns.or(runtime.collecting_ns)
}

/// Over all scored slices of a fork. It may be zero.
pub(crate) fn stopped_per_fork(cell: &Evidence<'_>) -> BTreeMap<u32, f64> {
    cell.by_fork(|fork| {
        let runtimes = cell.measured_in(fork).filter_map(|s| s.server.runtime.as_ref());
        quotient(runtimes.filter_map(|of| Some((stopped_ns(of)?, of.requests))))
    })
}

/// The fewest requests of a slice of open load, on average, from which CPU per request is compared: a slice of five
/// uploads also has garbage and timers of others.
const LEAST_REQUESTS_PER_SLICE: u64 = 50;

/// The load at which CPU per request is compared, for all of these cells alike: one with enough requests, if there is
/// one.
pub(crate) fn cpu_kind(cells: &[Evidence<'_>]) -> Option<SliceKind> {
    let has_cpu = |slice: &StoredSlice| slice.server.cpu.as_ref().is_some_and(|cpu| cpu.requests > 0);
    let measured = |kind: &SliceKind| cells.iter().any(|c| c.of_kind(*kind).any(has_cpu));
    let kinds = if cells.iter().any(alternates) {
        [SliceKind::Fixed, SliceKind::Saturating, SliceKind::Poisson, SliceKind::Push]
    } else {
        [SliceKind::Fixed, SliceKind::Poisson, SliceKind::Push, SliceKind::Saturating]
    };
    let has_enough = |kind: &SliceKind| cells.iter().all(|cell| has_enough_requests(cell, *kind));
    let mut measured = kinds.into_iter().filter(measured);
    let enough = measured.clone().find(has_enough);
    enough.or_else(|| measured.next())
}

/// Whether the slices of a cell have enough requests for CPU per request. Of pushes and of a saturating load they always have.
fn has_enough_requests(cell: &Evidence<'_>, kind: SliceKind) -> bool {
    let known = cell.of_kind(kind).filter_map(|slice| slice.server.cpu.as_ref());
    let (slices, requests) = known.fold((0, 0), |(slices, requests), cpu| (slices + 1, requests + cpu.requests));
    !matches!(kind, SliceKind::Fixed | SliceKind::Poisson) || requests >= slices * LEAST_REQUESTS_PER_SLICE
}

/// Whether the saturating slices of a cell are sums of short turns: their CPU counts over whole rounds.
pub(crate) fn alternates(cell: &Evidence<'_>) -> bool {
    cell.of_kind(SliceKind::Saturating).any(|slice| slice.load.turns > 1)
}

pub(crate) fn cpu_per_fork(cell: &Evidence<'_>, cpu_kind: Option<SliceKind>) -> BTreeMap<u32, f64> {
    cell.by_fork(|fork| cpu(cell.in_fork(cpu_kind?, fork)))
}

pub(crate) fn over_forks(forks: &BTreeMap<u32, f64>, alpha: f64) -> Option<Estimate> {
    estimate(&forks.values().copied().collect::<Vec<f64>>(), alpha)
}

/// Mean over forks with Student's interval, which describes the level and decides nothing.
pub(crate) fn estimate(values: &[f64], alpha: f64) -> Option<Estimate> {
    let value = mean(values).ok()?;
    let half = sd(values).and_then(|s| student_t_half_width(values.len(), s, alpha)).ok().filter(|h| h.is_finite());
    Some(Estimate { value, lo: half.map(|h| (value - h).max(0.0)), hi: half.map(|h| value + h) })
}

/// The number of CPUs in a list such as `0,2-3`; 1 for what is no list.
pub(crate) fn cpu_count(list: &str) -> u32 {
    list.parse::<CpuSet>().map_or(1, |cpus| cpus.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_counted() {
        for (list, n) in [("0", 1), ("0,2-3", 3), ("0-15", 16), ("", 1), ("all", 1), ("3-1", 1), ("1, 2", 2)] {
            assert_eq!(cpu_count(list), n, "{list}");
        }
    }

    #[test]
    fn an_estimate_agrees_with_students_interval_by_hand() {
        // 9, 10, 11: mean 10, sd 1, t(0.975, 2) = 4.3027: ± 2.4842.
        let got = estimate(&[9.0, 10.0, 11.0], 0.05).unwrap();
        assert!((got.value - 10.0).abs() < 1e-12 && (got.lo.unwrap() - 7.5158).abs() < 1e-3, "{got:?}");
        assert_eq!(estimate(&[5.0], 0.05).unwrap(), Estimate { value: 5.0, lo: None, hi: None });
        assert_eq!(estimate(&[], 0.05), None);
    }
}
