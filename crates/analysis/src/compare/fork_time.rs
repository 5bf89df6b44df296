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
    let mut whole = BTreeMap::<&str, (u64, u32)>::new();
    for pair in forks.windows(2) {
        let (sum_ns, number) = whole.entry(pair[0].0).or_default();
        *sum_ns += pair[1].2 - pair[0].2;
        *number += 1;
    }
    let mean_s = |(sum_ns, number): (u64, u32)| sum_ns as f64 / 1e9 / f64::from(number);
    let mut means: BTreeMap<String, f64> =
        whole.into_iter().map(|(group, spans)| (group.to_owned(), mean_s(spans))).collect();
    if let Some(&(group, fork, from, to)) = forks.last() {
        means.entry(group.to_owned()).or_insert_with(|| {
            let startups = record.forks.iter().filter(|f| f.group == group && f.fork == fork).map(|f| f.startup_ns);
            (to - from + startups.max().unwrap_or(0)) as f64 / 1e9
        });
    }
    means
}
