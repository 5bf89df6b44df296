//! The machine of the servers of a plan, and what a new plan learns from it and from earlier runs.

use std::path::Path;

use tare_analysis::earlier;
use tare_load::Cancel;
use tare_plan::agent_place::are_elsewhere;
use tare_plan::earlier::EarlierRun;
use tare_plan::plan::Machine;
use tare_plan::resolve::MachineFacts;
use tare_plan::settings::Options;
use tare_plan::suite::Suite;
use tare_plan::{Plan, PlanError};
use tare_record::environment::Environment;
use tare_record::store::run_dirs;
use tare_remote::{HostChoice, RemoteHost};
use tare_run::RunError;
use tare_run::load_host::read_places;
use tare_run::machine_state;
use tare_run::server_host::ServerMachine;
use tare_sut::jdk::Jdk;
use tare_sys::affinity::{allowed_cpus, physical_cores};

use crate::{console, interrupt};

/// Older runs than this many are not consulted: a machine changes.
const NEWEST: usize = 100;

/// The home of the JDK that is named; `newest` names none.
fn java_home(java: Option<&str>) -> Option<&Path> {
    java.filter(|java| *java != "newest").map(Path::new)
}

/// Connects to the machine of a plan's servers; `None` where they run on this one.
pub fn connect(plan: &Plan) -> anyhow::Result<Option<RemoteHost>> {
    let Machine { server_host, server_address, java, .. } = plan.machine.clone();
    let flags = Options { server_host, server_address, java: Some(java), ..Options::default() };
    connect_by(&flags, &Suite::default())
}

/// The same before there is a plan. The flags win over the suite.
fn connect_by(flags: &Options, suite: &Suite) -> anyhow::Result<Option<RemoteHost>> {
    let named = |of: fn(&Options) -> Option<&str>| [flags, &suite.run].into_iter().find_map(of);
    let Some(place) = named(|options| options.server_host.as_deref()) else { return Ok(None) };
    let address = named(|options| options.server_address.as_deref());
    let java = java_home(named(|options| options.java.as_deref()));
    let cancel = Cancel::from(interrupt::flag()?);
    let mut progress = |text: &str| console::print_note(&format!("  {text}"));
    let connected = RemoteHost::connect(HostChoice { place, address, java }, &cancel, &mut progress);
    let connected = connected.map_err(|error| match error {
        RunError::Plan(PlanError::Value { origin, message }) => {
            let key = origin.trim_start_matches('-').replace('-', "_");
            PlanError::value(suite.origin_of(&key, flags), message).into()
        }
        other => other,
    });
    Ok(Some(connected?))
}

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
