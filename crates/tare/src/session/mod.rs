//! What `run`, `check`, `bisect` and `profile` share: a plan is made, its servers are built, it is measured and reported.

mod built_servers;
mod known_facts;
mod measure;
mod presentation;

use std::collections::BTreeSet;
use std::path::PathBuf;

use tare_analysis::Summary;
use tare_analysis::summary::{CheckResult, ValidityState};
use tare_plan::Plan;
use tare_plan::plan::{Group, Mode, Program, Variant};
use tare_plan::profile::ProfileOptions;
use tare_plan::resolve::{Inputs, resolve_plan};
use tare_plan::settings::{Options, SettingInfo, all_settings};
use tare_plan::suite::Suite;
use tare_record::store::RECORD_FILE;
use tare_record::{EndStatus, EventKind, EventLevel, EventRecord, RunRecord};
use tare_run::RunError;
use tare_run::prepare::check_java;
use tare_sut::SutError;
use tare_sut::sampler::check_folder;
use tare_sys::clock;

use crate::args::{self, AgentOptions, Global, WhenUndecided};
use crate::failure::{Outcome, error_text, is_cancelled};
use crate::workspace::Workspace;
use crate::{console, plan_text};
use known_facts::{earlier_runs, machine_facts};

pub use built_servers::{BuiltServers, ends_of_logs, how_ended};
pub use presentation::{find_record, present_report, profiled_beside};

/// The project and the flags that every command has.
pub struct Session<'a> {
    pub workspace: Workspace,
    pub global: &'a Global,
    pub agents: AgentOptions,
}

pub struct EndedRun {
    pub record: RunRecord,
    pub run_dir: PathBuf,
    /// Its profiling starts, where the plan has some.
    profiled: Option<RunRecord>,
}

impl EndedRun {
    pub fn is_interrupted(&self) -> bool {
        std::iter::once(&self.record).chain(&self.profiled).any(is_interrupted)
    }
}

impl<'a> Session<'a> {
    pub fn open(global: &'a Global) -> anyhow::Result<Self> {
        Ok(Self { workspace: Workspace::load(global)?, global, agents: AgentOptions::default() })
    }

    /// The plan of a suite and flags. What this machine cannot do is refused.
    pub fn plan(&self, suite: &Suite, flags: &Options, profile: Option<&ProfileOptions>) -> anyhow::Result<Plan> {
        let plan = resolve_plan(&Inputs {
            suite,
            flags,
            profile,
            inventory: &self.workspace.inventory,
            contract: &self.workspace.contract,
            machine: &machine_facts(flags, suite)?,
            earlier: &earlier_runs(&self.global.dir),
            // Short enough to be typed again.
            fallback_seed: clock::wall_unix_ns() / 1_000_000 % 100_000,
        })?;
        if plan.machine.server_host.is_none() {
            // Only a server that has started tells whether it is a JVM.
            plan.profile.as_ref().map_or(Ok(()), |_| check_folder(&self.global.dir))?;
            tare_run::check_plan(&plan, None)?;
            check_java(&plan, self.workspace.catalog.as_ref())?;
        }
        note_inherited(&plan);
        Ok(plan)
    }

    /// Finishes a run after its scored starts: profiles, makes the report, and returns how the run ended.
    pub fn conclude(&self, plan: &Plan, mut measured: EndedRun) -> anyhow::Result<Outcome> {
        if plan.mode == Mode::Profiled {
            let outcome =
                if measured.is_interrupted() { Outcome::Interrupted } else { outcome_of_profiles(&measured.record)? };
            return self.report(&measured).map(|_| outcome);
        }
        let mut is_stopped = false;
        match self.measure_profiles(plan, &measured) {
            Ok(profiled) => measured.profiled = profiled,
            Err(error) => {
                console::print_note(&format!("  not profiled: {}", error_text(&error)));
                is_stopped = is_cancelled(&error);
            }
        }
        let summary = self.report(&measured)?;
        if is_stopped || measured.is_interrupted() {
            return Ok(Outcome::Interrupted);
        }
        if let Some(check) = &summary.check {
            return Ok(outcome_of_limits(check.outcome, when_undecided(&measured.record.header.command)));
        }
        let void = summary.cells.iter().any(|cell| cell.validity.state == ValidityState::Void);
        Ok(if void { Outcome::Failed } else { Outcome::Done })
    }

    /// Prints the report, writes its files, and says how an interrupted run goes on.
    pub fn report(&self, measured: &EndedRun) -> anyhow::Result<Summary> {
        let EndedRun { record, run_dir, profiled } = measured;
        let file = run_dir.join(RECORD_FILE);
        let summary = present_report(record, profiled.as_ref(), &file, run_dir, self.global)?;
        if is_interrupted(record) && can_go_on(record) {
            let run = self.global.shown_run(&file, &record.header.id);
            console::print_text(&format!("  go on     tare run --resume {run}\n"));
        }
        Ok(summary)
    }
}

fn is_interrupted(record: &RunRecord) -> bool {
    matches!(record.end, Some((EndStatus::Interrupted, _)))
}

/// Whether a run that has stopped can be resumed. It has a checkpoint once the machine is checked.
fn can_go_on(record: &RunRecord) -> bool {
    record.checkpoint.is_some()
}

pub fn print_plan(plan: &Plan) -> Outcome {
    console::print_text(&plan_text::whole_plan(plan, console::terminal_width()));
    Outcome::Done
}

/// Names the variables that one server of a group has from its suite, and another from this process: then both have them.
fn note_inherited(plan: &Plan) {
    let env_of = |variant: &Variant| match &variant.program {
        Program::Command(server) => Some(server.env.clone()),
        _ => None,
    };
    let of_group = |group: &Group| {
        let servers = group.variants.iter().filter_map(|variant| Some((variant.name.clone(), env_of(variant)?)));
        let servers: Vec<_> = servers.collect();
        let names: BTreeSet<String> = servers.iter().flat_map(|(_, env)| env.keys().cloned()).collect();
        let lacks = |name: String| {
            let is_set = std::env::var_os(&name).is_some();
            let (server, _) = servers.iter().find(|(_, env)| is_set && !env.contains_key(&name))?;
            Some(format!(
                "{name} is set in this environment, so {server} has it, too; to measure it without: unset {name}"
            ))
        };
        names.into_iter().filter_map(lacks).collect::<Vec<_>>()
    };
    for note in plan.groups.iter().flat_map(of_group) {
        console::print_note(&format!("  note: {note}"));
    }
}

/// Names the flags that change nothing in this plan, such as `--slice` in a sequential run.
pub fn note_unused(flags: &Options, plan: &Plan) {
    let runs_catalog = plan.started().any(|variant| variant.program.is_of_catalog());
    // Gatling and the meter inside JVMs are built.
    let needs_jdk = plan.probes.hiccups || !plan.engines.is_empty();
    let is_pushed = plan.groups.iter().flat_map(|group| &group.scenarios).any(|named| named.scenario.push.is_some());
    let is_used = |key: &str| match key {
        // The servers of the plan have them.
        "baseline" | "aa" | "versions" => true,
        _ if !plan.settings.iter().any(|setting| setting.key == key) => false,
        "java" => runs_catalog || needs_jdk,
        "jvm_cpus" | "jvm_options" => runs_catalog,
        "messages" | "push" | "server_clock" => is_pushed,
        _ => true,
    };
    let given = flags.given_values();
    let is_unused = |setting: &SettingInfo| given.iter().any(|(key, _)| *key == setting.key) && !is_used(setting.key);
    for setting in all_settings().into_iter().filter(is_unused) {
        let own = "; a server of the suite has the JVM and the options of its command";
        let why = if matches!(setting.key, "java" | "jvm_cpus" | "jvm_options") { own } else { "" };
        console::print_note(&format!("  note: --{} has no effect in this run{why}", setting.long()));
    }
}

/// A build that fails says nothing of a change's cost, so that nothing is decided.
pub fn is_failed_build(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<RunError>(), Some(RunError::Server(SutError::Build { .. })))
}

/// Whether each server of the plan was profiled. One that failed is in the report, with the reason. It is an error if there is no
/// profile at all.
fn outcome_of_profiles(record: &RunRecord) -> anyhow::Result<Outcome> {
    if record.profiles.is_empty() {
        let first = |is_reason: fn(&EventRecord) -> bool| record.events.iter().find(|event| is_reason(event));
        // A busy machine is an event too, and no reason where a sampler says why.
        let why = first(|event| matches!(event.kind, EventKind::ProfileFailed { .. }));
        let why = why.or_else(|| first(|event| event.level != EventLevel::Info));
        let why = why.map_or("no server got as far as that", |event| event.text.as_str());
        anyhow::bail!("nothing could be profiled: {why}");
    }
    let mut variants = record.header.plan.groups.iter().flat_map(|group| &group.variants);
    let is_profiled = |variant: &Variant| record.profiles.iter().any(|profile| profile.variant == variant.name);
    Ok(if variants.all(is_profiled) { Outcome::Done } else { Outcome::Failed })
}

/// What the limits of a run come to. A build that answers wrongly never passes.
fn outcome_of_limits(result: CheckResult, undecided: WhenUndecided) -> Outcome {
    match (result, undecided) {
        (CheckResult::Holds, _) | (CheckResult::Undecided, WhenUndecided::Pass) => Outcome::Done,
        (CheckResult::Regressed, _) => Outcome::Failed,
        _ => Outcome::Undecided,
    }
}

/// What the command line of a check said of undecided limits. `tare run --resume` goes on by it.
fn when_undecided(command: &[String]) -> WhenUndecided {
    match args::parse(command).map(|cli| cli.command) {
        Ok(args::Command::Check(check)) => check.undecided,
        _ => WhenUndecided::Fail,
    }
}

#[cfg(test)]
mod tests {
    use tare_plan::plan::{Group, Program, Role};
    use tare_plan::profile::ProfileEvent;
    use tare_record::RunHeader;
    use tare_record::profile::{PackedText, ProfileRecord, Weight};

    use super::*;

    /// A group of servers with these names.
    pub(super) fn group(names: &str) -> Group {
        let variant = |name: &str| Variant {
            name: name.to_owned(),
            server: name.to_owned(),
            family: name.to_owned(),
            kind: String::new(),
            version: None,
            routes: 1,
            role: Role::Compared,
            program: Program::Catalog,
            upstream: None,
        };
        let (id, variants) = (names.to_owned(), names.split(' ').map(variant).collect());
        Group { id, variants, scenarios: Vec::new(), ladder: false }
    }

    #[test]
    fn profiles_are_done_once_there_is_one_of_each_server() {
        let profile = |variant: &str| ProfileRecord {
            fork: 1,
            group: String::new(),
            scenario: String::new(),
            variant: variant.to_owned(),
            event: ProfileEvent::Cpu,
            sampler: String::new(),
            span_ns: 1,
            offered_per_s: 1.0,
            requests: 1,
            cpu_ns: None,
            file: None,
            weight: Weight::Samples { every_ns: 1 },
            stacks: PackedText::default(),
        };
        let record = |profiled: &[&str]| {
            let plan = Plan { groups: vec![group("a b")], mode: Mode::Profiled, ..Plan::default() };
            let profiles = profiled.iter().map(|name| profile(name)).collect();
            RunRecord { profiles, ..RunRecord::begin(RunHeader { plan, ..RunHeader::default() }) }
        };
        let outcome = |profiled: &[&str]| outcome_of_profiles(&record(profiled)).unwrap();
        assert_eq!((outcome(&["b", "a", "b"]), outcome(&["a"])), (Outcome::Done, Outcome::Failed));
        let mut none = record(&[]);
        none.events.push(EventRecord::new(EventKind::ProfileFailed { reason: "it has no perf".to_owned() }));
        let error = outcome_of_profiles(&none).unwrap_err().to_string();
        assert!(error.starts_with("nothing could be profiled: ") && error.contains("it has no perf"), "{error}");
    }

    #[test]
    fn the_command_of_a_check_says_what_an_undecided_limit_comes_to() {
        let of = |command: &str| when_undecided(&command.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of("tare check my.toml --undecided pass --dir runs"), WhenUndecided::Pass);
        assert_eq!(of("tare check my.toml"), WhenUndecided::Fail);
        assert_eq!(of("tare run my.toml"), WhenUndecided::Fail);
        assert_eq!(of("tare check --a-flag-of-another-version"), WhenUndecided::Fail);
    }
}
