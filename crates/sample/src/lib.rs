//! What one slice of load showed: [`SliceSample`], which the generator fills, the record keeps and the report reads.
//! Its histograms are open for recording, or bytes ([`PackedHistogram`]) once thousands of slices are kept.
//! [`Protocol`], [`TlsTrust`], [`Arrivals`] and [`ServerClock`] are what a plan states of a load.

mod answers;
mod clock;
mod contradiction;
mod error_class;
mod interval_division;
mod latency_parts;
mod messages;
mod packed;
mod protocol;
mod slice_sample;

pub use answers::{RequestTally, StatusTallies, StatusTally};
pub use clock::{ClockEstimate, ClockSamples, ServerClock};
pub use error_class::{ErrorClass, ErrorTallies, ErrorTally};
pub use interval_division::IntervalDivision;
pub use latency_parts::{IdleSpan, LatencyParts, silences};
pub use messages::MessageTally;
pub use packed::PackedHistogram;
pub use protocol::{Arrivals, Protocol, TlsTrust};
pub use slice_sample::{SliceSample, TracedRequest};
