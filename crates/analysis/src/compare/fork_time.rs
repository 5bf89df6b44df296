//! How long a fork of a group takes, by the record.

use std::collections::BTreeMap;

use tare_record::RunRecord;

/// Mean time in seconds of one fork of a group, start and stop of its servers included; `None` without slices of it.
///
/// A fork lasts until the first slice of the next fork of any group. The last fork of a record has no next one, and
/// counts only where the group has no other: from its first slice to its last, and the start of its servers.
pub(crate) fn mean_s(record: &RunRecord, group: &str) -> Option<f64> {
    let mut spans = BTreeMap::<(&str, u32), (u64, u64)>::new();
    for slice in &record.slices {
        let (begin, end) = (slice.load.window_start_ns(), slice.load.window_start_ns() + slice.load.window_ns);
        let span = spans.entry((&slice.key.group, slice.key.fork)).or_insert((begin, end));
        *span = (span.0.min(begin), span.1.max(end));
    }
    let mut forks: Vec<(&str, u32, u64, u64)> =
        spans.into_iter().map(|((g, f), (from, to))| (g, f, from, to)).collect();
    forks.sort_by_key(|(_, _, from, _)| *from);
    let whole: Vec<u64> =
        forks.windows(2).filter(|pair| pair[0].0 == group).map(|pair| pair[1].2 - pair[0].2).collect();
    if !whole.is_empty() {
        return Some(whole.iter().sum::<u64>() as f64 / 1e9 / whole.len() as f64);
    }
    let (_, fork, from, to) = forks.last().filter(|(name, ..)| *name == group)?;
    let startups = record.forks.iter().filter(|f| f.group == group && f.fork == *fork).map(|f| f.startup_ns);
    Some((to - from + startups.max().unwrap_or(0)) as f64 / 1e9)
}
