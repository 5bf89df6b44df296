//! What a coordinator and its agents tell one another: orders and reports, each in a frame of known length.

mod error;
mod frame;
mod message;
mod packed_sample;
mod sampled;
mod task;

pub use error::ProtocolError;
pub use frame::{Bytes, LONGEST_ORDER, LONGEST_REPORT, encode_frame, read_frame};
pub use message::{ClockReading, Greeting, Order, Report, Version};
pub use packed_sample::{LoadTotals, PackedSample, pack_sample, unpack_sample};
pub use sampled::SampledReport;
pub use task::{
    AgentCores, AgentShare, Answer, DrivenShare, Equipped, FilePart, LoadCommand, LoadTask, MachineFacts, ServersTask,
    StoppedServer, Task,
};
pub(crate) use task::{answer_of, label_event};
