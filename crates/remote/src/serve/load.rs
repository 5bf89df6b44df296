//! The agent's side: handles orders about the load of a run, with the same sessions as a run without agents.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::pack_sample;
use tare_load::{Cancel, Share};
use tare_sys::affinity::CpuSet;
use tare_sys::clock::{self, Nanos};

use crate::link::order_handler::{Attachment, OrderHandler};
use crate::load::message::{AgentShare, LoadOrder, LoadReport};
use tare_run::RunError;
use tare_run::load::{allow_connections, generator_cpus, pod_generator_cpus};
use tare_run::load_host::SessionOrder;
use tare_run::load_host::SliceLoad;
use tare_run::load_host::{OwnLoad, RunLoad};
use tare_run::machine_state::{disturbances, machine_facts};
use tare_run::server_host::ServerId;

/// The generator of an agent.
pub(crate) struct AgentGenerator {
    share: AgentShare,
    part: Share,
    /// Its cores; they depend on the number of connections, and are empty until sessions are opened.
    cpus: CpuSet,
    load: OwnLoad,
    cancelled: Arc<AtomicBool>,
}

impl AgentGenerator {
    /// No share yet. `cancelled` ends a turn early.
    pub(crate) fn new(cancelled: &Arc<AtomicBool>) -> Self {
        let cpus = CpuSet::from_indices([]);
        let load = OwnLoad::new(cpus.clone(), Share::WHOLE, Cancel::from(Arc::clone(cancelled)));
        let share = AgentShare { agent: 0, agents: 1, cpus: String::new(), pod_cpus: 0, before_on_node: 0 };
        Self { share, part: Share::WHOLE, cpus, load, cancelled: Arc::clone(cancelled) }
    }

    fn execute(&mut self, order: LoadOrder) -> Result<(LoadReport, Attachment), RunError> {
        let report = match order {
            LoadOrder::Describe => LoadReport::Facts(machine_facts()),
            LoadOrder::Share(share) => {
                self.part = Share { worker: share.agent as usize, workers: share.agents.max(1) as usize };
                self.share = share;
                LoadReport::Disturbances(disturbances(&self.cpus_for(1)?, &self.cancelled))
            }
            LoadOrder::Verify(order) => LoadReport::Verified(order.carry_out()),
            LoadOrder::Open(sessions) => {
                self.open(sessions)?;
                LoadReport::Opened { workers: self.load.most_workers() }
            }
            LoadOrder::Drive { server, load } => return self.drive(server, &load),
            LoadOrder::Close => {
                self.load.close();
                LoadReport::Done
            }
        };
        Ok((report, Attachment::Nothing))
    }

    /// The cores of a generator with this many connections. A worker without a connection would have nothing to do.
    fn cpus_for(&self, connections: u32) -> Result<CpuSet, RunError> {
        let AgentShare { cpus, pod_cpus, before_on_node, .. } = &self.share;
        let cpus = match (cpus.as_str(), pod_cpus) {
            ("", 0) => generator_cpus(None, None, connections)?,
            ("", pod_cpus) => pod_generator_cpus(*pod_cpus, *before_on_node, connections)?,
            (list, _) => generator_cpus(Some(list), None, connections)?,
        };
        Ok(CpuSet::from_indices(cpus.iter().take(connections.max(1) as usize)))
    }

    fn open(&mut self, sessions: Vec<SessionOrder>) -> Result<(), RunError> {
        let own = |session: &SessionOrder| self.part.part_of(session.connections.into()) as u32;
        allow_connections(sessions.iter().map(own).sum())?;
        self.cpus = self.cpus_for(sessions.iter().map(own).max().unwrap_or(1))?;
        self.load = OwnLoad::new(self.cpus.clone(), self.part, Cancel::from(Arc::clone(&self.cancelled)));
        self.load.open(sessions)
    }

    fn drive(&mut self, server: ServerId, load: &SliceLoad) -> Result<(LoadReport, Attachment), RunError> {
        let sample = self.load.drive(server, load, &mut |_| {})?;
        let begun = Nanos(sample.start_ns);
        let packed = pack_sample(&sample.pack(), begun.0);
        Ok((LoadReport::Driven { begun_ns_ago: clock::now().since(begun) }, Attachment::Sample(packed)))
    }
}

impl OrderHandler for AgentGenerator {
    type Order = LoadOrder;
    type Report = LoadReport;

    fn handle_order(&mut self, order: LoadOrder, _: &[u8]) -> Result<(LoadReport, Attachment), String> {
        self.execute(order).map_err(|error| error.to_string())
    }

    fn failure_report(reason: String) -> LoadReport {
        LoadReport::Failed(reason)
    }
}
