//! Formats for other tools, one file each.

mod pprof;
mod speedscope;
mod svg;

pub use pprof::pprof;
pub use speedscope::speedscope;
pub use svg::{differential_svg, svg};

/// The unit of stacks' weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Samples of a clock.
    Samples,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
}
