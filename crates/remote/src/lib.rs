//! Servers and load on other machines: agents, the links to them, and their protocol.
//!
//! An agent is a process of tare on this machine, by ssh on another, or in a pod of a cluster. Nothing listens on any address.
//! An agent takes orders from its standard input and ends when that ends, so no agent outlives its coordinator.
//! `tare-run` has the interfaces that this crate implements: `ServerMachine`, `ServerHost`, `LoadMachines`, `RunLoad` and
//! `LoadSource`.

mod fleet;
mod link;
mod load;
mod protocol;
mod serve;
mod servers;

pub use fleet::Fleet;
pub use link::kubernetes::{Cluster, JobShape, PodShape, agent_manifests, remove_agent_jobs};
pub use link::starting::{AgentsOrder, PodOrder};
pub use load::{AgentFleet, LoadAgents};
pub use protocol::{
    AgentShare, Bytes, Greeting, LONGEST_ORDER, LONGEST_REPORT, LoadCommand, Order, PackedSample, ProtocolError,
    Report, Version, encode_frame, pack_sample, read_frame,
};
pub use serve::{BuildJob, serve_agent};
pub use servers::{HostChoice, RemoteHost};
