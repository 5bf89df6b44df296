//! The forms of one load (`tare load`). The page, and wrk's text are those of a run with one cell.

mod agents;
mod answers;
mod csv;
mod hlog;
mod messages;
mod page;
mod text;

pub use csv::csv;
pub use hlog::hlog;
pub use page::{html, summary_as_run, wrk};
pub use text::render;

use tare_analysis::load::response_times;
use tare_record::LoadRecord;

/// HdrHistogram's percentile distribution of the response times, in milliseconds.
pub fn hgrm(record: &LoadRecord) -> String {
    response_times(record).to_hgrm(1e6)
}
