//! What is said about the load of a run between tare and an agent that makes it. The protocol of agents carries it as text.

use serde::{Deserialize, Serialize};
use tare_load::Sending;
use tare_plan::plan::SliceKind;
use tare_record::environment::FactSection;
use tare_record::{EventRecord, Phase};
use tare_sut::contract::CheckOutcome;
use tare_units::Span;

use super::VerifyOrder;
use crate::server_id::ServerId;
use crate::session::SessionOrder;
use crate::slice::SliceLoad;

/// An order about the load of a run. Each has one answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum LoadOrder {
    /// Describe the machine.
    Describe,
    /// Make the load as one of several agents, on these cores. What disturbs measuring there?
    Share(AgentShare),
    /// Check the answers of a server.
    Verify(VerifyOrder),
    /// Prepare the load of one scenario. Connections open with the first turn.
    Open(Vec<SessionOrder>),
    /// Drive one turn of load against one server.
    Drive { server: ServerId, turn: TurnOrder },
    /// Close all connections.
    Close,
}

/// Which part of each turn an agent makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AgentShare {
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

/// The answer to an order. The sample of a turn comes beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum LoadReport {
    Done,
    /// Machine and kernel.
    Facts(Vec<FactSection>),
    Disturbances(Vec<EventRecord>),
    Verified(Vec<CheckOutcome>),
    /// Sessions are prepared, each with this many worker threads.
    Opened {
        workers: u32,
    },
    /// The turn began this long before the answer was sent, in nanoseconds.
    Driven {
        begun_ns_ago: u64,
    },
    /// The order could not be carried out: why.
    Failed(String),
}

/// One turn of load. Each agent makes its share of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TurnOrder {
    kind: SliceKind,
    phase: Phase,
    users: u32,
    rate_per_s: f64,
    length: Span,
    discard: Span,
    seed: u64,
}

impl From<&SliceLoad> for TurnOrder {
    fn from(load: &SliceLoad) -> Self {
        let SliceLoad { kind, phase, users, rate_per_s, length, discard, seed, .. } = *load;
        Self { kind, phase, users, rate_per_s, length: Span(length), discard: Span(discard), seed }
    }
}

impl From<TurnOrder> for SliceLoad {
    /// The generator does not spin: who else uses its cores is not known there.
    fn from(turn: TurnOrder) -> Self {
        let TurnOrder { kind, phase, users, rate_per_s, length, discard, seed } = turn;
        let (length, discard) = (length.0, discard.0);
        Self { kind, phase, round: 0, users, rate_per_s, length, discard, seed, sending: Sending::Exact }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_turn_arrives_as_it_was_sent() {
        let load = SliceLoad {
            kind: SliceKind::Poisson,
            phase: Phase::Measure,
            round: 0,
            users: 64,
            rate_per_s: 1_234.5,
            length: Duration::from_millis(400),
            discard: Duration::from_millis(100),
            seed: 7,
            sending: Sending::Exact,
        };
        let text = serde_json::to_string(&TurnOrder::from(&load)).unwrap();
        let read: SliceLoad = serde_json::from_str::<TurnOrder>(&text).unwrap().into();
        let drain = Duration::from_secs(1);
        assert_eq!(format!("{:?}", read.spec(drain)), format!("{:?}", load.spec(drain)));
    }
}
