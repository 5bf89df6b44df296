//! `tare run`: suite and flags → plan → session.

mod resume;

use tare_plan::suite::Suite;
use tare_plan::{Plan, PlanError};
use tare_run::load_host::agent_places;

use crate::args::{Global, RunArgs};
use crate::console;
use crate::failure::Outcome;
use crate::session::{Session, note_unused, print_plan};
use crate::workspace::read_contract;

pub fn run(args: &RunArgs, global: &Global) -> anyhow::Result<Outcome> {
    let mut session = Session::open(global)?;
    if let Some(name) = &args.resume {
        return resume::resume(name, args, &mut session);
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
            || plan.skipped.iter().any(|skipped| skipped.what.starts_with(name.as_str()))
    };
    added.iter().find(|name| !is_chosen(name)).map_or(Ok(()), |left| {
        let message = format!(
            "{left} is left out by --servers, [run] servers or [[groups]]; choose it: -s {left} --baseline SERVER"
        );
        Err(PlanError::value("--external", message))
    })
}
