//! Which slices other programs disturbed, or a generator that stood still, and which rounds and forks do not count for that
//! reason. Only the CPU use of others and the generator's own clock decide, never what a server showed.

use std::collections::BTreeSet;

use tare_plan::plan::SliceKind;
use tare_record::{PackedHistogram, Phase, StoredSlice};

use crate::evidence::{Evidence, by_key};
use crate::format::{count, share};

/// Above this share of the cores of both sides, the work of others disturbs a slice.
const MOST_OTHERS_SHARE: f64 = 0.1;
/// With turns of whole slices, a fork counts up to this share of disturbed ones: the trimmed mean leaves them out.
const MOST_DISTURBED_SLICES: f64 = 0.2;
/// Up to this share of the rounds of a fork in which servers alternate, or of one kind, are left out.
const MOST_ROUNDS: f64 = 0.5;

/// Above this stamp lag or send lag at the 99th percentile the generator stood still in a slice of open load. A slow
/// server does not cause that.
const STANDSTILL_NS: u64 = 1_000_000;
/// Requests that leave later than this meet a stall of the generator, as in `tare_sample::latency_parts`.
const LATE_NS: u64 = 100_000;
/// Above this share of such requests, the p99 of a window shows the stalls: it was 2 to 4 ms with 1 %, and else 0.4 to 0.7.
const MOST_LATE_SHARE: f64 = 0.003;
/// The fewest requests of a window whose p99 is stated.
const FEWEST_FOR_P99: u64 = 1_000;
/// Above this share of requests that waited for a connection, the send lag also shows the server.
pub(crate) const MOST_BLOCKED_SHARE: f64 = 0.01;

/// What does not count of one group under one scenario, for all of its cells alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SetAside {
    pub forks: BTreeSet<u32>,
    /// Rounds of the other forks: fork, kind of slice and number of the round.
    pub rounds: BTreeSet<(u32, SliceKind, u32)>,
}

impl SetAside {
    pub fn contains(&self, slice: &StoredSlice) -> bool {
        self.forks.contains(&slice.key.fork) || self.rounds.contains(&round_of(slice))
    }

    /// None if more than half of the forks would go: then the machine is always disturbed.
    pub fn of(cells: &[Evidence<'_>]) -> Self {
        let scored: Vec<&StoredSlice> =
            cells.iter().flat_map(|cell| &cell.slices).copied().filter(|s| s.key.phase == Phase::Measure).collect();
        let forks = by_key(scored.iter().copied(), |slice| slice.key.fork);
        let mut aside = Self::default();
        for (fork, of_fork) in &forks {
            let of_fork = of_fork.iter().copied();
            let are_many = if of_fork.clone().any(|slice| slice.load.turns > 1) {
                !aside.leave_out_rounds(of_fork, is_disturbed)
            } else {
                let in_fork = |slice: &&StoredSlice| (slice.key.phase, slice.key.fork) == (Phase::Measure, *fork);
                cells.iter().any(|cell| are_too_many_disturbed(cell.slices.iter().copied().filter(in_fork)))
            };
            if are_many {
                aside.forks.insert(*fork);
            }
        }
        if 2 * aside.forks.len() > forks.len() {
            aside = Self::default();
        }
        for kind in [SliceKind::Fixed, SliceKind::Poisson] {
            let counts = |slice: &&StoredSlice| slice.key.kind == kind && !aside.contains(slice);
            let counted: Vec<&StoredSlice> = scored.iter().copied().filter(counts).collect();
            // A generator that is always late is a reason to doubt its cells.
            aside.leave_out_rounds(counted.iter().copied(), generator_stood_still);
        }
        aside
    }

    /// Leaves out the rounds in which a slice is wrong, for all servers. Without effect if these are too many; the
    /// result is whether they were not.
    fn leave_out_rounds<'a>(
        &mut self,
        slices: impl Iterator<Item = &'a StoredSlice> + Clone,
        is_wrong: fn(&StoredSlice) -> bool,
    ) -> bool {
        let rounds: BTreeSet<_> = slices.clone().map(round_of).collect();
        let wrong: BTreeSet<_> = slices.filter(|slice| is_wrong(slice)).map(round_of).collect();
        let are_few = wrong.len() as f64 <= MOST_ROUNDS * rounds.len() as f64;
        self.rounds.extend(wrong.into_iter().filter(|_| are_few));
        are_few
    }
}

fn round_of(slice: &StoredSlice) -> (u32, SliceKind, u32) {
    (slice.key.fork, slice.key.kind, slice.key.round)
}

fn is_disturbed(slice: &StoredSlice) -> bool {
    slice.server.others_share.is_some_and(|others| others > MOST_OTHERS_SHARE)
}

fn generator_stood_still(slice: &StoredSlice) -> bool {
    let load = &slice.load;
    let is_late = |lag: &PackedHistogram, quantile: f64, limit_ns: u64| {
        lag.samples() > 0 && lag.unpack().value_at_quantile_ns(quantile).is_some_and(|lag| lag > limit_ns)
    };
    let has_p99 = slice.key.kind == SliceKind::Poisson && load.send_lag.samples() >= FEWEST_FOR_P99;
    let has_late_sends = is_late(&load.send_lag, 0.99, STANDSTILL_NS)
        || has_p99 && is_late(&load.send_lag, 1.0 - MOST_LATE_SHARE, LATE_NS);
    is_late(&load.stamp_lag, 0.99, STANDSTILL_NS)
        || blocked_share([slice].into_iter()) <= MOST_BLOCKED_SHARE && has_late_sends
}

pub(crate) fn blocked_share<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> f64 {
    let (waited, all) = slices.fold((0, 0), |(b, n), s| (b + s.load.blocked, n + s.load.ok + s.load.failed));
    (waited as f64 / all.max(1) as f64).min(1.0)
}

fn are_too_many_disturbed<'a>(slices: impl Iterator<Item = &'a StoredSlice>) -> bool {
    let disturbed: Vec<bool> = slices.map(is_disturbed).collect();
    disturbed.iter().filter(|one| **one).count() as f64 > MOST_DISTURBED_SLICES * disturbed.len() as f64
}

/// Whether other programs make this cell suspect: they used much in too many of the slices that count.
pub(crate) fn makes_suspect(cell: &Evidence<'_>) -> bool {
    are_too_many_disturbed(cell.measured())
}

pub(crate) fn reason(cell: &Evidence<'_>) -> Option<String> {
    if !makes_suspect(cell) {
        return None;
    }
    let slices: Vec<&StoredSlice> = cell.measured().collect();
    let disturbed = slices.iter().filter(|slice| is_disturbed(slice)).count() as u64;
    let most = slices.iter().filter_map(|slice| slice.server.others_share).fold(0.0, f64::max);
    let of = count(slices.len() as u64, "slice");
    let (most, limit) = (share(most), share(MOST_OTHERS_SHARE));
    Some(format!("other programs used up to {most} of the cores, and more than {limit} in {disturbed} of {of}"))
}
