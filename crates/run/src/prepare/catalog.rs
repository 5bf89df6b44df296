//! Launches of the catalog's servers: built here from their manifests, and run by a Java of the servers' machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use tare_plan::Plan;
use tare_plan::plan::{Changes, CommandServer, Program, Transport, Variant, merged_options};
use tare_sut::SutError;
use tare_sut::catalog::{Catalog, Target, Unavailable};
use tare_sut::jdk::Jdk;
use tare_sut::launch::{JvmSettings, ProgramFacts, check_jvm_options};

use super::{CATALOG_READY, Launch, Launches, Origin, key};
use crate::error::RunError;
use crate::server_host::ServerMachine;

/// The environment variable that tells a server what to speak, where that is not HTTP/1.1.
const PROTOCOL_VARIABLE: &str = "TARE_PROTOCOL";
/// The environment variable with its certificate and private key (PEM), where it shall speak TLS. A server elsewhere has no file of them.
const CERTIFICATE_VARIABLE: &str = "TARE_CERTIFICATE";

/// Where the catalog's variants are built, and where they run.
pub(super) struct CatalogBuild<'a> {
    pub(super) plan: &'a Plan,
    pub(super) catalog: &'a Catalog,
    pub(super) cancelled: &'a AtomicBool,
    pub(super) host: Option<&'a dyn ServerMachine>,
}

impl CatalogBuild<'_> {
    /// Builds what is stale, and takes the command lines from the manifests.
    pub(super) fn launch(
        &self,
        variants: &[&Variant],
        progress: &mut dyn FnMut(&str),
        launches: &mut Launches,
    ) -> Result<(), RunError> {
        let Self { plan, catalog, .. } = *self;
        // Before minutes are spent on a build: is there a JVM to run it on?
        let java = self.java(variants)?;
        if let Some(jdk) = &java {
            launches.java = Some(format!("{} ({})", jdk.version, jdk.home.display()));
        }
        let unavailable = self.build(variants, progress)?;
        let jvm =
            JvmSettings { options: &plan.machine.jvm_options, processors: plan.machine.jvm_cpus, java: java.as_ref() };
        for variant in variants {
            let target = catalog.resolve_target(variant.catalog_server(), variant.version.as_deref())?;
            if let Some(why) = unavailable.get(&target) {
                launches.unavailable.insert(key(variant), why.reason.clone());
                continue;
            }
            let (launched, env, has_options) = match &variant.program {
                Program::CatalogLike { like, changes, transport } => {
                    let launched = self.launch_changed(like, &target, jvm, changes)?;
                    // A variable of the suite wins.
                    let env = self.spoken(transport)?.into_iter().chain(changes.env.clone()).collect();
                    (launched, env, !changes.jvm_options.is_empty())
                }
                _ => (catalog.server_launch(&variant.server, &target, jvm)?, BTreeMap::new(), false),
            };
            let (command, ready) = (launched.command, Some(CATALOG_READY.to_owned()));
            let server = CommandServer { command, env, ready, ..CommandServer::default() };
            // Elsewhere the JVM says it when it is started.
            if self.host.is_none() && has_options {
                check_jvm_options(&variant.server, &server)?;
            }
            let origin = Origin::Ours(Box::new(server));
            launches.insert(variant, Launch { origin, resolved: launched.resolved });
        }
        Ok(())
    }

    /// The variables that tell a server what to speak; none for HTTP/1.1.
    fn spoken(&self, transport: &Transport) -> Result<BTreeMap<String, String>, RunError> {
        if !transport.is_http2() {
            return Ok(BTreeMap::new());
        }
        let mut env = BTreeMap::from([(PROTOCOL_VARIABLE.to_owned(), transport.version().name().to_owned())]);
        if transport.tls.is_some() {
            let path = self.catalog.certificate();
            let pem =
                fs::read_to_string(&path).map_err(SutError::file("read the certificate of the catalog", &path))?;
            env.insert(CERTIFICATE_VARIABLE.to_owned(), pem);
        }
        Ok(env)
    }

    /// The command line of a server of the catalog with changes.
    fn launch_changed(
        &self,
        server: &str,
        target: &Target,
        jvm: JvmSettings<'_>,
        changes: &Changes,
    ) -> Result<ProgramFacts, RunError> {
        let options = merged_options(jvm.options, &changes.jvm_options);
        let minimum = self.catalog.min_java(&target.family)?;
        let own = changes.java.as_deref().map(|home| self.find_java(minimum, Some(Path::new(home)))).transpose()?;
        let jvm = JvmSettings { options: &options, java: own.as_ref().or(jvm.java), ..jvm };
        let mut launched = self.catalog.server_launch(server, target, jvm)?;
        launched.command.extend(changes.args.iter().cloned());
        Ok(launched)
    }

    /// The JDK that all of these run on, where any needs one.
    fn java(&self, variants: &[&Variant]) -> Result<Option<Jdk>, RunError> {
        let minimum = oldest_java(self.catalog, variants)?;
        minimum.map(|minimum| self.find_java(minimum, jdk_home(self.plan))).transpose()
    }

    /// A JDK of the servers' machine, as [`Jdk::find_suitable`] chooses it.
    fn find_java(&self, minimum: u32, home: Option<&Path>) -> Result<Jdk, RunError> {
        match self.host {
            None => Ok(Jdk::find_suitable(minimum, home)?),
            Some(host) => host.find_java(minimum, home),
        }
    }

    /// Builds what is stale. Returns what this machine cannot build, and why.
    fn build(
        &self,
        variants: &[&Variant],
        progress: &mut dyn FnMut(&str),
    ) -> Result<BTreeMap<Target, Unavailable>, RunError> {
        let catalog = self.catalog;
        let target = |one: &&Variant| catalog.resolve_target(one.catalog_server(), one.version.as_deref());
        let mut targets = variants.iter().map(target).collect::<Result<Vec<_>, _>>()?;
        targets.sort();
        targets.dedup();
        let is_other = variants.iter().any(|v| v.program.other_home().is_some());
        let of_baseline = if is_other { " of the baseline" } else { "" };
        progress(&format!("looking whether the servers{of_baseline} are built"));
        let compiler = Jdk::find_compiler().ok().map(|jdk| jdk.home);
        let unavailable = catalog.build_targets(&targets, compiler.as_deref(), self.cancelled, &mut |time, line| {
            progress(&format!("building servers{of_baseline}  {} s  {line}", time.as_secs()));
        })?;
        Ok(unavailable.into_iter().collect())
    }
}

/// The home of the JDK that the plan names; `None` for the newest one that is found.
pub(super) fn jdk_home(plan: &Plan) -> Option<&Path> {
    (plan.machine.java != "newest").then(|| Path::new(&plan.machine.java))
}

/// The Java that all of these servers of the catalog run on; `None` where none runs on a JVM.
fn oldest_java(catalog: &Catalog, variants: &[&Variant]) -> Result<Option<u32>, RunError> {
    let oldest =
        variants.iter().map(|variant| catalog.family_of(variant.catalog_server()).map(|(_, family)| family.min_java));
    Ok(oldest.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().max())
}

/// Checks the JDK that a plan names, if its servers need one. A plan may be made on a machine without Java.
pub fn check_java(plan: &Plan, catalog: Option<&Catalog>) -> Result<(), RunError> {
    let (Some(home), Some(catalog)) = (jdk_home(plan), catalog) else { return Ok(()) };
    let variants = plan.groups.iter().flat_map(|group| &group.variants);
    let is_of_catalog = |variant: &&Variant| matches!(variant.program, Program::Catalog | Program::CatalogLike { .. });
    let of_catalog: Vec<&Variant> = variants.filter(is_of_catalog).collect();
    if let Some(minimum) = oldest_java(catalog, &of_catalog)? {
        Jdk::find_suitable(minimum, Some(home))?;
    }
    Ok(())
}
