//! How long a fork of a group takes, by the record.

use std::collections::BTreeMap;

use tare_record::RunRecord;

/// Mean time in seconds of one fork of each group, until the first slice of the next fork of any group. The last fork
/// of a record counts only where the group has no other: from its first slice to its last, and the start of its
/// servers.
pub(crate) fn means_s(record: &RunRecord) -> BTreeMap<String, f64> {
    let mut spans = BTreeMap::<(&str, u32), (u64, u64)>::new();
    for slice in &record.slices {
        let (begin, end) = (slice.load.window_start_ns(), slice.load.window_end_ns());
        let span = spans.entry((&slice.key.group, slice.key.fork)).or_insert((begin, end));
        *span = (span.0.min(begin), span.1.max(end));
    }
    let mut forks: Vec<(&str, u32, u64, u64)> =
        spans.into_iter().map(|((g, f), (from, to))| (g, f, from, to)).collect();
    forks.sort_by_key(|(_, _, from, _)| *from);
    let mut spans_ns = BTreeMap::<&str, Vec<u64>>::new();
    for pair in forks.windows(2) {
        spans_ns.entry(pair[0].0).or_default().push(pair[1].2 - pair[0].2);
    }
    if let Some(&(group, fork, from, to)) = forks.last() {
        let startups = record.forks.iter().filter(|f| f.group == group && f.fork == fork).map(|f| f.startup_ns);
        spans_ns.entry(group).or_insert_with(|| vec![to - from + startups.max().unwrap_or(0)]);
    }
    let mean_s = |spans_ns: Vec<u64>| spans_ns.iter().sum::<u64>() as f64 / 1e9 / spans_ns.len() as f64;
    spans_ns.into_iter().map(|(group, spans_ns)| (group.to_owned(), mean_s(spans_ns))).collect()
}
