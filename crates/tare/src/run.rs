//! `tare run`: suite and flags → plan → servers ready to start → record → report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use tare_analysis::rfc3339;
use tare_analysis::summary::ValidityState;
use tare_plan::Plan;
use tare_plan::plan::Source;
use tare_plan::profile::ProfileOptions;
use tare_plan::resolve::{Inputs, resolve_plan};
use tare_plan::settings::{Options, SettingInfo, all_settings};
use tare_plan::suite::Suite;
use tare_record::store::{InterruptedRun, RECORD_FILE, RunWriter, allot_run_dir};
use tare_record::{EndStatus, RecordError, RunHeader, RunRecord};
use tare_run::load_host::{LoadAgents, agent_places};
use tare_run::preflight::environment;
use tare_run::prepare::java::check_java;
use tare_run::prepare::{Launches, prepare};
use tare_run::progress::{Progress, Standing};
use tare_run::server_host::RemoteHost;
use tare_run::{RunError, RunInputs};
use tare_sys::clock;

use crate::args::{Global, RunArgs};
use crate::earlier::{earlier_runs, machine_facts};
use crate::failure::{Outcome, error_text};
use crate::home::{Workspace, check_pattern};
use crate::live::Live;
use crate::recorded_command::recorded_command;
use crate::{check, console, interrupt, load_agents, plan_text, report, resume, server_host};

/// Runs, or shows the plan.
pub fn run(args: &RunArgs, global: &Global) -> anyhow::Result<Outcome> {
    let mut workspace = Workspace::load(global)?;
    if let Some(path) = &args.contract {
        workspace.read_contract(path)?;
    }
    workspace.agents = args.agents.clone();
    let flags = &args.settings.0;
    workspace.add_releases(flags.servers.as_deref(), flags.versions.iter().flatten());
    if let Some(name) = &args.resume {
        return resume::resume(name, args, &workspace, global);
    }
    let plan = plan_from_args(args, &workspace, global)?;
    note_unused(flags, &plan);
    args.agents.check(&agent_places(&plan)?)?;
    if args.dry_run {
        let text = if args.json {
            serde_json::to_string_pretty(&plan)? + "\n"
        } else {
            plan_text::whole_plan(&plan, console::terminal_width())
        };
        console::print_text(&text);
        return Ok(Outcome::Done);
    }
    let (record, run_dir) = build_and_measure(&plan, &workspace, global)?;
    finish_run(&plan, &record, &run_dir, &workspace, global)
}

/// Finishes a run after its scored starts: profiles, makes the report, and returns how the run ended.
pub fn finish_run(
    plan: &Plan,
    record: &RunRecord,
    run_dir: &Path,
    workspace: &Workspace,
    global: &Global,
) -> anyhow::Result<Outcome> {
    let profiled = profile_after(plan, record, run_dir, workspace, global);
    let summary = report::present_report(record, profiled.as_ref(), run_dir, global)?;
    resume::print_hint(record, global);
    let is_interrupted = |record: &RunRecord| matches!(record.end, Some((EndStatus::Interrupted, _)));
    if std::iter::once(record).chain(&profiled).any(is_interrupted) {
        return Ok(Outcome::Interrupted);
    }
    if summary.check.is_some() {
        return Ok(check::outcome(&summary, check::when_undecided(&record.header.command)));
    }
    let void = summary.cells.iter().any(|cell| cell.validity.state == ValidityState::Void);
    Ok(if void { Outcome::Void } else { Outcome::Done })
}

/// The profiling starts that a plan asks for. They come after the scored ones and have a record of their own, so their
/// failure costs no scored figure.
fn profile_after(
    plan: &Plan,
    scored: &RunRecord,
    run_dir: &Path,
    workspace: &Workspace,
    global: &Global,
) -> Option<RunRecord> {
    let plan = plan.profiling()?;
    if matches!(scored.end, Some((EndStatus::Interrupted, _))) {
        return None;
    }
    console::print_text("\n  scored; now the profiling starts, which say why\n");
    let file = run_dir.join(report::PROFILE_DIR).join(RECORD_FILE);
    let record = RecordTarget::File(file);
    let place = RunLocation { id: scored.header.id.clone(), run_dir: run_dir.to_owned(), record };
    build_and_measure_at(&plan, workspace, global, || Ok(place))
        .inspect_err(|error| console::print_note(&format!("  not profiled: {}", error_text(error))))
        .ok()
        .map(|(record, _)| record)
}

/// Where a run is stored.
struct RunLocation {
    id: String,
    run_dir: PathBuf,
    record: RecordTarget,
}

/// The record that a run writes.
enum RecordTarget {
    /// That of a new run, in its folder.
    New,
    /// A file of its own.
    File(PathBuf),
    /// That of a run that was interrupted.
    Interrupted(Box<InterruptedRun>),
}

/// Measures what is left of an interrupted run.
pub fn measure_rest(
    plan: &Plan,
    interrupted: InterruptedRun,
    run_dir: &Path,
    workspace: &Workspace,
    global: &Global,
) -> anyhow::Result<RunRecord> {
    let id = interrupted.record.header.id.clone();
    let record = RecordTarget::Interrupted(Box::new(interrupted));
    let place = RunLocation { id, run_dir: run_dir.to_owned(), record };
    build_and_measure_at(plan, workspace, global, || Ok(place)).map(|(record, _)| record)
}

/// Builds the servers of a plan and measures them. Returns the record and its folder.
pub fn build_and_measure(plan: &Plan, workspace: &Workspace, global: &Global) -> anyhow::Result<(RunRecord, PathBuf)> {
    build_and_measure_at(plan, workspace, global, || {
        let id = allot_run_dir(&global.dir, &today())?;
        let run_dir = global.dir.join("runs").join(&id);
        Ok(RunLocation { id, run_dir, record: RecordTarget::New })
    })
}

/// Calls `place` only after everything is built, so that a run that cannot begin leaves no folder.
fn build_and_measure_at(
    plan: &Plan,
    workspace: &Workspace,
    global: &Global,
    place: impl FnOnce() -> anyhow::Result<RunLocation>,
) -> anyhow::Result<(RunRecord, PathBuf)> {
    let cancelled = interrupt::install_flag()?;
    let host = server_host::connect(plan, &cancelled)?;
    tare_run::check_plan(plan, host.as_ref())?;
    console::print_text(&plan_text::plan_headline(plan, console::terminal_width()));
    let mut live = Live::new(std::io::stderr().is_terminal(), console::stderr_colored(global.color));
    let launches =
        prepare(plan, workspace.catalog.as_ref(), &cancelled, &mut |line| live.show_step(line), host.as_ref());
    let launches = launches.inspect_err(|_| live.finish())?;
    let place = place()?;
    let run_dir = place.run_dir.clone();
    let agents = load_agents::start(plan, &workspace.agents, &cancelled, &mut live).inspect_err(|_| live.finish())?;
    let built = BuiltRun { plan, workspace, launches: &launches, host: host.as_ref(), agents: agents.as_ref() };
    let result = measure(&built, place, global, &cancelled, &mut live);
    live.finish();
    agents.map(LoadAgents::end).unwrap_or_default().iter().for_each(|left| console::print_note(&format!("  {left}")));
    Ok((result?, run_dir))
}

fn plan_from_args(args: &RunArgs, workspace: &Workspace, global: &Global) -> anyhow::Result<Plan> {
    let flags = &args.settings.0;
    let names_itself =
        flags.servers.is_some() || flags.aa.is_some() || flags.scenarios.is_some() || !args.external.is_empty();
    let mut suite = match &args.suite {
        Some(path) => workspace.read_suite(path)?,
        None if names_itself => Suite::default(),
        None => workspace.quick_suite()?,
    };
    for server in &args.external {
        suite.add_external(server)?;
    }
    plan(&suite, flags, None, workspace, global)
}

/// Names the flags that change nothing in this plan, such as `--slice` in a sequential run.
pub fn note_unused(flags: &Options, plan: &Plan) {
    // The servers of the plan have them.
    const WITH_SERVERS: [&str; 3] = ["baseline", "aa", "versions"];
    let given = flags.given_values();
    let is_used = |key: &str| WITH_SERVERS.contains(&key) || plan.settings.iter().any(|setting| setting.key == key);
    let is_unused = |setting: &SettingInfo| given.iter().any(|(key, _)| *key == setting.key) && !is_used(setting.key);
    for setting in all_settings().into_iter().filter(is_unused) {
        console::print_note(&format!("  note: --{} has no effect in this run", setting.long()));
    }
}

/// The plan of a suite and flags. What this machine cannot do is refused.
pub fn plan(
    suite: &Suite,
    flags: &Options,
    profile: Option<&ProfileOptions>,
    workspace: &Workspace,
    global: &Global,
) -> anyhow::Result<Plan> {
    let plan = resolve_plan(&Inputs {
        suite,
        flags,
        profile,
        inventory: &workspace.inventory,
        contract: &workspace.contract,
        machine: &machine_facts(flags, suite)?,
        earlier: &earlier_runs(&global.dir),
        // Short enough to be typed again.
        fallback_seed: clock::wall_unix_ns() / 1_000_000 % 100_000,
    })?;
    if let Some(profile) = &plan.profile {
        check_pattern(&focus_origin(&plan, suite), &profile.focus)?;
    }
    if plan.machine.server_host.is_none() {
        tare_run::check_plan(&plan, None)?;
        check_java(&plan, workspace.catalog.as_ref())?;
    }
    Ok(plan)
}

/// Where the focus of a plan was written.
fn focus_origin(plan: &Plan, suite: &Suite) -> String {
    let mut settings =
        plan.settings.iter().filter(|setting| (&*setting.section, &*setting.key) == ("profile", "focus"));
    match settings.next().map(|setting| setting.source) {
        Some(Source::Flag) => "--focus".to_owned(),
        Some(Source::Suite) => format!("{}: [profile] focus", suite.file),
        _ => "servers/catalog.toml: focus".to_owned(),
    }
}

/// A run whose servers are built.
struct BuiltRun<'a> {
    plan: &'a Plan,
    workspace: &'a Workspace,
    launches: &'a Launches,
    /// The machine of the servers, where that is another one.
    host: Option<&'a RemoteHost>,
    /// The agents that make the load; `None` if this process makes it.
    agents: Option<&'a LoadAgents>,
}

fn measure(
    built: &BuiltRun<'_>,
    place: RunLocation,
    global: &Global,
    cancelled: &Arc<AtomicBool>,
    live: &mut Live,
) -> anyhow::Result<RunRecord> {
    let BuiltRun { workspace, launches, host, agents, .. } = *built;
    let RunLocation { id, run_dir, record } = place;
    let reference = std::env::current_exe().context("tare's own program file is gone")?;
    let inputs = RunInputs {
        launches,
        host,
        agents,
        contract: &workspace.contract,
        logs: &run_dir.join("logs"),
        profiles: &run_dir.join("profiles"),
        cancelled: Arc::clone(cancelled),
        reference: Some(reference),
        judge: &standings,
    };
    live.line(&format!("  record {}", crate::home::shown_path(&run_dir)));
    let mut observer = |progress: &Progress<'_>| live.show(progress);
    let new = |writer: fn(&Path, &RunHeader) -> Result<RunWriter, RecordError>, place: &Path| {
        let header = header(built, &id);
        writer(place, &header).map(|writer| (header, writer))
    };
    let result = match record {
        RecordTarget::Interrupted(run) => tare_run::resume(*run, &inputs, &mut observer),
        RecordTarget::New => {
            let (header, writer) = new(RunWriter::create, &global.dir)?;
            tare_run::run(header, writer, &inputs, &mut observer)
        }
        RecordTarget::File(file) => {
            let folder = file.parent().unwrap_or(&run_dir);
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
            let (header, writer) = new(RunWriter::create_file, &file)?;
            tare_run::run(header, writer, &inputs, &mut observer)
        }
    };
    if let Err(error @ RunError::Resume { .. }) = result {
        return Err(error.into());
    }
    result.with_context(|| {
        let dir = global.dir.display();
        let again = resume::command_of(&id, &global.dir);
        format!("the run stopped; what was measured stands: tare report {id} --dir {dir}; to go on: {again}")
    })
}

fn header(built: &BuiltRun<'_>, id: &str) -> RunHeader {
    let BuiltRun { plan, launches, host, agents, .. } = *built;
    RunHeader {
        id: id.to_owned(),
        started_unix_ns: clock::wall_unix_ns(),
        command: recorded_command(),
        tare_version: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: git_revision(),
        plan_hash: plan.hash(),
        plan: plan.clone(),
        environment: environment::capture_environment(plan, launches, host, agents),
    }
}

/// Today in UTC, as the ids of runs begin with it.
fn today() -> String {
    rfc3339(clock::wall_unix_ns()).chars().take(10).collect()
}

/// The revision of the working directory, marked where it has changes; none outside a repository or without git.
fn git_revision() -> Option<String> {
    let output =
        std::process::Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// The standings of the comparisons, decided by the report, for the live view.
fn standings(record: &RunRecord) -> Vec<Standing> {
    let forward = |standing: tare_analysis::stop::ComparisonStanding| Standing {
        group: standing.group,
        scenario: standing.scenario,
        variant: standing.variant,
        text: standing.text,
        forks: standing.forks,
        has_verdict: standing.has_verdict,
        decided: standing.stop.is_some(),
        needed: standing.needed,
    };
    tare_analysis::stop::standings(record).into_iter().map(forward).collect()
}
