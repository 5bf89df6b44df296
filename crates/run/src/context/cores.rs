//! The cores of both sides: those that a plan names, checked against those that there are.

use tare_load::Sending;
use tare_plan::agent_place::are_elsewhere;
use tare_plan::plan::{Plan, SliceKind, Warmup};
use tare_sys::affinity::CpuSet;

use crate::error::RunError;
use crate::machine::generator::agent_places;
use crate::machine::named_cores::{own_cores, present_cores};
use crate::server_host::ServerMachine;

#[derive(Debug, Clone)]
pub(crate) struct Cores {
    pub server: CpuSet,
    /// Empty where agents elsewhere make the load.
    pub load: CpuSet,
    pub warmup: CpuSet,
    /// Whether servers and generator are on machines of their own, so that the same number is not the same core.
    pub are_apart: bool,
    /// Whether an agent has the servers, on this machine or elsewhere.
    pub has_host: bool,
    /// Whether agents make the load, on this machine or elsewhere.
    pub has_agents: bool,
}

impl Cores {
    /// Those of a plan, with the servers on `host`. Agents elsewhere choose their cores themselves.
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
        Ok(Self { server, load, warmup, are_apart, has_host: host.is_some(), has_agents: !agents.is_empty() })
    }

    /// Whether servers and generator use the same cores.
    pub fn are_shared(&self) -> bool {
        !self.are_apart && self.server.overlaps(&self.load)
    }

    /// The cores that are watched beside the servers; none where another process's load would count as other programs.
    pub fn beside_servers(&self) -> CpuSet {
        match (self.has_host || self.has_agents, self.are_shared()) {
            (false, _) => self.server.union(&self.load),
            (true, false) => self.server.clone(),
            (true, true) => CpuSet::from_indices([]),
        }
    }

    /// The cores of the generator, where this process is that and does not watch the servers.
    pub fn beside_generator(&self) -> Option<CpuSet> {
        (self.has_host && !self.has_agents && !self.are_shared()).then(|| self.load.clone())
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
    fn the_load_of_another_process_is_not_counted_as_other_work() {
        let mut plan = plan(&["a"], &["Get"]);
        let here: String = allowed_cpus().unwrap().iter().take(1).map(|cpu| cpu.to_string()).collect();
        let there = ServersElsewhere::CORE.to_string();
        plan.machine.load_cpus.clone_from(&here);
        let mut counted = |server_cpus: &str, host: Option<&dyn ServerMachine>, agents: &[&str]| {
            plan.machine.server_cpus = server_cpus.to_owned();
            plan.machine.agents = agents.iter().map(|place| (*place).to_owned()).collect();
            let cores = Cores::from_plan(&plan, host).unwrap();
            (cores.beside_servers().to_string(), cores.beside_generator().map(|cpus| cpus.to_string()))
        };
        assert_eq!(counted(&here, None, &[]), (here.clone(), None));
        assert_eq!(counted(&here, None, &["local:2"]), (String::new(), None), "whose work it is cannot be told");
        for is_another_machine in [false, true] {
            let elsewhere = ServersElsewhere { is_another_machine };
            assert_eq!(counted(&there, Some(&elsewhere), &[]), (there.clone(), Some(here.clone())));
            assert_eq!(counted(&there, Some(&elsewhere), &["local:2"]), (there.clone(), None));
        }
    }
}
