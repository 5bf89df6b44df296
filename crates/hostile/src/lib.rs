//! Properties that must hold for any bytes, one function per parser of foreign bytes. A function panics if its property
//! does not hold. `fuzz/` searches for such bytes, and the replay test of this crate repeats those that were found.

mod agents;
mod answer;
mod connection;
mod other_programs;
mod stored_files;
mod user_files;
mod websocket;

pub use agents::check_report;
pub use answer::{check_answer, check_chunks, check_sections};
pub use connection::{check_http2, check_pipelined};
pub use other_programs::{check_counters, check_procfs, check_stacks};
pub use stored_files::{check_histogram, check_record};
pub use user_files::{check_check, check_feed, check_suite, check_template};
pub use websocket::{check_frames, check_upgrade};

/// A property of bytes.
pub type Property = fn(&[u8]);

/// All properties, by the names of their fuzz targets.
pub const ALL: [(&str, Property); 17] = [
    ("answer", check_answer),
    ("check", check_check),
    ("chunks", check_chunks),
    ("counters", check_counters),
    ("feed", check_feed),
    ("frames", check_frames),
    ("histogram", check_histogram),
    ("http2", check_http2),
    ("pipelined", check_pipelined),
    ("procfs", check_procfs),
    ("record", check_record),
    ("report", check_report),
    ("sections", check_sections),
    ("stacks", check_stacks),
    ("suite", check_suite),
    ("template", check_template),
    ("upgrade", check_upgrade),
];
