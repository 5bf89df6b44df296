//! One load on one URL (`tare load`): its summary. The rules of validity are those of a run with one cell.

mod bars;
mod describe;
mod differences;
mod summarize;
mod summary;
mod threshold;

pub use crate::summary::ThresholdResult;
pub use describe::describe;
pub use differences::{LoadDifferences, LoadFigureChange, LoadSide, compare_loads};
pub use summarize::summarize;
pub use summary::*;

use tare_record::{LoadRecord, PackedHistogram, SliceSample};
use tare_stats::histogram::LatencyHistogram;

pub fn response_times(record: &LoadRecord) -> LatencyHistogram {
    merged(record, |load| &load.response)
}

fn merged(record: &LoadRecord, clock: impl Fn(&SliceSample<PackedHistogram>) -> &PackedHistogram) -> LatencyHistogram {
    let mut all = LatencyHistogram::new();
    record.intervals.iter().for_each(|slice| clock(&slice.load).merge_into(&mut all));
    all
}
