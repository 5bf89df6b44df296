//! `tare verify`: do all servers answer alike? Each is started, asked everything in the contract, and stopped.

use std::io::IsTerminal;
use std::sync::atomic::AtomicBool;

use tare_plan::Plan;
use tare_plan::duration::Span;
use tare_plan::options::Options;
use tare_plan::plan::{Group, Variant};
use tare_plan::resolve::{Inputs, MachineFacts, resolve};
use tare_run::prepare::{Launches, prepare};
use tare_sut::contract::{self, CheckOutcome};
use tare_sys::affinity::CpuSet;

use crate::args::{Global, VerifyArgs};
use crate::failure::Outcome;
use crate::home::World;
use crate::live::Live;
use crate::{console, interrupt};

/// Verifies every server that is asked for; ends with a line `N passed, N failed, N skipped` over all checks.
pub fn verify(args: &VerifyArgs, global: &Global) -> anyhow::Result<Outcome> {
    let world = World::load(global)?;
    let plan = plan_of(&world, &args.servers, args.suite.as_deref(), args.version.as_deref(), args.java.as_deref())?;
    let cancelled = interrupt::flag()?;
    let mut live = Live::new(std::io::stderr().is_terminal(), console::stderr_colored(global.color));
    let launches = prepare(&plan, world.catalog.as_ref(), &cancelled, &mut |line| live.going_on(line));
    live.finish();
    let launches = launches?;
    let colored = console::stdout_colored(global.color);
    let (mut passed, mut failed) = (0, 0);
    for variant in variants(&plan) {
        if interrupt::raised(&cancelled) {
            return Ok(Outcome::Interrupted);
        }
        match check(&world, &plan, &launches, variant, &cancelled) {
            Ok(outcomes) => {
                let (good, bad) = tell(variant, &outcomes, args.verbose, colored);
                passed += good;
                failed += bad;
            }
            Err(error) => {
                failed += 1;
                console::print(&format!("{} {:<32} {error}\n", console::mark(false, colored), variant.name));
            }
        }
    }
    let unavailable: Vec<_> = plan.skipped.iter().filter(|skipped| !skipped.what.contains('×')).collect();
    for skipped in &unavailable {
        console::print(&format!("skipped: {} ({})\n", skipped.what, skipped.because));
    }
    console::print(&format!("{passed} passed, {failed} failed, {} skipped\n", unavailable.len()));
    Ok(if failed == 0 { Outcome::Done } else { Outcome::Void })
}

/// A plan that names each server once: what `verify` and `serve` need of planning is its names, versions and JVM settings.
pub fn plan_of(
    world: &World,
    servers: &[String],
    suite: Option<&std::path::Path>,
    version: Option<&str>,
    java: Option<&str>,
) -> anyhow::Result<Plan> {
    let suite = suite.map(|path| world.suite(path)).transpose()?.unwrap_or_default();
    let flags = Options {
        servers: (!servers.is_empty()).then(|| servers.to_vec()),
        versions: version.map(|version| vec![version.to_owned()]),
        java: java.map(str::to_owned),
        // A sequential plan brings in no baseline that was not asked for.
        duration: Some(Span::from_secs(1)),
        ..Options::default()
    };
    let cpus = CpuSet::allowed()?.iter().collect();
    Ok(resolve(&Inputs {
        suite: &suite,
        flags: &flags,
        inventory: &world.inventory,
        contract: &world.contract,
        machine: &MachineFacts { cpus },
        fallback_seed: 0,
    })?)
}

/// The plan's variants, each once.
pub fn variants(plan: &Plan) -> Vec<&Variant> {
    let mut seen: Vec<&Variant> = Vec::new();
    for variant in plan.groups.iter().flat_map(|group: &Group| &group.variants) {
        if !seen.iter().any(|other| other.name == variant.name) {
            seen.push(variant);
        }
    }
    seen
}

/// Starts one server on all cores and asks it everything. A server that cannot be started is a failed check.
fn check(
    world: &World,
    plan: &Plan,
    launches: &Launches,
    variant: &Variant,
    cancelled: &AtomicBool,
) -> anyhow::Result<Vec<CheckOutcome>> {
    if let Some(reason) = launches.unavailable(variant) {
        anyhow::bail!("not available: {reason}");
    }
    let launch = launches.get(variant)?;
    let log = std::env::temp_dir().join(format!("tare-verify-{}.log", std::process::id()));
    let host = launch.start(plan, variant, CpuSet::allowed()?, log.clone()).raise(cancelled)?;
    let exchanges = launch.contract(&world.contract).exchanges(&variant.server, variant.routes);
    let outcomes = contract::verify(host.address(), exchanges, plan.load.timeout.0);
    host.stop();
    // Kept only when the server did not start: its error has named the file.
    let _ = std::fs::remove_file(log);
    Ok(outcomes)
}

/// Prints what came of one server; returns how many checks passed and failed.
fn tell(variant: &Variant, outcomes: &[CheckOutcome], verbose: bool, colored: bool) -> (usize, usize) {
    let failed = outcomes.iter().filter(|outcome| !outcome.passed).count();
    let passed = outcomes.len() - failed;
    let mark = console::mark(failed == 0, colored);
    let version = variant.version.as_deref().map_or(String::new(), |version| format!(" {version}"));
    console::print(&format!(
        "{mark} {:<32} {passed} of {} checks\n",
        format!("{}{version}", variant.server),
        outcomes.len()
    ));
    for outcome in outcomes.iter().filter(|outcome| verbose || !outcome.passed || outcome.because.is_some()) {
        let because = outcome.because.as_deref().map_or(String::new(), |why| format!("  (differs: {why})"));
        console::print(&format!("    {} {}{because}\n", console::mark(outcome.passed, colored), outcome.check));
        if let Some(difference) = &outcome.difference {
            console::print(&format!("        {difference}\n"));
        }
    }
    (passed, failed)
}
