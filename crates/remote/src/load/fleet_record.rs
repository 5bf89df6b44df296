//! What the record of a load says of its agents.

use tare_record::{AgentRecord, EventKind, EventRecord};
use tare_run::load::Equipment;
use tare_units::distinct;

use crate::fleet::FleetAgent;

/// What all agents make the load with; values that differ are listed.
pub fn equipment_of(agents: &[FleetAgent], equipment: &[Equipment]) -> Equipment {
    let list = |of: fn(&Equipment) -> &str| distinct(equipment.iter().map(of)).join(", ");
    Equipment {
        agents: agents.iter().map(|agent| agent.record.name.clone()).collect(),
        load_cpus: list(|of| &of.load_cpus),
        congestion: list(|of| &of.congestion),
        keeps_cpus_awake: list(|of| &of.keeps_cpus_awake),
        sending: list(|of| &of.sending),
    }
}

pub fn agent_records(agents: &[FleetAgent], equipment: &[Equipment], begin_ns: u64) -> Vec<AgentRecord> {
    let record = |(agent, equipment): (&FleetAgent, &Equipment)| {
        let loss = agent.loss().map(|(reason, at_ns)| (reason.to_owned(), at_ns.saturating_sub(begin_ns)));
        let (lost, lost_at_ns) = loss.unzip();
        AgentRecord {
            load_cpus: equipment.load_cpus.clone(),
            lost,
            lost_at_ns,
            clock_offset_ns: agent.offset.map(|offset| offset.wall_ns),
            round_trip_ns: agent.offset.map(|offset| offset.round_trip_ns),
            ..agent.record.clone()
        }
    };
    agents.iter().zip(equipment).map(record).collect()
}

/// An event for each agent that was lost, in the order in which they were. `asked_per_s` is the rate of the whole load.
pub fn loss_events(agents: &[FleetAgent], begin_ns: u64, asked_per_s: Option<f64>) -> Vec<EventRecord> {
    let mut lost: Vec<_> = agents.iter().filter_map(|agent| Some((agent.loss()?, agent))).collect();
    lost.sort_by_key(|((_, at_ns), _)| *at_ns);
    let event = |(before, ((reason, at_ns), agent)): (usize, ((&str, u64), &FleetAgent))| {
        let at_ns = at_ns.saturating_sub(begin_ns);
        let kind = EventKind::AgentLost {
            agent: agent.record.name.clone(),
            reason: reason.to_owned(),
            from_s: agent.reported_ns / 1_000_000_000,
            noticed_s: Some(at_ns / 1_000_000_000),
            left: (agents.len() - before - 1) as u32,
            of: agents.len() as u32,
            asked_per_s,
        };
        EventRecord { at_ns, ..EventRecord::new(kind) }
    };
    lost.into_iter().enumerate().map(event).collect()
}
