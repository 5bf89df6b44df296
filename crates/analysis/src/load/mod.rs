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

use tare_plan::condition::Clock;
use tare_record::LoadRecord;
use tare_stats::histogram::LatencyHistogram;

pub fn response_times(record: &LoadRecord) -> LatencyHistogram {
    Clocks::of_record(record).response
}

#[derive(Default)]
struct Clocks {
    response: LatencyHistogram,
    service: LatencyHistogram,
    send_lag: LatencyHistogram,
    stamp_lag: LatencyHistogram,
}

impl Clocks {
    fn of(&self, clock: Clock) -> &LatencyHistogram {
        match clock {
            Clock::Response => &self.response,
            Clock::Service => &self.service,
            Clock::SendLag => &self.send_lag,
        }
    }

    fn of_record(record: &LoadRecord) -> Self {
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
