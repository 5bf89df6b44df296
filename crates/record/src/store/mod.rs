//! The store: one SQLite file per run, `.tare/runs/<id>/record.sqlite`, written after every slice. WAL mode allows
//! reading a run that is still being written. Each entry is one transaction, so that `kill -9` loses no measured value.
//! A finished record is a single file.

mod folder;
mod reader;
mod resume;
mod rows;
mod schema;
mod texts;
mod writer;

pub use folder::{RunBrief, RunEntry, allot_run_dir, find_run, list_runs, run_dirs, unreadable_after};
pub use reader::{open_record, open_run_record};
pub use resume::{InterruptedRun, ReopenedRun};
pub use texts::{copy_record, record_texts, rewrite_record};
pub use writer::RunWriter;

/// Name of the database inside the folder of a run.
pub const RECORD_FILE: &str = "record.sqlite";

/// What every record begins with, as every file of SQLite does.
pub const FIRST_BYTES: &[u8] = b"SQLite format 3\0";
