//! The forms of one load (`tare load`). The page, and wrk's text are those of a run with one cell.

mod agents;
mod answers;
mod csv;
mod page;
mod text;

pub use csv::csv;
pub use page::{html, summary_as_run, wrk};
pub use text::render;

use std::time::Duration;

use tare_analysis::load::response_times;
use tare_record::{LoadRecord, StoredSlice};
use tare_stats::histogram::interval_log;

/// HdrHistogram's percentile distribution of the response times, in milliseconds.
pub fn hgrm(record: &LoadRecord) -> String {
    response_times(record).to_hgrm()
}

/// HdrHistogram's interval log of the response times: one histogram per interval, in nanoseconds. The column of maxima
/// is in milliseconds, as its log processor and analyser write it.
pub fn hlog(record: &LoadRecord) -> String {
    let part = |slice: &StoredSlice| {
        let [start, length] = [slice.load.window_start_ns(), slice.load.window_ns].map(Duration::from_nanos);
        (start, length, slice.load.response.unpack())
    };
    interval_log(Duration::from_nanos(record.header.started_unix_ns), record.intervals.iter().map(part))
}
