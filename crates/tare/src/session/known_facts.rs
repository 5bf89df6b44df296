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

use super::servers_machine;

/// Older runs than this many are not consulted: a machine changes.
const NEWEST: usize = 100;

/// The machine that a plan is made for. The flags win over the suite.
pub fn machine_facts(flags: &Options, suite: &Suite) -> anyhow::Result<MachineFacts> {
    let options = [flags, &suite.run];
    let agents = options.into_iter().find_map(|options| options.agents.as_deref());
    let are_agents_elsewhere =
        are_elsewhere(&read_places(&suite.origin_of("agents", flags), agents.unwrap_or_default())?);
    if let Some(host) = servers_machine::connect_by(flags, suite)? {
        let here = (host.is_another_machine() || are_agents_elsewhere).then(allowed_cpus).transpose()?;
        return Ok(MachineFacts {
            cores: vec![host.cpus()],
            generator_cpus: here,
            identity: Environment { sections: host.sections(), ..Environment::default() }.machine_identity(),
            jdk: host.jdk(),
        });
    }
    let chosen = options.into_iter().find_map(|options| options.java.as_deref()).filter(|java| *java != "newest");
    Ok(MachineFacts {
        cores: physical_cores(&allowed_cpus()?),
        generator_cpus: if are_agents_elsewhere { Some(allowed_cpus()?) } else { None },
        identity: Environment { sections: machine_state::machine_facts(), ..Environment::default() }.machine_identity(),
        jdk: Jdk::find_suitable(0, chosen.map(Path::new)).ok().map(|jdk| jdk.major),
    })
}

/// What the newest runs in this folder say. A run that left nothing is passed over.
pub fn earlier_runs(root: &Path) -> Vec<EarlierRun> {
    let dirs = run_dirs(root).unwrap_or_default();
    dirs.iter().rev().take(NEWEST).filter_map(|dir| earlier::read(dir)).collect()
}
