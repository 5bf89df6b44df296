//! One load on one URL (`tare load`): its summary, and the forms it is shown in. The record is a run's with one cell,
//! whose slices are the intervals of the load; validity, page and wrk's text are the same as a run's.

mod bars;
mod csv;
mod hlog;
mod messages;
mod page;
mod summarize;
mod summary;
mod text;
mod threshold;

pub use csv::csv;
pub use hlog::hlog;
pub use messages::MessageSummary;
pub use page::{html, wrk};
pub use summarize::summarize;
pub use summary::{
    Bin, Bytes, Connections, ErrorLine, Generator, Interval, LatencySummary, LoadSummary, Model, Reason, Requests,
    SCHEMA, StatedPercentile, ThresholdResult, Verdict,
};
pub use text::render;

use tare_plan::plan::Program;
use tare_record::sample::RunRecord;
use tare_stats::histogram::LatencyHistogram;

use crate::error::ReportError;

/// The name of the suite in the record of a load.
pub const SUITE: &str = "load";

/// The summary as indented JSON (docs/LOAD.md).
///
/// # Errors
/// A number that JSON does not have, which no summary holds.
pub fn json(summary: &LoadSummary) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(summary)? + "\n")
}

/// Whether a record is that of a load, and not of a run.
pub fn is_load(record: &RunRecord) -> bool {
    let plan = &record.header.plan;
    let mut variants = plan.groups.iter().flat_map(|group| &group.variants);
    plan.suite == SUITE && variants.all(|variant| matches!(variant.program, Program::External { .. }))
}

/// HdrHistogram's percentile distribution of the response times, in milliseconds.
pub fn hgrm(record: &RunRecord) -> String {
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
    fn of(record: &RunRecord) -> Self {
        let mut clocks = Self::default();
        for slice in &record.slices {
            slice.response.merge_into(&mut clocks.response);
            slice.service.merge_into(&mut clocks.service);
            slice.send_lag.merge_into(&mut clocks.send_lag);
            slice.stamp_lag.merge_into(&mut clocks.stamp_lag);
        }
        clocks
    }
}
