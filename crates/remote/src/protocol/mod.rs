//! What a coordinator and its agents tell one another: orders and reports, each in a frame of known length.

mod error;
mod frame;
mod message;
mod packed_sample;

pub use error::ProtocolError;
pub use frame::{LONGEST_ORDER, LONGEST_REPORT, encode_frame, read_frame};
pub use message::{
    AgentFacts, Assignment, Begin, ClockReading, Done, Failure, Greeting, Hello, InputFile, OpenConnections, Order,
    OrderKind, PROTOCOL, PackedSample, Ping, Prepare, Ready, Report, ReportKind, RunOrder, RunReport, Stop,
};
pub use packed_sample::{pack_sample, unpack_sample};
