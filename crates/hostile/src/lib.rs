//! Properties that must hold for any bytes, one function per parser of foreign bytes. A function panics if its property
//! does not hold. `fuzz/` searches for such bytes, and the replay test of this crate repeats those that were found.

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
