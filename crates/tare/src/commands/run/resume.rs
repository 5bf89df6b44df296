//! `tare run --resume`: an interrupted run goes on where it stopped, in the same record.

use std::path::{Path, PathBuf};

use tare_plan::PlanError;
use tare_plan::settings::Options;
use tare_record::EndStatus;
use tare_record::store::{InterruptedRun, RECORD_FILE, find_run, list_runs};

use super::take_over;
use crate::args::{Command, LATEST, RunArgs, parse};
use crate::console;
use crate::failure::Outcome;
use crate::session::Session;

pub fn resume(name: &str, args: &RunArgs, session: &mut Session<'_>) -> anyhow::Result<Outcome> {
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
    let measured = session.measure_rest(&plan, interrupted, &run_dir)?;
    session.conclude(&plan, measured)
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
    fn what_no_plan_has_comes_from_the_command_of_the_run() {
        let of = |command: &str| args_of(&command.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let args = of("tare run my.toml --agents k8s:2 --k8s-context far --contract own.toml").unwrap();
        assert_eq!(args.agents.pods().cluster.context.as_deref(), Some("far"));
        assert_eq!(args.contract.as_deref(), Some(Path::new("own.toml")));
        assert!(of("tare check my.toml").is_none() && of("tare run --a-flag-of-another-version").is_none());
    }
}
