//! The cores of both sides: those that a plan names, checked against those that there are.

use tare_load::Sending;
use tare_plan::agent_place::are_elsewhere;
use tare_plan::plan::{Plan, SliceKind, Warmup};
use tare_sys::affinity::CpuSet;

use crate::error::RunError;
use crate::machine::agent_places::agent_places;
use crate::machine::named_cores::{own_cores, present_cores};
use crate::server_host::ServerMachine;

/// The cores of both sides, as sets.
#[derive(Debug, Clone)]
pub(crate) struct Cores {
    pub server: CpuSet,
    pub load: CpuSet,
    /// Where servers warm up.
    pub warmup: CpuSet,
    /// Whether servers and generator are on machines of their own, so that the same number is not the same core.
    pub are_apart: bool,
    /// Whether another process makes the load than the one that watches the servers: agents make it, or an agent has the
    /// servers.
    pub is_load_elsewhere: bool,
}

impl Cores {
    /// Those of a plan. `host` is the machine of the servers, where that is another one. Agents elsewhere choose their cores
    /// themselves.
    pub fn from_plan(plan: &Plan, host: Option<&dyn ServerMachine>) -> Result<Self, RunError> {
        let (of_load, of_server) = (plan.origin_of("load_cpus"), plan.origin_of("server_cpus"));
        let here = own_cores(&of_load)?;
        let agents = agent_places(plan)?;
        let are_agents_elsewhere = are_elsewhere(&agents);
        let load = if are_agents_elsewhere {
            CpuSet::from_indices([])
        } else {
            present_cores(&of_load, &plan.machine.load_cpus, &here, "")?
        };
        let (of_servers, place) = host.map_or((here, String::new()), |host| (host.cpus(), format!(" on {host}")));
        let server = present_cores(&of_server, &plan.machine.server_cpus, &of_servers, &place)?;
        let are_apart = are_agents_elsewhere || host.is_some_and(ServerMachine::is_another_machine);
        let warmup = match plan.warmup {
            Warmup::UntilSteady { all_cpus: true, .. } if are_apart => of_servers,
            Warmup::UntilSteady { all_cpus: true, .. } => server.union(&load),
            _ => server.clone(),
        };
        Ok(Self { server, load, warmup, are_apart, is_load_elsewhere: host.is_some() || !agents.is_empty() })
    }

    /// Whether servers and generator use the same cores.
    pub fn are_shared(&self) -> bool {
        !self.are_apart && self.server.overlaps(&self.load)
    }

    /// The cores of a measurement on the machine of the servers. The load of another process would count as the work of other
    /// programs.
    pub fn beside_servers(&self) -> CpuSet {
        if self.is_load_elsewhere { self.server.clone() } else { self.server.union(&self.load) }
    }

    /// How a slice of this kind sends: the generator busy-waits under an open load, if the plan wants it and no server runs on its cores.
    pub fn sending_mode(&self, kind: SliceKind, spin: bool) -> Sending {
        let may_spin = spin && kind != SliceKind::Saturating && !self.are_shared();
        if may_spin { Sending::Spinning } else { Sending::Exact }
    }
}

#[cfg(test)]
mod tests {
    use tare_sys::affinity::allowed_cpus;

    use super::*;
    use crate::tests::{ServersElsewhere, plan};

    #[test]
    fn the_load_of_another_process_than_that_beside_the_servers_is_not_counted_as_other_work() {
        let mut plan = plan(&["a"], &["Get"]);
        plan.machine.load_cpus = allowed_cpus().unwrap().iter().take(1).map(|cpu| cpu.to_string()).collect();
        let beside = |plan: &Plan, host: Option<&dyn ServerMachine>| {
            Cores::from_plan(plan, host).map(|cores| cores.beside_servers().iter().count()).unwrap()
        };
        plan.machine.server_cpus = plan.machine.load_cpus.clone();
        assert_eq!(beside(&plan, None), 1);
        plan.machine.server_cpus = ServersElsewhere::CORE.to_string();
        for is_another_machine in [false, true] {
            assert_eq!(beside(&plan, Some(&ServersElsewhere { is_another_machine })), 1, "the core of the servers");
        }
    }
}
