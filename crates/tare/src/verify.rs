//! `tare verify`: do all servers answer alike? Each is started, asked everything in the contract, and stopped.

use std::collections::BTreeMap;

use tare_plan::duration::Span;
use tare_plan::options::Options;
use tare_plan::plan::{Group, Plan, Variant};
use tare_plan::resolve::{Inputs, MachineFacts, resolve};
use tare_run::prepare::{Launches, prepare};
use tare_sut::contract::CheckOutcome;
use tare_sut::server::Server;
use tare_sys::affinity::CpuSet;

use crate::args::{Global, VerifyArgs};
use crate::failure::Outcome;
use crate::home::World;
use crate::live::Live;
use crate::{console, interrupt};

/// Verifies every server that is asked for; ends with a line `N passed, N failed, N skipped` of checks.
pub fn verify(args: &VerifyArgs, global: &Global) -> anyhow::Result<Outcome> {
    let world = World::load(global)?;
    let plan = plan_of(&world, &args.servers, args.suite.as_deref(), args.version.as_deref(), args.java.as_deref())?;
    let cancelled = interrupt::flag()?;
    let mut live = Live::new(std::io::IsTerminal::is_terminal(&std::io::stderr()), console::stderr_colored(global.color));
    let launches = prepare(&plan, world.catalog.as_ref(), &cancelled, &mut |line| live.going_on(line));
    live.finish();
    let launches = launches?;
    let colored = console::stdout_colored(global.color);
    let (mut passed, mut failed) = (0, 0);
    let mut answers = BTreeMap::new();
    for variant in variants(&plan) {
        if interrupt::raised(&cancelled) {
            return Ok(Outcome::Interrupted);
        }
        let outcomes = check(&world, &plan, &launches, variant, &cancelled, &mut answers);
        let (good, bad) = tell(variant, outcomes, args.verbose, colored);
        passed += good;
        failed += bad;
    }
    let skipped = plan.skipped.iter().filter(|skipped| !skipped.what.contains('×')).count();
    for skipped in plan.skipped.iter().filter(|skipped| !skipped.what.contains('×')) {
        console::print(&format!("skipped: {} ({})\n", skipped.what, skipped.because));
    }
    console::print(&format!("{passed} passed, {failed} failed, {skipped} skipped\n"));
    Ok(if failed == 0 { Outcome::Done } else { Outcome::Void })
}
