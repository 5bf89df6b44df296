//! Evidence: measured values as versioned types on disk. They are raw; the report derives everything else.

pub mod checkpoint;
pub mod cross_check;
pub mod curve;
pub mod environment;
pub mod error;
mod event;
pub mod figure;
mod probe;
pub mod profile;
mod run;
pub mod store;

pub use error::RecordError;
pub use event::{EventKind, EventLevel, EventName, EventRecord, LatencyPlan, SelfTestFigures};
pub use probe::{
    CollectorUse, Hiccups, KnownStops, Pause, PauseCause, RESTLESS_SHARE, RuntimeUse, ServerCpu, ServerUse,
};
pub use run::{
    AgentRecord, EndStatus, ForkRecord, LoadHeader, LoadRecord, Phase, Record, RunHeader, RunRecord, SliceKey,
    StoredSlice, WarmupRecord,
};
pub use store::{RunWriter, allot_run_dir, find_run, list_runs, open_record, open_run_record};
pub use tare_sample::{
    ClockEstimate, ErrorClass, ErrorTallies, ErrorTally, IdleSpan, IntervalDivision, LatencyParts, MessageTally,
    PackedHistogram, RequestTally, SliceSample, StatusTallies, StatusTally, silences,
};
