//! A load by several generators: the protocol between a coordinator and its agents, and the state of the fleet. Processes,
//! threads and clocks are in `tare_run`.
//!
//! The coordinator sends [`Order`]s and an agent sends [`Report`]s, each in a frame of known length ([`read_frame`]).
//! The coordinator keeps a [`Fleet`]. It processes the reports of all agents, notices lost ones, and returns the merged sample of
//! each period.

mod error;
mod fleet;
mod frame;
mod message;
mod offset;
mod packed_sample;
mod rounds;

pub use error::ProtocolError;
pub use fleet::{AgentCounts, AgentPhase, Fleet, FleetAgent, LATE_NS, LONGEST_SILENCE_NS, LONGEST_WAIT_NS};
pub use frame::{LONGEST_ORDER, LONGEST_REPORT, encode_frame, read_frame};
pub use message::{
    AgentFacts, Assignment, Begin, ClockReading, Done, Failure, Greeting, Hello, InputFile, OpenConnections, Order,
    OrderKind, PROTOCOL, PackedSample, Ping, Prepare, Ready, Report, ReportKind, RunOrder, RunReport, Stop,
};
pub use offset::ClockOffset;
pub use packed_sample::{pack_sample, unpack_sample};
pub use rounds::Rounds;
