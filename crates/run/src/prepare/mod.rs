//! Prepares each variant of a plan: builds stale servers of the catalog, builds commands where the suite says how, and
//! looks up servers elsewhere.

mod catalog;
pub(crate) mod engine;
pub(crate) mod program_files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tare_plan::agent_place::are_elsewhere;
use tare_plan::contract::Contract;
use tare_plan::plan::{CommandServer, Program, Variant};
use tare_plan::suite::external_host;
use tare_plan::{Plan, PlanError};
use tare_sut::build::{build_agent, build_by_shell};
use tare_sut::catalog::Catalog;
use tare_sut::jdk::Jdk;
use tare_sut::launch::check_jvm_options;
use tare_sut::server::ServerSpec;
use tare_sys::affinity::CpuSet;
use tare_units::file_name;

use crate::error::RunError;
use crate::machine::generator::{agent_places, needed_open_files};
use crate::prepare::catalog::jdk_home;
use crate::prepare::engine::Tool;
use crate::prepare::program_files::files_of_server;
use crate::server_host::{FileSender, ServerId, ServerMachine, StartOrder, StartOrigin};
pub use catalog::check_java;

#[derive(Debug, Clone)]
pub struct Launch {
    origin: Origin,
    pub resolved: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
enum Origin {
    /// tare does.
    Ours(Box<CommandServer>),
    /// It runs already.
    External { url: String, address: SocketAddr },
}

/// Server, version, copy of the project and protocol: variants that share them share their launch.
type Key = (String, Option<String>, Option<String>, &'static str);

fn key(variant: &Variant) -> Key {
    let Variant { server, version, program, .. } = variant;
    let home = program.other_home().map(str::to_owned);
    (server.clone(), version.clone(), home, program.transport().version().name())
}

/// The launches of a plan, by server and version.
#[derive(Debug, Clone, Default)]
pub struct Launches {
    by_variant: BTreeMap<Key, Launch>,
    unavailable: BTreeMap<Key, String>,
    /// The agent with the meter of hiccups, for the JVMs among the processes.
    agent: Option<PathBuf>,
    /// Where servers on another machine shall listen.
    address: Option<IpAddr>,
    /// The JDK that the JVM servers run on, where there are any.
    pub(crate) java: Option<String>,
    /// Other load tools, ready to drive each cell after tare has.
    pub(crate) engines: Vec<Tool>,
    /// Why JVMs have no meter of hiccups although the plan wants one.
    pub no_meter: Option<String>,
}

/// The expression of a readiness line of the catalog and of the built-in server.
pub const CATALOG_READY: &str = r"^tare: ready on \S+:(?<port>\d+)$";

impl Launches {
    /// How `variant` is started; [`RunError::NotPrepared`] when it was not among the plan's variants.
    pub fn get(&self, variant: &Variant) -> Result<&Launch, RunError> {
        self.by_variant.get(&key(variant)).ok_or_else(|| RunError::NotPrepared(variant.name.clone()))
    }

    /// Why `variant`, or a server behind it, is not available on this machine; `None` if it is.
    pub fn unavailable(&self, variant: &Variant) -> Option<&str> {
        variant.chain().find_map(|server| self.unavailable.get(&key(server))).map(String::as_str)
    }

    /// The order to start `variant` on `cpus`, with this name of its log.
    pub fn order(
        &self,
        plan: &Plan,
        id: ServerId,
        variant: &Variant,
        log_name: &str,
        cpus: &CpuSet,
    ) -> Result<StartOrder, RunError> {
        let origin = match &self.get(variant)?.origin {
            Origin::External { address, .. } => StartOrigin::External(*address),
            Origin::Ours(_) => StartOrigin::Ours(Box::new(self.spec(plan, variant, log_name, cpus)?)),
        };
        Ok(StartOrder {
            id,
            origin,
            open_files: needed_open_files(plan),
            meter: self.agent.clone(),
            // The times of stops on another machine are those of another clock.
            logs_stops: !plan.slices.latency.is_zero() && plan.machine.server_host.is_none(),
            address: self.address.unwrap_or(Ipv4Addr::LOCALHOST.into()),
        })
    }

    /// How `variant` is started. In a chain, the log of a server behind a proxy has its name added.
    fn spec(&self, plan: &Plan, variant: &Variant, log_name: &str, cpus: &CpuSet) -> Result<ServerSpec, RunError> {
        let Origin::Ours(server) = &self.get(variant)?.origin else {
            return Err(RunError::NotPrepared(variant.name.clone()));
        };
        let behind = |behind: &Variant| {
            let log_name = format!("{}+{}.log", log_name.trim_end_matches(".log"), file_name(&[&behind.name]));
            self.spec(plan, behind, &log_name, cpus).map(Box::new)
        };
        let CommandServer { command, env, files, ready, base_url, cwd, counters, .. } = CommandServer::clone(server);
        Ok(ServerSpec {
            name: variant.name.clone(),
            command,
            env,
            directory: cwd.map(PathBuf::from),
            files,
            upstream: variant.upstream.as_deref().map(behind).transpose()?,
            ready,
            port: None,
            base_url,
            counters,
            cpus: cpus.clone(),
            scheduling: plan.machine.scheduling,
            startup_timeout: plan.machine.startup_timeout.0,
            stop_grace: plan.machine.stop_grace.0,
            log_path: log_name.into(),
        })
    }

    /// The versions of libraries that `variant` uses, with those of what is behind it.
    pub fn resolved(&self, variant: &Variant) -> Result<BTreeMap<String, String>, RunError> {
        let mut all = BTreeMap::new();
        for server in variant.chain() {
            all.extend(self.get(server)?.resolved.clone());
        }
        Ok(all)
    }

    /// The files of all programs that tare starts, with size and time of change.
    pub(crate) fn program_files(&self) -> BTreeMap<String, String> {
        let files = |launch: &Launch| match &launch.origin {
            Origin::Ours(server) => files_of_server(server),
            Origin::External { .. } => BTreeMap::new(),
        };
        self.by_variant.values().flat_map(files).collect()
    }

    fn insert(&mut self, variant: &Variant, launch: Launch) {
        self.by_variant.insert(key(variant), launch);
    }

    /// Builds the meter for JVMs and sets it in every launch. If it cannot be built, the run has fewer figures.
    fn build_and_set_meter(
        &mut self,
        plan: &Plan,
        catalog: Option<&Catalog>,
        cancelled: &AtomicBool,
        host: Option<&dyn ServerMachine>,
    ) {
        let build = || {
            let catalog = catalog.ok_or("the folder of the project, with probes/jvm, is not found")?;
            // The meter is built on this machine. The JDK that the plan names is on the machine of the servers.
            let jdk = Jdk::find_suitable(0, jdk_home(plan).filter(|_| host.is_none()));
            jdk.and_then(|jdk| build_agent(catalog, &jdk, cancelled)).map_err(|error| error.to_string())
        };
        match build() {
            Ok(agent) => self.agent = Some(agent),
            Err(reason) => self.no_meter = Some(reason),
        }
    }

    /// Sends the files of all programs to `host`, and starts them from there.
    fn send_programs(&mut self, host: &dyn ServerMachine, progress: &mut dyn FnMut(&str)) -> Result<(), RunError> {
        let mut sender = FileSender::new(host, progress);
        self.address = Some(host.address());
        self.agent = self.agent.as_deref().map(|agent| sender.send(agent)).transpose()?;
        for launch in self.by_variant.values_mut() {
            if let Origin::Ours(server) = &mut launch.origin {
                let directory = server.cwd.take();
                server.command = sender.send_command(&server.command, directory.as_deref().map(Path::new))?;
            }
        }
        Ok(())
    }
}

impl Launch {
    pub(crate) const fn is_external(&self) -> bool {
        matches!(self.origin, Origin::External { .. })
    }

    /// Whether an option of its JVM says how many cores it has, so that it need not start on them.
    pub(crate) fn is_told_its_cores(&self) -> bool {
        let option = |word: &String| word.starts_with("-XX:ActiveProcessorCount=");
        matches!(&self.origin, Origin::Ours(server) if server.command.iter().any(option))
    }

    /// Program and arguments as they are recorded; for a server that runs elsewhere, its address.
    pub fn command(&self) -> Vec<String> {
        match &self.origin {
            Origin::Ours(server) => server.command.clone(),
            Origin::External { url, .. } => vec![url.clone()],
        }
    }

    /// The `Host` that requests name, where that is not the address.
    pub fn host(&self) -> Option<String> {
        match &self.origin {
            Origin::Ours(_) => None,
            Origin::External { url, .. } => external_host(url).ok(),
        }
    }
}

/// A server that has become ready, as the load sees it: what it must answer, and where.
pub(crate) struct DrivenServer<'a> {
    pub variant: Variant,
    pub launch: &'a Launch,
    pub contract: Contract,
    pub address: SocketAddr,
}

/// Makes every variant of the plan ready to be started, on `host` where that is given, and says each step to
/// `progress`. Without `builds`, the suite's own servers are started as they are.
pub fn prepare(
    plan: &Plan,
    catalog: Option<&Catalog>,
    cancelled: &AtomicBool,
    progress: &mut dyn FnMut(&str),
    host: Option<&dyn ServerMachine>,
    builds: bool,
) -> Result<Launches, RunError> {
    let mut launches =
        Launches { engines: engine::find_tools(plan, catalog, cancelled, progress)?, ..Launches::default() };
    if builds {
        build_commands(plan, cancelled, progress)?;
    }
    let is_asked_from_here = !are_elsewhere(&agent_places(plan)?);
    for variant in plan.started() {
        if is_asked_from_here && !variant.program.is_of_catalog() {
            check_tls_files(variant)?;
        }
        match &variant.program {
            Program::Command(server) => {
                // Elsewhere the JVM says it when it is started.
                if host.is_none() && (server.java.is_some() || !server.jvm_options.is_empty()) {
                    check_jvm_options(&variant.server, server)?;
                }
                let origin = Origin::Ours(server.clone());
                launches.insert(variant, Launch { origin, resolved: BTreeMap::new() });
            }
            Program::External { url, .. } => launches.insert(variant, of_external(plan, variant, url)?),
            Program::Catalog | Program::CatalogIn { .. } | Program::CatalogLike { .. } => {}
        }
    }
    let mut by_home: BTreeMap<Option<&str>, Vec<&Variant>> = BTreeMap::new();
    for variant in plan.started().filter(|variant| variant.program.is_of_catalog()) {
        by_home.entry(variant.program.other_home()).or_default().push(variant);
    }
    for (home, variants) in by_home {
        let other = home.map(|home| Catalog::load(&Path::new(home).join("servers"))).transpose()?;
        // A run that is resumed may have been planned where the project is, or with --home.
        let Some(catalog) = other.as_ref().or(catalog) else {
            let message =
                "the servers of the plan are of tare's own project, and its folder is not found here; name it";
            return Err(PlanError::value("--home", message).into());
        };
        let build = catalog::CatalogBuild { plan, catalog, cancelled, host };
        build.launch(&variants, progress, &mut launches)?;
    }
    if plan.probes.hiccups {
        launches.build_and_set_meter(plan, catalog, cancelled, host);
    }
    if let Some(host) = host {
        launches.send_programs(host, progress)?;
    }
    Ok(launches)
}

/// Builds the suite's own servers that say how. Servers of one folder that give the same command share the build.
fn build_commands(plan: &Plan, cancelled: &AtomicBool, progress: &mut dyn FnMut(&str)) -> Result<(), RunError> {
    let mut built: BTreeSet<(&str, Option<&str>)> = BTreeSet::new();
    for variant in plan.started() {
        let Program::Command(server) = &variant.program else { continue };
        let Some(command) = &server.build else { continue };
        if !built.insert((command, server.cwd.as_deref())) {
            continue;
        }
        progress(&format!("building {}", variant.name));
        let directory = server.cwd.as_ref().map(Path::new);
        build_by_shell(&variant.name, command, directory, cancelled, &mut |time, line| {
            progress(&format!("building {}  {} s  {line}", variant.name, time.as_secs()));
        })?;
    }
    Ok(())
}

/// Opens the files that TLS needs, before anything is started.
fn check_tls_files(variant: &Variant) -> Result<(), PlanError> {
    let tls = variant.program.transport().tls.unwrap_or_default();
    for (key, file) in [("ca", tls.ca), ("certificate", tls.certificate), ("key", tls.key)] {
        let Some(file) = file else { continue };
        File::open(&file).map_err(|error| {
            let message = format!("{file}: {error}; name a readable file in PEM");
            PlanError::value(format!("tls.{key} of {}", variant.name), message)
        })?;
    }
    Ok(())
}

fn of_external(plan: &Plan, variant: &Variant, url: &str) -> Result<Launch, PlanError> {
    let wrong = |message: String| PlanError::value(format!("[servers.{}] url", variant.server), message);
    let host = external_host(url).map_err(wrong)?;
    let address = if are_elsewhere(&agent_places(plan)?) {
        // A name may mean something else here, or nothing: agents resolve it.
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
    } else {
        resolve(&host).map_err(wrong)?
    };
    let origin = Origin::External { url: url.to_owned(), address };
    Ok(Launch { origin, resolved: BTreeMap::new() })
}

/// The address of `name:port`; in words, why there is none.
pub(crate) fn resolve(host: &str) -> Result<SocketAddr, String> {
    let found = host.to_socket_addrs().map(|mut all| all.next());
    let address = found.map_err(|error| format!("\"{host}\" cannot be found: {error}; check the name"))?;
    address.ok_or_else(|| format!("\"{host}\" has no address; check the name"))
}

#[cfg(test)]
mod tests;
