//! Prepares each variant of a plan: builds stale servers of the catalog, builds commands where the suite says how, and
//! looks up servers elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use regex::Regex;
use tare_plan::Plan;
use tare_plan::contract::Contract;
use tare_plan::plan::{CommandServer, Program, Variant};
use tare_plan::server_scheduling::ServerScheduling;
use tare_plan::suite::external_host;
use tare_sut::build::build_by_shell;
use tare_sut::catalog::Catalog;
use tare_sut::jdk::Jdk;
use tare_sut::launch::JvmSettings;
use tare_sut::probe::hiccup::{agent, inside};
use tare_sut::server::{ReadyRule, ServerSpec};
use tare_sys::affinity::CpuSet;
use tare_sys::scheduling::SchedulingPolicy;

use crate::counters;
use crate::engine::{self, Tool};
use crate::error::RunError;
use crate::host::Start;
use crate::java::{jdk_home, oldest_java};
use crate::program_files::program_files;

/// How one variant is started.
#[derive(Debug, Clone)]
pub struct Launch {
    origin: Origin,
    /// Library versions resolved for it.
    pub resolved: BTreeMap<String, String>,
    /// What it must answer, where that is not the catalog's contract.
    own_contract: Option<Contract>,
    /// The agent with the meter of hiccups, for the JVMs among its processes.
    agent: Option<PathBuf>,
    /// Whether its processes tell their counters.
    pub tells_counters: bool,
}

/// Who starts it.
#[derive(Debug, Clone)]
enum Origin {
    /// tare does.
    Ours {
        /// Program and arguments, with `{port}`.
        command: Vec<String>,
        /// Added environment.
        env: BTreeMap<String, String>,
        directory: Option<PathBuf>,
        ready: ReadyRule,
        /// Where it answers, where that is not simply its port.
        base_url: Option<String>,
    },
    /// It runs already.
    External { url: String, address: SocketAddr },
}

/// Server, version and copy of the project: variants that share them share their launch.
type Key = (String, Option<String>, Option<String>);

fn key(variant: &Variant) -> Key {
    (variant.server.clone(), variant.version.clone(), variant.program.other_home().map(str::to_owned))
}

/// The launches of a plan, by server and version.
#[derive(Debug, Clone, Default)]
pub struct Launches {
    by_variant: BTreeMap<Key, Launch>,
    unavailable: BTreeMap<Key, String>,
    java: Option<String>,
    engines: Vec<Tool>,
    /// Why JVMs have no meter of hiccups although the plan wants one.
    pub no_meter: Option<String>,
}

/// What a catalog server's readiness line looks like.
///
/// # Panics
/// Never: the expression is a constant that a test compiles.
pub fn catalog_ready() -> Regex {
    #[allow(clippy::unwrap_used, reason = "a constant expression")]
    Regex::new(r"^tare: ready on 127\.0\.0\.1:(?<port>\d+)$").unwrap()
}

impl Launches {
    /// How `variant` is started.
    ///
    /// # Errors
    /// [`RunError::NotPrepared`] when it was not among the plan's variants.
    pub fn get(&self, variant: &Variant) -> Result<&Launch, RunError> {
        self.by_variant.get(&key(variant)).ok_or_else(|| RunError::NotPrepared(variant.name.clone()))
    }

    /// Why `variant` is not available on this machine; `None` if it is.
    pub fn unavailable(&self, variant: &Variant) -> Option<&str> {
        self.unavailable.get(&key(variant)).map(String::as_str)
    }

    /// Other load tools, ready to drive each cell after tare has.
    pub(crate) fn engines(&self) -> &[Tool] {
        &self.engines
    }

    /// The files of all programs that tare starts, with size and time of change.
    pub(crate) fn program_files(&self) -> BTreeMap<String, String> {
        let files = |launch: &Launch| match &launch.origin {
            Origin::Ours { command, directory, .. } => program_files(command, directory.as_deref()),
            Origin::External { .. } => BTreeMap::new(),
        };
        self.by_variant.values().flat_map(files).collect()
    }

    /// The JDK that the JVM servers run on, where there are any.
    pub fn java(&self) -> Option<&str> {
        self.java.as_deref()
    }
}

/// The kernel's policy for the plan's.
const fn scheduling_policy(planned: ServerScheduling) -> SchedulingPolicy {
    match planned {
        ServerScheduling::Normal => SchedulingPolicy::Normal,
        ServerScheduling::Batch => SchedulingPolicy::Batch,
    }
}

impl Launch {
    /// What is started for `variant`, on `cpus`, with its log at `log_path`.
    pub fn start(&self, plan: &Plan, variant: &Variant, cpus: CpuSet, log_path: PathBuf) -> Start {
        match &self.origin {
            Origin::External { address, .. } => Start::External(*address),
            Origin::Ours { command, env, directory, ready, base_url } => Start::Ours(Box::new(ServerSpec {
                name: variant.name.clone(),
                command: command.clone(),
                env: self.metered(env, &log_path),
                directory: directory.clone(),
                ready: ready.clone(),
                base_url: base_url.clone(),
                cpus,
                scheduling: scheduling_policy(plan.machine.scheduling),
                startup_timeout: plan.machine.startup_timeout.0,
                stop_grace: plan.machine.stop_grace.0,
                log_path,
            })),
        }
    }

    /// The environment, with the JVM option for the meter. The meter's file is in the folder of the log.
    fn metered(&self, env: &BTreeMap<String, String>, log_path: &Path) -> BTreeMap<String, String> {
        let mut env = env.clone();
        if let (Some(agent), Some(folder)) = (&self.agent, log_path.parent()) {
            let mut options = env.remove(inside::VARIABLE).map_or_else(String::new, |own| own + " ");
            options += &inside::jvm_option(agent, folder);
            env.insert(inside::VARIABLE.to_owned(), options);
        }
        env
    }

    /// Program and arguments as they are recorded; for a server that runs elsewhere, its address.
    pub fn command(&self) -> Vec<String> {
        match &self.origin {
            Origin::Ours { command, .. } => command.clone(),
            Origin::External { url, .. } => vec![url.clone()],
        }
    }

    /// The `Host` that requests name, where that is not the address.
    pub fn host(&self) -> Option<String> {
        match &self.origin {
            Origin::Ours { .. } => None,
            Origin::External { url, .. } => external_host(url).ok().map(str::to_owned),
        }
    }

    /// What it must answer: its own contract, where it is a suite's own server; else the catalog's.
    pub fn contract<'a>(&'a self, of_catalog: &'a Contract) -> &'a Contract {
        self.own_contract.as_ref().unwrap_or(of_catalog)
    }
}

/// Makes every variant of the plan ready to be started. `progress` gets a line for each step.
///
/// # Errors
/// When a server cannot be built, a load tool that is asked for is not there, no JDK is found, or a command's readiness
/// expression is none.
pub fn prepare(
    plan: &Plan,
    catalog: Option<&Catalog>,
    cancelled: &AtomicBool,
    progress: &mut dyn FnMut(&str),
) -> Result<Launches, RunError> {
    let mut launches =
        Launches { engines: engine::find_tools(plan, catalog, cancelled, progress)?, ..Launches::default() };
    build_commands(plan, cancelled, progress)?;
    for variant in plan.groups.iter().flat_map(|group| &group.variants) {
        match &variant.program {
            Program::Command(server) => launches.insert(variant, of_command(plan, variant, server)?),
            Program::External { url } => launches.insert(variant, of_external(plan, variant, url)?),
            Program::Catalog | Program::CatalogIn { .. } => {}
        }
    }
    let mut by_home: BTreeMap<Option<&str>, Vec<&Variant>> = BTreeMap::new();
    for variant in plan.groups.iter().flat_map(|group| &group.variants).filter(|v| v.program.is_of_catalog()) {
        by_home.entry(variant.program.other_home()).or_default().push(variant);
    }
    for (home, variants) in by_home {
        let other = home.map(|home| Catalog::load(&Path::new(home).join("servers"))).transpose()?;
        if let Some(catalog) = other.as_ref().or(catalog) {
            of_catalog(plan, catalog, &variants, cancelled, progress, &mut launches)?;
        }
    }
    if plan.probes.hiccups {
        launches.bring_meter(plan, catalog);
    }
    Ok(launches)
}

/// Builds the suite's own servers that say how. Servers of one folder that give the same command share the build.
fn build_commands(plan: &Plan, cancelled: &AtomicBool, progress: &mut dyn FnMut(&str)) -> Result<(), RunError> {
    let mut built: BTreeSet<(&str, Option<&str>)> = BTreeSet::new();
    for variant in plan.groups.iter().flat_map(|group| &group.variants) {
        let Program::Command(server) = &variant.program else { continue };
        let Some(command) = &server.build else { continue };
        if !built.insert((command, server.cwd.as_deref())) {
            continue;
        }
        progress(&format!("building {}", variant.name));
        let directory = server.cwd.as_ref().map(Path::new);
        build_by_shell(&variant.name, command, directory, cancelled, &mut |line| {
            progress(&format!("building {}  {} s  {}", variant.name, line.elapsed.as_secs(), line.text));
        })?;
    }
    Ok(())
}

fn of_command(plan: &Plan, variant: &Variant, server: &CommandServer) -> Result<Launch, RunError> {
    let ready = match &server.ready {
        None => ReadyRule::Listening,
        Some(pattern) => ReadyRule::Line(Regex::new(pattern).map_err(|error| RunError::Plan {
            key: format!("[servers.{}] ready", variant.server),
            message: format!("\"{pattern}\" is not a regular expression: {error}"),
        })?),
    };
    let origin = Origin::Ours {
        command: server.command.clone(),
        env: counters::environment(server)?,
        directory: server.cwd.as_ref().map(PathBuf::from),
        ready,
        base_url: server.base_url.clone(),
    };
    let tells_counters = server.counters.is_some();
    let own_contract = Some(contract_of(plan, variant));
    Ok(Launch { origin, resolved: BTreeMap::new(), own_contract, agent: None, tells_counters })
}

fn of_external(plan: &Plan, variant: &Variant, url: &str) -> Result<Launch, RunError> {
    let wrong = |message: String| RunError::Plan { key: format!("[servers.{}] url", variant.server), message };
    let host = external_host(url).map_err(wrong)?;
    let found = host.to_socket_addrs().map(|mut all| all.next());
    let address = found.map_err(|error| wrong(format!("\"{host}\" cannot be found: {error}; check the name")))?;
    let address = address.ok_or_else(|| wrong(format!("\"{host}\" has no address; check the name")))?;
    let origin = Origin::External { url: url.to_owned(), address };
    let own_contract = Some(contract_of(plan, variant));
    Ok(Launch { origin, resolved: BTreeMap::new(), own_contract, agent: None, tells_counters: false })
}

/// What a server that is not the catalog's must answer: the scenarios that it is driven with and the suite's checks.
fn contract_of(plan: &Plan, variant: &Variant) -> Contract {
    let of_variant = |group: &&tare_plan::plan::Group| group.variants.iter().any(|v| v.server == variant.server);
    let named = plan.groups.iter().filter(of_variant).flat_map(|group| &group.scenarios);
    Contract {
        schema: 1,
        scenarios: named.map(|named| (named.name.clone(), named.scenario.clone())).collect(),
        checks: plan.checks.clone(),
        ..Contract::default()
    }
}

impl Launches {
    fn insert(&mut self, variant: &Variant, launch: Launch) {
        self.by_variant.insert(key(variant), launch);
    }

    /// Gives every launch the meter for JVMs. A run goes on without it, with fewer figures.
    fn bring_meter(&mut self, plan: &Plan, catalog: Option<&Catalog>) {
        let build = || {
            let catalog = catalog.ok_or("the folder of the project, with probes/jvm, is not found")?;
            let jdk = Jdk::find_suitable(0, jdk_home(plan)).map_err(|error| error.to_string())?;
            agent::build_agent(catalog, &jdk).map_err(|error| error.to_string())
        };
        match build() {
            Ok(agent) => self.by_variant.values_mut().for_each(|launch| launch.agent = Some(agent.clone())),
            Err(reason) => self.no_meter = Some(reason),
        }
    }
}

/// Builds what is stale among the catalog's variants, and takes their command lines from the manifests.
fn of_catalog(
    plan: &Plan,
    catalog: &Catalog,
    variants: &[&Variant],
    cancelled: &AtomicBool,
    progress: &mut dyn FnMut(&str),
    launches: &mut Launches,
) -> Result<(), RunError> {
    let home = jdk_home(plan);
    // Before minutes are spent on a build: is there a JVM to run it on?
    if let Some(minimum) = oldest_java(catalog, variants)? {
        let jdk = Jdk::find_suitable(minimum, home)?;
        launches.java = Some(format!("{} ({})", jdk.version, jdk.home.display()));
    }
    let mut targets = Vec::new();
    for variant in variants {
        targets.push(catalog.resolve_target(&variant.server, variant.version.as_deref())?);
    }
    targets.sort();
    targets.dedup();
    let of_baseline = if variants.iter().any(|v| v.program.other_home().is_some()) { " of the baseline" } else { "" };
    progress(&format!("looking whether the servers{of_baseline} are built"));
    let compiler = Jdk::find_compiler().ok().map(|jdk| jdk.home);
    let unavailable: BTreeMap<_, _> = catalog
        .build_targets(&targets, compiler.as_deref(), cancelled, &mut |line| {
            progress(&format!("building servers{of_baseline}  {} s  {}", line.elapsed.as_secs(), line.text));
        })?
        .into_iter()
        .collect();
    let jvm = JvmSettings { options: &plan.machine.jvm_options, processors: plan.machine.jvm_cpus, java_home: home };
    for variant in variants {
        let target = catalog.resolve_target(&variant.server, variant.version.as_deref())?;
        if let Some(why) = unavailable.get(&target) {
            launches.unavailable.insert(key(variant), why.reason.clone());
            continue;
        }
        let launched = catalog.server_launch(&variant.server, &target, jvm)?;
        let origin = Origin::Ours {
            command: launched.command,
            env: BTreeMap::new(),
            directory: None,
            ready: ReadyRule::Line(catalog_ready()),
            base_url: None,
        };
        launches.insert(
            variant,
            Launch { origin, resolved: launched.resolved, own_contract: None, agent: None, tells_counters: false },
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
