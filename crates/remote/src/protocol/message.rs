//! Orders of a coordinator, and reports of an agent.

use std::fmt;

use serde::{Deserialize, Serialize};
use tare_load::Opening;

use super::packed_sample::PackedSample;
use super::task::{Answer, Task};

/// The version of the protocol. Both sides must have the same, and the same version of tare. A test of `tidy` makes it from
/// the types of the messages, so that builds which do not understand each other say so before anything else.
pub const PROTOCOL: u32 = 8192;

/// A message of the coordinator to an agent. The first is a hello, and most others are tasks, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "few are in memory at a time")]
pub enum Order {
    /// Tell the agent's version, and go on if it is this one.
    Hello(Version),
    /// Answer with this number and the time, whatever the agent is doing.
    Ping { number: u64 },
    /// Carry out this task and answer it with its number, which is larger than that of the task before.
    Task { number: u64, task: Task },
    /// Start the load whose connections are open, at this time of the agent's monotonic clock.
    Begin { start_ns: u64 },
    /// End the work early. What has been measured is still reported.
    Stop,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Report {
    /// The answer to the hello.
    Greeting(Greeting),
    /// The answer to a ping.
    Clock(ClockReading),
    /// How far the connections of a load are.
    Opening(Opening),
    /// They are open; the agent waits for the start.
    Ready,
    /// The sample of the last period of a load.
    Sample(PackedSample),
    /// The answer to a task, or why it could not be carried out, in one sentence.
    Answer { number: u64, answer: Result<Answer, String> },
    /// Why the agent cannot go on. It stays until its orders end: the output of a process that has ended may be lost.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    pub protocol: u32,
    pub tare: String,
}

impl Version {
    pub fn own() -> Self {
        Self { protocol: PROTOCOL, tare: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "protocol {} of tare {}", self.protocol, self.tare)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    pub version: Version,
    pub host: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    pub number: u64,
    pub monotonic_ns: u64,
    /// Its wall clock, in nanoseconds since 1970 UTC.
    pub unix_ns: u64,
}
