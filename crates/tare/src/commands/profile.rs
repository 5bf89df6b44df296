//! `tare profile`: where a server's time goes, or where the time of a layer on top of another server goes.

use tare_plan::Plan;
use tare_plan::profile::ProfileOptions;
use tare_plan::settings::Options;
use tare_plan::suite::Suite;

use crate::args::{Global, ProfileArgs};
use crate::failure::{Outcome, with_argument_names, wrong_usage};
use crate::session::{Session, print_plan};

pub fn profile(args: &ProfileArgs, global: &Global) -> anyhow::Result<Outcome> {
    let mut session = Session::open(global)?;
    let plan = plan(args, &mut session)?;
    if args.dry_run {
        return Ok(print_plan(&plan));
    }
    let measured = session.measure(&plan)?;
    session.conclude(&plan, measured)
}

fn plan(args: &ProfileArgs, session: &mut Session<'_>) -> anyhow::Result<Plan> {
    let flags = Options {
        servers: Some(vec![args.server.clone()]),
        scenarios: Some(vec![args.scenario.clone()]),
        // Without --against a server is its own baseline.
        baseline: Some(args.against.clone().unwrap_or_else(|| args.server.clone())),
        control: Some(false),
        ..args.settings.0.clone()
    };
    let (events, focus) = (args.event.clone(), args.focus.clone());
    let sampled = ProfileOptions { events, forks: args.forks, span: args.span, focus };
    session.workspace.add_releases(flags.servers.as_deref(), flags.versions.iter().flatten());
    let suite = session.workspace.suite_for(args.suite.as_deref())?;
    let plan = session.plan(&profiled(suite), &flags, Some(&sampled));
    let of_baseline = if args.against.is_some() { "--against" } else { "SERVER" };
    let arguments = [("--servers", "SERVER"), ("--scenarios", "SCENARIO"), ("--baseline", of_baseline)];
    let plan = plan.map_err(|error| match error.downcast() {
        Ok(error) => with_argument_names(error, &arguments).into(),
        Err(other) => other,
    })?;
    refuse_running(&plan)?;
    plan.profiling().ok_or_else(|| anyhow::anyhow!("internal: no profile was planned; please report this"))
}

/// A sampler needs a process that tare has started. Without one, minutes of warm-up would show nothing.
fn refuse_running(plan: &Plan) -> anyhow::Result<()> {
    let mut variants = plan.groups.iter().flat_map(|group| &group.variants);
    let running = variants.find(|variant| matches!(variant.program, tare_plan::plan::Program::External { .. }));
    running.map_or(Ok(()), |variant| {
        Err(wrong_usage(format!(
            "{} runs already, and a sampler cannot see its process; let tare start it: write its command in [servers.{}] \
             in place of its url",
            variant.name, variant.server
        )))
    })
}

/// The suite without its groups, because the command line says what is profiled, and never sequential, because a server
/// would then have no baseline.
fn profiled(suite: Suite) -> Suite {
    let run = Options { duration: None, engine: None, ..suite.run };
    Suite { groups: Vec::new(), run, ..suite }
}

#[cfg(test)]
mod tests {
    use tare_plan::contract::Contract;
    use tare_plan::inventory::Inventory;
    use tare_plan::resolve::{Inputs, MachineFacts, resolve_plan};

    use super::*;

    #[test]
    fn a_server_is_profiled_with_its_baseline_also_where_the_suite_is_for_a_sequential_run() {
        let text = "[run]\nduration = \"5s\"\nengine = [\"wrk\"]\n[servers.a]\ncommand = [\"a\"]\n\
            [servers.b]\ncommand = [\"b\"]\n[scenarios.Get]\nrequest = { path = \"/\" }\nexpect = {}\n";
        let names = |name: &str| Some(vec![name.to_owned()]);
        let flags = Options { servers: names("b"), baseline: Some("a".to_owned()), ..Options::default() };
        let plan = resolve_plan(&Inputs {
            suite: &profiled(Suite::parse("my.toml", text).unwrap()),
            flags: &flags,
            profile: None,
            inventory: &Inventory::default(),
            contract: &Contract::default(),
            machine: &MachineFacts::default(),
            earlier: &[],
            fallback_seed: 7,
        });
        let plan = plan.unwrap();
        let variants: Vec<&str> = plan.groups[0].variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!((variants, plan.engines.len()), (vec!["a", "b"], 0));
    }
}
