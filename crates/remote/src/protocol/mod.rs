//! What a coordinator and its agents tell one another: orders and reports, each in a frame of known length.

mod frame;
mod message;
mod packed_sample;
mod sampled;
mod task;

use thiserror::Error;

pub use frame::{Bytes, LONGEST_ORDER, LONGEST_REPORT, encode_frame, read_frame};
pub use message::{ClockReading, Greeting, Order, Report, Version};
pub use packed_sample::{LoadTotals, PackedSample, pack_sample, unpack_sample};
pub use sampled::SampledReport;
pub use task::{
    AgentCores, AgentShare, Answer, DrivenShare, Equipped, FilePart, LoadCommand, LoadTask, MachineFacts, ServersTask,
    StoppedServer, Task,
};
pub(crate) use task::{answer_of, label_event};

#[derive(Debug, Error)]
pub enum ProtocolError {
    /// The pipe failed or ended within a message.
    #[error("the connection broke: {0}")]
    Pipe(#[from] std::io::Error),
    #[error("a message of {bytes} bytes, more than {limit}: is it text that a shell prints at login?")]
    TooLong { bytes: u64, limit: u64 },
    #[error("a message of {bytes} bytes, more than {limit}: are the files of its requests too large?")]
    TooLongToSend { bytes: u64, limit: u64 },
    /// Orders that end before the first.
    #[error(
        "no orders come on standard input; tare load --agents and tare run --agents start this, and give it orders"
    )]
    NoOrders,
    #[error("bytes that are no message of this version of tare, which both sides must have: {0}")]
    Undecodable(#[from] serde_json::Error),
    #[error("{0} at the wrong time")]
    WrongPhase(&'static str),
    #[error("it speaks {0}, and this is {own}; use the same version of tare on both sides", own = Version::own())]
    Version(Version),
    #[error("a sample that cannot be true: {0}")]
    Sample(String),
}
