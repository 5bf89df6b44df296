//! Servers that are built to be asked or watched, without a run: what `verify`, `serve` and `init` share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tare_plan::Plan;
use tare_plan::plan::{Role, Variant};
use tare_plan::resolve::{Inputs, MachineFacts, resolve_plan};
use tare_plan::settings::Options;
use tare_run::prepare::{Launches, prepare};
use tare_run::server_host::ServerId;
use tare_sut::server::temporary_logs;
use tare_sys::affinity::allowed_cpus;
use tare_units::Span;

use crate::args::{Global, ServerChoice};
use crate::failure::with_argument_names;
use crate::interrupt;
use crate::progress::RunView;
use crate::workspace::Workspace;

pub struct BuiltServers {
    pub workspace: Workspace,
    /// Only its names, versions and JVM settings matter.
    pub plan: Plan,
    pub launches: Launches,
    /// Raised by Ctrl-C.
    pub cancelled: Arc<AtomicBool>,
}

impl BuiltServers {
    /// `servers` are names or globs; all servers where there is none.
    pub fn build(servers: &[String], choice: &ServerChoice, global: &Global) -> anyhow::Result<Self> {
        let mut workspace = Workspace::load(global)?;
        workspace.add_releases(Some(servers), &choice.version);
        let plan = plan(servers, choice, &workspace)?;
        let cancelled = interrupt::flag()?;
        let mut view = RunView::new(global.color);
        let catalog = workspace.catalog.as_ref();
        let launches = prepare(&plan, catalog, &cancelled, &mut |line| view.show_step(line), None, true)?;
        Ok(Self { workspace, plan, launches, cancelled })
    }

    /// Each server once; a control is the same server again.
    pub fn variants(&self) -> Vec<&Variant> {
        let mut seen: Vec<&Variant> = Vec::new();
        let all = self.plan.groups.iter().flat_map(|group| &group.variants);
        for variant in all.filter(|variant| variant.role != Role::Control) {
            if !seen.iter().any(|other| other.name == variant.name) {
                seen.push(variant);
            }
        }
        seen
    }

    /// Starts one server on all cores, hands its address to `ask`, and stops it.
    pub fn while_running<T>(&self, variant: &Variant, ask: impl FnOnce(SocketAddr) -> T) -> anyhow::Result<T> {
        let logs = temporary_logs("server")?;
        let cpus = allowed_cpus()?.to_string();
        let order = self.launches.order(&self.plan, ServerId(0), variant, "server.log", &cpus)?;
        let server = match order.start(logs.path(), &self.cancelled) {
            Ok(server) => server,
            Err(error) => {
                // The error names the file.
                let _kept = logs.keep();
                return Err(error.into());
            }
        };
        let answer = ask(server.address);
        server.stop();
        Ok(answer)
    }
}

fn plan(servers: &[String], choice: &ServerChoice, workspace: &Workspace) -> anyhow::Result<Plan> {
    let suite = workspace.suite_for(choice.suite.as_deref())?;
    let flags = Options {
        servers: (!servers.is_empty()).then(|| servers.to_vec()),
        versions: choice.version.clone().map(|version| vec![version]),
        java: choice.java.clone(),
        // The servers of a suite start within the limit of the suite, as in a run. Those of the catalog have longer: a machine
        // that is busy with other things keeps the same contract.
        startup_timeout: suite.file.is_empty().then_some(Span::from_secs(180)),
        timeout: Some(Span::from_secs(60)),
        // A sequential plan brings in no baseline that was not asked for.
        duration: Some(Span::from_secs(1)),
        // Nothing is cross-checked, so no other load tool is needed.
        engine: Some(Vec::new()),
        ..Options::default()
    };
    let cpus = allowed_cpus()?.iter().collect();
    let plan = resolve_plan(&Inputs {
        suite: &suite,
        flags: &flags,
        profile: None,
        inventory: &workspace.inventory,
        contract: &workspace.contract,
        machine: &MachineFacts { cpus, ..MachineFacts::default() },
        earlier: &[],
        fallback_seed: 0,
    });
    Ok(plan.map_err(|error| with_argument_names(error, &[("--servers", "SERVER"), ("--versions", "--version")]))?)
}
