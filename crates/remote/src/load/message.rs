//! Orders and reports about the load of a run, between tare and an agent that makes it. The protocol of agents carries them as
//! JSON.

use serde::{Deserialize, Serialize};
use tare_record::EventRecord;
use tare_record::environment::FactSection;
use tare_sut::contract::CheckOutcome;

use tare_run::load_host::SessionOrder;
use tare_run::load_host::SliceLoad;
use tare_run::load_host::VerifyOrder;
use tare_run::server_host::ServerId;

/// An order about the load of a run. The agent answers each one.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum LoadOrder {
    /// Describe the machine.
    Describe,
    /// Make this share of the load from now on. The answer lists what disturbs measuring on the agent's cores.
    Share(AgentShare),
    /// Check the answers of a server.
    Verify(VerifyOrder),
    /// Prepare the load of one scenario. Connections open with the first turn.
    Open(Vec<SessionOrder>),
    /// Drive one turn of load against one server. Each agent makes its share of it.
    Drive { server: ServerId, load: SliceLoad },
    /// Close all connections.
    Close,
}

/// Which part of each turn an agent makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentShare {
    /// Which agent it is, from 0.
    pub agent: u32,
    pub agents: u32,
    /// Cores of its generator, such as `2-3`; empty where it decides.
    pub cpus: String,
    /// Whole cores of its pod; 0 where it is in none.
    pub pod_cpus: u32,
    /// Agents on the node of its pod, before this one.
    pub before_on_node: u32,
}

/// The answer to an order. The sample of a turn is sent beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum LoadReport {
    Done,
    /// Machine and kernel.
    Facts(Vec<FactSection>),
    Disturbances(Vec<EventRecord>),
    Verified(Vec<CheckOutcome>),
    /// Sessions are prepared. `workers` is the largest number of worker threads of one session.
    Opened {
        workers: u32,
    },
    /// The turn began this long before the answer was sent, in nanoseconds.
    Driven {
        begun_ns_ago: u64,
    },
    /// The order could not be carried out: the reason.
    Failed(String),
}
