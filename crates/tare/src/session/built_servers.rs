//! Servers that are built to be asked or watched, without a run: what `verify`, `serve` and `init` share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::anyhow;
use tare_plan::Plan;
use tare_plan::plan::{Role, Variant};
use tare_plan::resolve::{Inputs, MachineFacts, resolve_plan};
use tare_plan::settings::Options;
use tare_run::prepare::{Launches, prepare};
use tare_run::server_host::ServerId;
use tare_sut::server::{Server, Status, temporary_logs};
use tare_sys::affinity::{allowed_cpus, physical_cores};
use tare_units::Span;

use crate::args::{Global, ServerChoice};
use crate::failure::{with_argument_names, wrong_usage};
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
    /// `servers` are names or globs; all servers where there is none. More than `most` are refused before any is built.
    pub fn build(servers: &[String], most: usize, choice: &ServerChoice, global: &Global) -> anyhow::Result<Self> {
        let mut workspace = Workspace::load(global)?;
        workspace.add_releases(Some(servers), &choice.version);
        let plan = plan(servers, choice, &workspace)?;
        super::note_inherited(&plan);
        let names: Vec<&str> = variants(&plan).into_iter().map(|variant| variant.name.as_str()).collect();
        if names.len() > most {
            let (named, names) = (servers.join(","), names.join(", "));
            return Err(wrong_usage(format!("{named} names several servers ({names}); name one")));
        }
        let cancelled = interrupt::flag()?;
        let mut view = RunView::new(global.color);
        let catalog = workspace.catalog.as_ref();
        let launches = prepare(&plan, catalog, &cancelled, &mut |line| view.show_step(line), None, true)?;
        Ok(Self { workspace, plan, launches, cancelled })
    }

    pub fn variants(&self) -> Vec<&Variant> {
        variants(&self.plan)
    }

    /// Starts one server on all cores, hands its address to `ask`, and stops it. `left_open` names the first question without an
    /// answer; it is an error if the server has ended there.
    pub fn while_running<T>(
        &self,
        variant: &Variant,
        ask: impl FnOnce(SocketAddr) -> T,
        left_open: impl FnOnce(&T) -> Option<String>,
    ) -> anyhow::Result<T> {
        let logs = temporary_logs("server")?;
        let cpus = allowed_cpus()?;
        let order = self.launches.order(&self.plan, ServerId(0), variant, "server.log", &cpus)?;
        let asked =
            order.start(logs.path(), &self.cancelled).map_err(anyhow::Error::from).and_then(|(address, own)| {
                let answer = ask(address);
                let end = left_open(&answer).and_then(|question| {
                    let end = how_ended(&variant.name, own.as_ref()?.status_of_silent())?;
                    Some(anyhow!("{end} at {question}; {}", ends_of_logs(own.iter().flat_map(Server::chain))))
                });
                own.map(Server::stop);
                end.map_or(Ok(answer), Err)
            });
        if asked.is_err() && !interrupt::is_raised(&self.cancelled) {
            // The error names the file.
            let _kept = logs.keep();
        }
        asked
    }
}

/// Each server once, behind all of its baselines: of several groups, a server may have several. A control is the same server
/// again.
fn variants(plan: &Plan) -> Vec<&Variant> {
    let mut left: Vec<&Variant> = Vec::new();
    for variant in plan.groups.iter().flat_map(|group| &group.variants).filter(|one| one.role != Role::Control) {
        if !left.iter().any(|other| other.name == variant.name) {
            left.push(variant);
        }
    }
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waits = |one: &Variant| {
            let groups = plan.groups.iter().filter(|group| group.variants.iter().any(|other| other.name == one.name));
            let mut baselines = groups.map(|group| &group.baseline().name).filter(|name| **name != one.name);
            baselines.any(|name| left.iter().any(|other| other.name == *name))
        };
        // Those of a circle wait for one another.
        let next = left.iter().position(|one| !waits(one)).unwrap_or(0);
        ordered.push(left.remove(next));
    }
    ordered
}

/// How a server has ended by itself, or one behind it; `None` for one that runs.
pub fn how_ended(name: &str, status: Status) -> Option<String> {
    match status {
        Status::Exited(how) => Some(format!("{name} ended ({how})")),
        Status::UpstreamExited { server, how } => Some(format!("{server} behind {name} ended ({how})")),
        Status::Running | Status::Stopped => None,
    }
}

/// Of a server, and of those behind it by their names.
pub fn ends_of_logs<'a>(mut chain: impl Iterator<Item = &'a Server>) -> String {
    let first = chain.next().map(Server::end_of_log);
    let behind = chain.map(|server| format!("{}: {}", server.name(), server.end_of_log()));
    first.into_iter().chain(behind).collect::<Vec<_>>().join("\n")
}

fn plan(servers: &[String], choice: &ServerChoice, workspace: &Workspace) -> anyhow::Result<Plan> {
    let suite = workspace.suite_for(choice.suite.as_deref())?;
    let flags = Options {
        servers: (!servers.is_empty()).then(|| servers.to_vec()),
        versions: choice.version.clone().map(|version| vec![version]),
        java: choice.java.clone(),
        // A suite states its own limit. Those of the catalog have longer than in a run: the machine may be busy.
        startup_timeout: suite.file.is_empty().then_some(Span::from_secs(180)),
        timeout: Some(Span::from_secs(60)),
        // A sequential plan brings in no baseline that was not asked for.
        duration: Some(Span::from_secs(1)),
        // Nothing is cross-checked, so no other load tool is needed.
        engine: Some(Vec::new()),
        ..Options::default()
    };
    let cores = physical_cores(&allowed_cpus()?);
    let plan = resolve_plan(&Inputs {
        suite: &suite,
        flags: &flags,
        profile: None,
        inventory: &workspace.inventory,
        contract: &workspace.contract,
        machine: &MachineFacts { cores, ..MachineFacts::default() },
        earlier: &[],
        fallback_seed: 0,
    });
    Ok(plan.map_err(|error| with_argument_names(error, &[("--servers", "SERVER"), ("--versions", "--version")]))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::group;

    #[test]
    fn a_server_stands_behind_all_of_its_baselines() {
        let order = |groups: &[&str]| {
            let plan = Plan { groups: groups.iter().map(|names| group(names)).collect(), ..Plan::default() };
            variants(&plan).into_iter().map(|variant| variant.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(order(&["a x", "b y"]), "a x b y", "as listed");
        assert_eq!(order(&["a x y", "b x"]), "a y b x");
        assert_eq!(order(&["b x", "a b"]), "a b x");
        assert_eq!(order(&["a b", "b a"]), "a b", "a circle");
    }
}
