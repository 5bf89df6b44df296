//! Evidence: measured values as versioned types on disk. They are raw; the report derives everything else.

pub mod cross_check;
pub mod environment;
pub mod error;
mod event;
mod event_kind;
mod event_words;
pub mod figure;
pub mod header;
pub mod keeping;
mod load;
mod probe;
pub mod profile;
pub mod sample;
mod slice;
pub mod store;

pub use error::RecordError;
pub use header::LoadHeader;
pub use load::{LoadRecord, Record};
pub use sample::RunRecord;
pub use slice::{SliceKey, SliceRecord, StoredSlice};
pub use store::{RunWriter, allot_run_dir, find_run, list_runs, open, open_run};
pub use tare_sample::PackedHistogram;
