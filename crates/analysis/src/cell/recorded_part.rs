//! A record without an end: which part of the run or load it holds.

use tare_record::{LoadRecord, StoredSlice};

use crate::format::time::rfc3339;
use crate::summary::Reason;

/// `it holds 0.0 s to 12.3 s, which is 2026-11-20T20:09:45Z to 2026-11-20T20:09:57Z`.
pub(crate) fn recorded_part(started_unix_ns: u64, slices: &[StoredSlice]) -> String {
    let from = slices.iter().map(|slice| slice.load.window_start_ns()).min();
    let until = slices.iter().map(|slice| slice.load.window_end_ns()).max();
    let (Some(from), Some(until)) = (from, until) else { return "it holds no measurement".to_owned() };
    let seconds = |ns: u64| format!("{:.1} s", ns as f64 / 1e9);
    let by_clock = |ns: u64| rfc3339(started_unix_ns.saturating_add(ns));
    format!("it holds {} to {}, which is {} to {}", seconds(from), seconds(until), by_clock(from), by_clock(until))
}

pub(crate) fn doubts_of_part(record: &LoadRecord) -> Option<Reason> {
    record.end.is_none().then(|| {
        let part = recorded_part(record.header.started_unix_ns, &record.intervals);
        Reason::new(
            format!("the record was cut short: {part}"),
            "If tare still writes it, wait for its end. Otherwise measure again, or use this part alone.",
        )
    })
}
