//! What must hold for any bytes whatever, one function per reader of foreign bytes; each panics where it does not hold.
//! `fuzz/` looks for bytes that break them, and the replay test of this crate holds them to what was ever found.

mod answer;
mod evidence;
mod websocket;
mod written;

pub use answer::{answer, chunks};
pub use evidence::{histogram, record};
pub use websocket::{frames, upgrade};
pub use written::{feed, template};

/// A property of bytes.
pub type Property = fn(&[u8]);

/// All properties, by the names of their fuzz targets.
pub const ALL: [(&str, Property); 8] = [
    ("answer", answer),
    ("chunks", chunks),
    ("feed", feed),
    ("frames", frames),
    ("histogram", histogram),
    ("record", record),
    ("template", template),
    ("upgrade", upgrade),
];
