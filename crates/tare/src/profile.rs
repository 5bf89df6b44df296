//! `tare profile`: where a server's time goes, or where the time of a layer on top of another server goes.

use tare_plan::Plan;
use tare_plan::suite::Suite;
use tare_record::{EndStatus, EventKind, EventLevel, EventRecord};

use crate::args::{Global, ProfileArgs};
use crate::failure::{Outcome, with_argument_names};
use crate::home::Workspace;
use crate::{console, plan_text, report, run};

/// Profiles, or shows the plan.
pub fn profile(args: &ProfileArgs, global: &Global) -> anyhow::Result<Outcome> {
    let workspace = Workspace::load(global)?;
    let plan = plan(args, &workspace, global)?;
    if args.dry_run {
        console::print_text(&plan_text::whole_plan(&plan, console::terminal_width()));
        return Ok(Outcome::Done);
    }
    let (record, run_dir) = run::build_and_measure(&plan, &workspace, global)?;
    if record.profiles.is_empty() && !matches!(record.end, Some((EndStatus::Interrupted, _))) {
        let first = |is_reason: fn(&EventRecord) -> bool| record.events.iter().find(|event| is_reason(event));
        // A busy machine is an event too, and no reason where a sampler says why.
        let why = first(|event| matches!(event.kind, EventKind::ProfileFailed { .. }));
        let why = why.or_else(|| first(|event| event.level != EventLevel::Info));
        let why = why.map_or("no server got as far as that", |event| event.text.as_str());
        anyhow::bail!("nothing could be profiled: {why}");
    }
    report::present_report(&record, None, &run_dir, global)?;
    let interrupted = matches!(record.end, Some((EndStatus::Interrupted, _)));
    Ok(if interrupted { Outcome::Interrupted } else { Outcome::Done })
}

/// What a profile calls the settings of a run.
const ARGUMENTS: [(&str, &str); 3] =
    [("--servers", "SERVER"), ("--scenarios", "SCENARIO"), ("--baseline", "--against")];

fn plan(args: &ProfileArgs, workspace: &Workspace, global: &Global) -> anyhow::Result<Plan> {
    let suite = args.suite.as_deref().map(|path| workspace.read_suite(path)).transpose()?;
    // Of a suite its servers, scenarios and settings are taken; what is profiled stands on the command line.
    let suite = Suite { groups: Vec::new(), ..suite.unwrap_or_default() };
    let plan = run::plan(&suite, &args.options(), Some(&args.profile()), workspace, global);
    let plan = plan.map_err(|error| match error.downcast() {
        Ok(error) => with_argument_names(error, &ARGUMENTS).into(),
        Err(other) => other,
    })?;
    plan.profiling().ok_or_else(|| anyhow::anyhow!("internal: no profile was planned; please report this"))
}
