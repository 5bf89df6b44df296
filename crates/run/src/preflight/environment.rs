//! The environment of a run: the facts that can change a figure, captured once at its start.

use std::collections::BTreeMap;

use tare_plan::Plan;
use tare_record::environment::{Environment, FactSection};

use crate::load_host::LoadMachines;
use crate::machine::machine_state::{machine_facts, section};
use crate::prepare::Launches;
use crate::server_host::ServerMachine;

/// Captures machine, kernel, JVM and versions: of the servers' machine, then of this one, then of the agents'.
pub fn capture_environment(
    plan: &Plan,
    launches: &Launches,
    host: Option<&dyn ServerMachine>,
    agents: Option<&dyn LoadMachines>,
) -> Environment {
    let mut sections = match host {
        None => machine_facts(),
        Some(host) => {
            let of_generator =
                |facts: FactSection| FactSection { title: format!("{} of the generator", facts.title), ..facts };
            host.sections().into_iter().chain(machine_facts().into_iter().map(of_generator)).collect()
        }
    };
    sections.extend(agents.iter().flat_map(|agents| agents.sections()));
    sections.extend(launches.java.as_ref().map(|java| {
        let (options, cpus) = (plan.machine.jvm_options.join(" "), plan.machine.jvm_cpus.to_string());
        section("JVM", [("JDK", Some(java.clone())), ("options", Some(options)), ("ActiveProcessorCount", Some(cpus))])
    }));
    // Variants of one family and version share what was resolved: each table is shown once.
    let mut tables: BTreeMap<String, &BTreeMap<String, String>> = BTreeMap::new();
    for variant in plan.started() {
        if let Some(launch) = launches.get(variant).ok().filter(|launch| !launch.resolved.is_empty()) {
            let version = variant.version.as_deref().map_or(String::new(), |version| format!(" {version}"));
            let baseline = if variant.program.other_home().is_some() { " (baseline)" } else { "" };
            tables.insert(format!("Versions: {}{version}{baseline}", variant.family), &launch.resolved);
        }
    }
    sections.extend(tables.into_iter().map(|(title, resolved)| FactSection {
        title,
        facts: resolved.iter().map(|(name, version)| (name.clone(), version.clone())).collect(),
    }));
    // The load of agents takes other paths.
    let network = host.filter(|_| agents.is_none()).map(ServerMachine::bandwidth);
    Environment { sections, network }
}
