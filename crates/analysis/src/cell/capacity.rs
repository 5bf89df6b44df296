//! The largest load that keeps the curve of the plan: the search of each fork is made again from its tries.

use std::cmp::Ordering;

use tare_plan::condition::{Condition, Metric};
use tare_plan::plan::{Plan, SliceKind};
use tare_plan::slo::{LoadBy, Slo};
use tare_record::StoredSlice;
use tare_record::curve::{curve_limits, keeps_curve, measured_figure, replay_tries};

use crate::cell::{CellAnalysis, level};
use crate::evidence::Evidence;
use crate::format::{count, rate};
use crate::summary::{CapacityAt, CapacityFork, CapacityLimit, CapacityTry, Estimate, LimitUnit, RatioBound, Reason};

/// `None` where the plan has no curve, or no search came to its end.
pub(crate) fn capacity(plan: &Plan, cell: &Evidence<'_>) -> Option<CapacityAt> {
    let slo = plan.slo.as_ref()?;
    let planned = plan.scenario(cell.subject.group, cell.subject.scenario);
    let by = planned.map_or(slo.by, |named| slo.grows_by(&named.scenario));
    let limits = curve_limits(slo);
    let searched = searched_forks(cell);
    let forks: Vec<CapacityFork> =
        searched.iter().filter_map(|fork| fork_result(slo, by, &limits, cell, *fork)).collect();
    let loads: Vec<f64> = forks.iter().map(|fork| fork.load).collect();
    let forks_at_most = forks.iter().filter(|fork| fork.failed_at.is_none()).count() as u32;
    let load = level::estimate(&loads, plan.stop.alpha)?;
    let mut found = CapacityAt {
        curve: slo.curve.to_string(),
        by,
        sentence: String::new(),
        // Of a capacity beyond the search the upper end is not known.
        load: if forks_at_most > 0 { Estimate { lo: None, hi: None, ..load } } else { load },
        forks_at_most,
        limits: limits.iter().map(|limit| limit_of(limit, &forks)).collect(),
        tries: cell.of_kind(SliceKind::Capacity).map(|slice| try_of(slo, by, &limits, slice)).collect(),
        forks,
    };
    found.sentence = sentence(cell.subject.variant, &found, searched.len());
    Some(found)
}

/// Why a cell with tries has no capacity; `None` where it has one, or has no tries.
pub(crate) fn unfinished(plan: &Plan, cell: &Evidence<'_>) -> Option<Reason> {
    let searched = searched_forks(cell).len() as u64;
    (searched > 0 && capacity(plan, cell).is_none()).then(|| {
        let searches = count(searched, "search");
        Reason::new(format!("{searches} begun and none came to its end: no capacity is known"), "Let the run go on.")
    })
}

fn searched_forks(cell: &Evidence<'_>) -> Vec<u32> {
    cell.fork_numbers().into_iter().filter(|fork| tries(cell, *fork).next().is_some()).collect()
}

/// `None` where the search was cut short: by then it may know any load below the capacity.
fn fork_result(slo: &Slo, by: LoadBy, limits: &[Condition], cell: &Evidence<'_>, fork: u32) -> Option<CapacityFork> {
    let found = replay_tries(slo, by, tries(cell, fork))?;
    let failed = |limit: &&Condition| {
        let mut at_failure = tries(cell, fork).filter(|slice| Some(load_of(by, slice)) == found.broken);
        at_failure.any(|slice| !limit.is_met_by(measured_figure(limit, slice)))
    };
    Some(CapacityFork {
        fork,
        load: found.sustained.unwrap_or(0.0),
        failed_at: found.broken,
        failed_limits: limits.iter().filter(failed).map(|limit| limit.text.clone()).collect(),
    })
}

fn limit_of(limit: &Condition, forks: &[CapacityFork]) -> CapacityLimit {
    let failed = |fork: &&CapacityFork| fork.failed_limits.contains(&limit.text);
    CapacityLimit {
        condition: limit.text.clone(),
        unit: match limit.metric {
            Metric::Latency(..) => LimitUnit::Ns,
            Metric::ErrorShare | Metric::StatusShare(..) => LimitUnit::Share,
            Metric::Errors | Metric::ConnectionEvents | Metric::Status(..) => LimitUnit::Count,
            Metric::Throughput => LimitUnit::PerS,
        },
        limit: limit.limit,
        failed_forks: forks.iter().filter(failed).count() as u32,
    }
}

fn try_of(slo: &Slo, by: LoadBy, limits: &[Condition], slice: &StoredSlice) -> CapacityTry {
    let value = |limit: &Condition| Some(measured_figure(limit, slice)).filter(|value| value.is_finite());
    CapacityTry {
        fork: slice.key.fork,
        load: load_of(by, slice),
        kept: keeps_curve(slo, slice),
        values: limits.iter().map(value).collect(),
    }
}

fn load_of(by: LoadBy, slice: &StoredSlice) -> f64 {
    match by {
        LoadBy::Users => f64::from(slice.key.users),
        LoadBy::Rate => slice.key.offered_per_s.unwrap_or(0.0),
    }
}

/// `http4s.Tapir: keeps p90<2ms,p99<4ms up to 1,250 users [1,100, 1,400]; p99<4ms fails first (3 of 3 forks)`.
fn sentence(variant: &str, found: &CapacityAt, searched_forks: usize) -> String {
    let (curve, forks) = (&found.curve, count(found.forks.len() as u64, "start"));
    let Estimate { value, lo, hi } = found.load;
    let interval =
        lo.zip(hi).map_or(String::new(), |(lo, hi)| format!(" [{}, {}]", shown(found, lo), shown(found, hi)));
    let kept = match found.forks_at_most as usize {
        _ if value == 0.0 => "under no load that was tried".to_owned(),
        0 => format!("up to {}{interval}", shown(found, value)),
        all if all == found.forks.len() => {
            format!("up to {} at least, the largest load that was tried", shown(found, value))
        }
        some => {
            format!("up to {} at least: {some} of {forks} kept the largest load that was tried", shown(found, value))
        }
    };
    let without = match found.forks.iter().filter(|fork| fork.load == 0.0).count() {
        none if none == 0 || value == 0.0 => String::new(),
        some => format!("; {some} of {forks} kept no load that was tried"),
    };
    let unfinished = match searched_forks - found.forks.len() {
        0 => String::new(),
        cut => format!("; {cut} of {searched_forks} searches did not end and do not count"),
    };
    format!("{variant}: keeps {curve} {kept}{without}{}{unfinished}", failing(found))
}

/// Which limits fail first; nothing where the curve leaves no choice.
fn failing(found: &CapacityAt) -> String {
    let failed: Vec<&CapacityLimit> = found.limits.iter().filter(|limit| limit.failed_forks > 0).collect();
    if failed.is_empty() || failed.iter().all(|limit| limit.condition == found.curve) {
        return String::new();
    }
    let forks = found.forks.len();
    let one = |limit: &&CapacityLimit| format!("{} ({} of {forks} starts)", limit.condition, limit.failed_forks);
    format!("; fails first: {}", failed.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn shown(found: &CapacityAt, load: f64) -> String {
    match found.by {
        LoadBy::Rate => rate(load),
        LoadBy::Users => count(load.round() as u64, "user"),
    }
}

fn tries<'a>(cell: &Evidence<'a>, fork: u32) -> impl Iterator<Item = &'a StoredSlice> {
    cell.in_fork(SliceKind::Capacity, fork)
}

/// What the search of one fork says of the capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FoundLoad {
    /// The load next to the capacity, which is the capacity itself where it was found.
    pub load: f64,
    /// How the capacity compares with it.
    capacity: Ordering,
}

impl FoundLoad {
    /// What a fork's search found; `None` where it was cut short.
    pub fn of_fork(capacity: &CapacityAt, fork: u32) -> Option<Self> {
        let found = capacity.forks.iter().find(|found| found.fork == fork)?;
        Some(match found.failed_at {
            broken if found.load == 0.0 => Self { load: broken?, capacity: Ordering::Less },
            Some(_) => Self { load: found.load, capacity: Ordering::Equal },
            None => Self { load: found.load, capacity: Ordering::Greater },
        })
    }
}

/// How the ratio of two capacities is bounded, and why it is not known; `None` where every search found a capacity.
/// `pairs` are the variant's and the baseline's of each fork.
pub(crate) fn bound(
    (variant, baseline): (&CellAnalysis<'_>, &CellAnalysis<'_>),
    pairs: &[(FoundLoad, FoundLoad)],
) -> Option<(RatioBound, String)> {
    let of_fork = |(mine, theirs): &(FoundLoad, FoundLoad)| match mine.capacity.cmp(&theirs.capacity) {
        Ordering::Greater => Some(RatioBound::AtLeast),
        Ordering::Less => Some(RatioBound::AtMost),
        Ordering::Equal => (mine.capacity != Ordering::Equal).then_some(RatioBound::Unknown),
    };
    let all = pairs.iter().filter_map(of_fork);
    let bound = all.reduce(|one, other| if one == other { one } else { RatioBound::Unknown })?;
    let side = |side: &CellAnalysis<'_>, of: fn(&(FoundLoad, FoundLoad)) -> FoundLoad| {
        let capacity = side.cell.capacity.as_ref()?;
        let found: Vec<FoundLoad> = pairs.iter().map(of).collect();
        Some(beyond_search(&side.cell.variant, capacity, &found))
    };
    let said = [side(variant, |pair| pair.0), side(baseline, |pair| pair.1)];
    Some((bound, said.into_iter().flatten().flatten().collect::<Vec<String>>().join("; ")))
}

/// `in 5 of 5 starts b kept the largest load that was tried, 2,000/s: --slo-most tries more`, and the same of the smallest.
fn beyond_search(variant: &str, capacity: &CapacityAt, found: &[FoundLoad]) -> Vec<String> {
    let all = count(found.len() as u64, "start");
    let ends = |side: Ordering| found.iter().filter(|one| one.capacity == side).collect::<Vec<&FoundLoad>>();
    let (most, none) = (ends(Ordering::Greater), ends(Ordering::Less));
    let kept_most = most.first().map(|first| {
        let (number, load) = (most.len(), shown(capacity, first.load));
        format!("in {number} of {all} {variant} kept the largest load that was tried, {load}: --slo-most tries more")
    });
    let kept_none = none.first().map(|_| format!("in {} of {all} {variant} kept no load that was tried", none.len()));
    kept_most.into_iter().chain(kept_none).collect()
}
