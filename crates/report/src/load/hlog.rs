//! `.hlog`: HdrHistogram's interval log of the response times, for its log processor and analyser.

use std::time::Duration;

use tare_record::LoadRecord;
use tare_stats::histogram::interval_log;

/// One histogram per interval, in nanoseconds; the column of maxima is in milliseconds, as those tools write it.
pub fn hlog(record: &LoadRecord) -> String {
    let begin = Duration::from_nanos(record.header.started_unix_ns);
    let parts = record.intervals.iter().map(|slice| {
        let (start, length) =
            (Duration::from_nanos(slice.load.window_start_ns()), Duration::from_nanos(slice.load.window_ns));
        (start, length, slice.load.response.unpack())
    });
    interval_log(begin, parts)
}
