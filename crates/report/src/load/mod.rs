//! One load on one URL (`tare load`): its summary, and the forms it is shown in. The rules of validity, the page and wrk's
//! text are those of a run with one cell.

mod agents;
mod bars;
mod csv;
mod describe;
mod hlog;
mod messages;
mod page;
mod summarize;
mod summary;
mod text;
mod threshold;

pub use agents::AgentSummary;
pub use csv::csv;
pub use describe::describe;
pub use hlog::hlog;
pub use page::{html, summary_as_run, wrk};
pub use summarize::summarize;
pub use summary::{Bytes, Connections, Generator, Interval, LoadSummary, Model, Requests, SCHEMA, ThresholdResult};
pub use text::render;

use tare_record::LoadRecord;
use tare_stats::histogram::LatencyHistogram;

use crate::error::ReportError;

/// The summary as indented JSON (docs/LOAD.md).
///
/// # Errors
/// A number that JSON does not have, which no summary holds.
pub fn json(summary: &LoadSummary) -> Result<String, ReportError> {
    crate::json::render(summary)
}

/// HdrHistogram's percentile distribution of the response times, in milliseconds.
pub fn hgrm(record: &LoadRecord) -> String {
    Clocks::of(record).response.hgrm(1e6)
}

/// The latencies of a whole load, by clock.
#[derive(Default)]
struct Clocks {
    response: LatencyHistogram,
    service: LatencyHistogram,
    send_lag: LatencyHistogram,
    stamp_lag: LatencyHistogram,
}

impl Clocks {
    fn of(record: &LoadRecord) -> Self {
        let mut clocks = Self::default();
        for slice in &record.intervals {
            slice.load.response.merge_into(&mut clocks.response);
            slice.load.service.merge_into(&mut clocks.service);
            slice.load.send_lag.merge_into(&mut clocks.send_lag);
            slice.load.stamp_lag.merge_into(&mut clocks.stamp_lag);
        }
        clocks
    }
}
