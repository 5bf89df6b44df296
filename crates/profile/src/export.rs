//! Formats for other tools, one file each.

mod pprof;
mod speedscope;
mod svg;

pub use pprof::write_pprof;
pub use speedscope::write_speedscope;
pub use svg::{draw_difference, draw_flame_graph};

/// The unit of stacks' weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Samples,
    Nanoseconds,
    Bytes,
}
