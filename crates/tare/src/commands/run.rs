//! `tare run`: suite and flags → plan → session.

use std::path::{Path, PathBuf};

use tare_plan::plan::Program;
use tare_plan::settings::Options;
use tare_plan::suite::Suite;
use tare_plan::{Plan, PlanError};
use tare_record::EndStatus;
use tare_record::store::{InterruptedRun, RECORD_FILE, find_run, list_runs};
use tare_run::load_host::agent_places;

use crate::args::{Command, Global, LATEST, RunArgs, parse};
use crate::console;
use crate::failure::Outcome;
use crate::git::WorkTree;
use crate::session::{Session, note_unused, print_plan};
use crate::workspace::read_contract;

pub fn run(args: &RunArgs, global: &Global) -> anyhow::Result<Outcome> {
    let mut session = Session::open(global)?;
    if let Some(name) = &args.resume {
        return resume(name, args, &mut session);
    }
    take_over(args, &mut session)?;
    let flags = &args.settings.0;
    session.workspace.add_releases(flags.servers.as_deref(), flags.versions.iter().flatten());
    let plan = plan(args, &session)?;
    note_unused(flags, &plan);
    args.agents.check(&agent_places(&plan)?)?;
    if args.dry_run && args.json {
        console::print_text(&(serde_json::to_string_pretty(&plan)? + "\n"));
        return Ok(Outcome::Done);
    }
    if args.dry_run {
        return Ok(print_plan(&plan));
    }
    let measured = session.measure(&plan)?;
    session.conclude(&plan, measured)
}

/// Takes over the flags that are no settings of a plan: the contract, and how agents in pods are made.
fn take_over(args: &RunArgs, session: &mut Session<'_>) -> anyhow::Result<()> {
    if let Some(path) = &args.contract {
        session.workspace.contract = read_contract(path)?;
    }
    session.agents = args.agents.clone();
    Ok(())
}

fn plan(args: &RunArgs, session: &Session<'_>) -> anyhow::Result<Plan> {
    let flags = &args.settings.0;
    let names_servers =
        flags.servers.is_some() || flags.aa.is_some() || flags.scenarios.is_some() || !args.external.is_empty();
    let mut suite = match session.workspace.usual_suite(args.suite.as_deref())? {
        Some(suite) => suite,
        None if names_servers => Suite::default(),
        None => session.workspace.quick_suite()?,
    };
    let added = args.external.iter().map(|server| suite.add_external(server)).collect::<Result<Vec<_>, _>>()?;
    if args.profile {
        suite.profile.get_or_insert_default();
    }
    let plan = session.plan(&suite, flags, None)?;
    check_added(&added, &plan)?;
    Ok(plan)
}

/// Refuses a server of `--external` that is not chosen: it would be left out without a word.
fn check_added(added: &[String], plan: &Plan) -> Result<(), PlanError> {
    let is_chosen = |name: &&String| {
        plan.started().any(|variant| variant.server == **name)
            || plan.skipped.iter().any(|skipped| is_about(&skipped.what, name))
    };
    added.iter().find(|name| !is_chosen(name)).map_or(Ok(()), |left| {
        let message = format!(
            "{left} is left out by --servers, [run] servers or [[groups]]; choose it: -s {left} --baseline SERVER"
        );
        Err(PlanError::value("--external", message))
    })
}

/// Whether what is left out of a plan is a server, or a scenario of it: `mine`, `mine × SimpleGet`.
fn is_about(what: &str, server: &str) -> bool {
    what.strip_prefix(server).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// `--resume`: an interrupted run goes on where it stopped, in the same record.
fn resume(name: &str, args: &RunArgs, session: &mut Session<'_>) -> anyhow::Result<Outcome> {
    if args.settings.0 != Options::default() {
        let message = "takes every setting from the record of the run; leave out the other flags";
        return Err(PlanError::value("--resume", message).into());
    }
    let file = interrupted_file(name, &session.global.dir)?;
    let run_dir = file.parent().unwrap_or(Path::new(".")).to_owned();
    let interrupted = InterruptedRun::open(&file)?;
    let header = &interrupted.record.header;
    if let Some(of_run) = args_of(&header.command) {
        take_over(&of_run, session)?;
    }
    let plan = header.plan.clone();
    let _in_use = work_trees_of(&plan)?;
    let measured = session.measure_rest(&plan, interrupted, &run_dir)?;
    session.conclude(&plan, measured)
}

/// The work trees of the baselines of a check. No other check removes one before the result is dropped.
fn work_trees_of(plan: &Plan) -> anyhow::Result<Vec<WorkTree>> {
    let folders = plan.started().filter_map(|variant| match &variant.program {
        Program::Command(server) => server.cwd.as_deref(),
        of_catalog => of_catalog.other_home(),
    });
    folders.filter_map(|folder| WorkTree::containing(Path::new(folder)).transpose()).collect()
}

/// The flags of the command that began a run; `None` for those of a check or of another version.
fn args_of(command: &[String]) -> Option<Box<RunArgs>> {
    match parse(command).map(|cli| cli.command) {
        Ok(Command::Run(args)) => Some(args),
        _ => None,
    }
}

/// The record of the run of that name, or of the latest one that was interrupted.
fn interrupted_file(name: &str, dir: &Path) -> anyhow::Result<PathBuf> {
    if name != LATEST {
        return Ok(find_run(dir, name)?);
    }
    let can_go_on = |end: Option<EndStatus>| !matches!(end, Some(EndStatus::Complete | EndStatus::BudgetSpent));
    let runs = list_runs(dir)?;
    for run in runs.iter().rev() {
        match &run.brief {
            Ok(brief) if can_go_on(brief.end) => return Ok(run.dir.join(RECORD_FILE)),
            Ok(_) => {}
            Err(error) => console::print_note(&format!("run {} is left out: {error}", run.id)),
        }
    }
    anyhow::bail!("no run in {} was interrupted; tare report --list", dir.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_of_one_server_is_not_of_another_whose_name_it_begins_with() {
        for (what, is_of_a) in
            [("a", true), ("a × Get", true), ("a and all compared with it", true), ("ab × Get", false)]
        {
            assert_eq!(is_about(what, "a"), is_of_a, "{what}");
        }
    }

    #[test]
    fn what_no_plan_has_comes_from_the_command_of_the_run() {
        let of = |command: &str| args_of(&command.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let args = of("tare run my.toml --agents k8s:2 --k8s-context far --contract own.toml").unwrap();
        assert_eq!(args.agents.pods().cluster.context.as_deref(), Some("far"));
        assert_eq!(args.contract.as_deref(), Some(Path::new("own.toml")));
        assert!(of("tare check my.toml").is_none() && of("tare run --a-flag-of-another-version").is_none());
    }
}
