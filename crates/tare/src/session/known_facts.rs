//! What a new plan learns from this machine: its facts, and the runs that it has made before.

use std::path::Path;

use tare_analysis::earlier;
use tare_plan::agent_place::are_elsewhere;
use tare_plan::earlier::EarlierRun;
use tare_plan::resolve::MachineFacts;
use tare_plan::settings::Options;
use tare_plan::suite::Suite;
use tare_record::environment::Environment;
use tare_record::store::run_dirs;
use tare_run::load_host::read_places;
use tare_run::machine_state;
use tare_run::server_host::ServerMachine;
use tare_sut::jdk::Jdk;
use tare_sys::affinity::{allowed_cpus, physical_cores};

use super::servers_machine::{connect_by, java_home};

/// Older runs than this many are not consulted: a machine changes.
const NEWEST: usize = 100;

/// The machine that a plan is made for. The flags win over the suite.
pub fn machine_facts(flags: &Options, suite: &Suite) -> anyhow::Result<MachineFacts> {
    let options = [flags, &suite.run];
    let agents = options.into_iter().find_map(|options| options.agents.as_deref());
    let are_agents_elsewhere =
        are_elsewhere(&read_places(&suite.origin_of("agents", flags), agents.unwrap_or_default())?);
    let host = connect_by(flags, suite)?;
    let is_elsewhere = are_agents_elsewhere || host.as_ref().is_some_and(ServerMachine::is_another_machine);
    let generator_cpus = is_elsewhere.then(allowed_cpus).transpose()?;
    let (cores, sections, jdk) = match &host {
        Some(host) => (vec![host.cpus()], host.sections(), host.jdk()),
        None => {
            let java = java_home(options.into_iter().find_map(|options| options.java.as_deref()));
            let cores = physical_cores(&allowed_cpus()?);
            (cores, machine_state::machine_facts(), Jdk::find_suitable(0, java).ok().map(|jdk| jdk.major))
        }
    };
    Ok(MachineFacts {
        cores,
        generator_cpus,
        identity: Environment { sections, ..Environment::default() }.machine_identity(),
        jdk,
    })
}

/// What the newest runs in this folder say. A run that left nothing is passed over.
pub fn earlier_runs(root: &Path) -> Vec<EarlierRun> {
    let dirs = run_dirs(root).unwrap_or_default();
    dirs.iter().rev().take(NEWEST).filter_map(|dir| earlier::read(dir)).collect()
}
