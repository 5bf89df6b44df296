//! `tare verify`: do all servers answer alike? Each is started, asked everything in the contract, and stopped.

mod table;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tare_load::Cancel;
use tare_plan::plan::{Group, HttpVersion, Variant};
use tare_run::load_host::{Destination, VerifyOrder};
use tare_sut::contract::{CheckOutcome, HeaderDifference, header_differences};
use tare_sys::procfs::machine::Machine;

use crate::args::{Global, VerifyArgs};
use crate::failure::{Outcome, error_text};
use crate::session::BuiltServers;
use crate::{console, interrupt};

struct Verified<'a> {
    variant: &'a Variant,
    outcome: ServerOutcome,
    /// How its headers differ from those of a baseline; empty where they do not.
    header_lines: Vec<String>,
}

enum ServerOutcome {
    Answered(Vec<CheckOutcome>),
    /// It could not be started, or ended while it was asked.
    Failed(anyhow::Error),
    Unavailable(String),
}

/// Verifies every server that is asked for; ends with a line `N passed, N failed, N skipped` over all checks.
pub fn verify(args: &VerifyArgs, global: &Global) -> anyhow::Result<Outcome> {
    let built = &BuiltServers::build(&args.servers, usize::MAX, &args.choice, global)?;
    let colored = console::stdout_colored(global.color);
    let show_result = |verified: &Verified<'_>| {
        // After Ctrl-C a server may have been asked less than all.
        if !args.markdown && !interrupt::is_raised(&built.cancelled) {
            print_result(verified, args.verbose, colored);
        }
    };
    let all = verify_all(built, &show_result);
    if interrupt::is_raised(&built.cancelled) {
        return Ok(Outcome::Interrupted);
    }
    let unplanned: Vec<_> = built.plan.skipped.iter().filter(|skipped| !skipped.what.contains('×')).collect();
    if args.markdown {
        console::print_text(&table::markdown(built, &all, &unplanned));
    } else {
        for skipped in &unplanned {
            console::print_text(&format!("skipped: {} ({})\n", skipped.what, skipped.because));
        }
    }
    Ok(print_totals(&all, unplanned.len(), args.markdown))
}

fn print_totals(all: &[Verified<'_>], unplanned: usize, as_markdown: bool) -> Outcome {
    let (mut passed, mut failed, mut skipped) = (0, 0, unplanned);
    for verified in all {
        match &verified.outcome {
            ServerOutcome::Answered(outcomes) => {
                let good = outcomes.iter().filter(|outcome| outcome.passed).count();
                passed += good;
                failed += outcomes.len() - good;
            }
            ServerOutcome::Failed(_) => failed += 1,
            ServerOutcome::Unavailable(_) => skipped += 1,
        }
    }
    let line = format!("{passed} passed, {failed} failed, {skipped} skipped");
    if as_markdown {
        console::print_note(&line)
    } else {
        console::print_text(&format!("{line}\n"))
    }
    if failed == 0 { Outcome::Done } else { Outcome::Failed }
}

/// Verifies as many servers at a time as there are cores and memory for, and shows the results in order.
fn verify_all<'v>(built: &'v BuiltServers, show_result: &(dyn Fn(&Verified<'v>) + Sync)) -> Vec<Verified<'v>> {
    let variants = built.variants();
    let next = AtomicUsize::new(0);
    let done = Mutex::new((BTreeMap::new(), Vec::new()));
    let verify_next = || {
        while !interrupt::is_raised(&built.cancelled) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&variant) = variants.get(index) else { break };
            let verified = Verified { variant, outcome: verify_one(built, variant), header_lines: Vec::new() };
            let (early, all) = &mut *done.lock().unwrap_or_else(PoisonError::into_inner);
            early.insert(index, verified);
            while let Some(mut verified) = early.remove(&all.len()) {
                compare_with_baselines(built, &mut verified, all);
                show_result(&verified);
                all.push(verified);
            }
        }
    };
    thread::scope(|scope| {
        // With too few threads, fewer servers are verified at a time.
        (1..servers_at_a_time()).for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, verify_next)));
        verify_next();
    });
    let (_, all) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    all
}

fn verify_one(built: &BuiltServers, variant: &Variant) -> ServerOutcome {
    match built.launches.unavailable(variant) {
        Some(reason) => ServerOutcome::Unavailable(reason.to_owned()),
        None => start_and_check(built, variant).map_or_else(ServerOutcome::Failed, ServerOutcome::Answered),
    }
}

/// Starts one server on all cores and checks its answers.
fn start_and_check(built: &BuiltServers, variant: &Variant) -> anyhow::Result<Vec<CheckOutcome>> {
    let BuiltServers { workspace, plan, launches, .. } = built;
    let launch = launches.get(variant)?;
    let (identity, transport) = (variant.identity(), variant.program.transport());
    let contract = plan.contract(variant, &workspace.contract);
    let is_sent = |name: &str| contract.scenarios.get(name).is_none_or(|one| transport.why_not(one).is_none());
    let exchanges = contract.exchanges(&identity, variant.routes).filter(|exchange| is_sent(&exchange.name));
    let (exchanges, host) = (exchanges.collect(), launch.host());
    let cancel = Cancel::from(Arc::clone(&built.cancelled));
    let ask = |address| {
        let (transport, timeout) = (transport.clone(), plan.load.timeout);
        VerifyOrder { destination: Destination { address, host }, transport, exchanges, timeout }.carry_out(&cancel)
    };
    let left_open = |outcomes: &Vec<CheckOutcome>| {
        let open = outcomes.iter().find(|outcome| !outcome.passed && outcome.answer.is_none())?;
        Some(format!("the check {}", open.check))
    };
    built.while_running(variant, ask, left_open)
}

/// Holds the answers of a server against those of its baselines, as far as they were asked before.
fn compare_with_baselines(built: &BuiltServers, verified: &mut Verified<'_>, before: &[Verified<'_>]) {
    let ServerOutcome::Answered(outcomes) = &mut verified.outcome else { return };
    let has_variant = |group: &&Group| group.variants.iter().any(|one| one.name == verified.variant.name);
    for group in built.plan.groups.iter().filter(has_variant) {
        let baseline = before.iter().find(|other| other.variant.name == group.baseline().name);
        let Some(Verified { variant, outcome: ServerOutcome::Answered(theirs), .. }) = baseline else { continue };
        verified.header_lines.extend(header_line(&variant.name, &header_differences(theirs, outcomes)));
        for outcome in outcomes.iter_mut() {
            let their = theirs.iter().find(|their| their.check == outcome.check && their.passed);
            if let Some(their) = their.and_then(|their| their.answer.as_ref()) {
                outcome.compare_with(&variant.name, their);
            }
        }
    }
}

/// `headers unlike bare's: adds x-layer; omits etag; changes server`: often the sign that a layer is on.
fn header_line(baseline: &str, differences: &[HeaderDifference]) -> Option<String> {
    let kinds = [("adds", [false, true]), ("omits", [true, false]), ("changes", [true, true])];
    let part = |(verb, is_sent): (&str, [bool; 2])| {
        let of_kind = differences.iter().filter(|one| one.values.each_ref().map(Option::is_some) == is_sent);
        let names: Vec<&str> = of_kind.map(|one| one.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
    };
    let parts: Vec<String> = kinds.into_iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| format!("headers unlike {baseline}'s: {}", parts.join("; ")))
}

/// How many servers may run at a time: one per core, if each has its heap and as much again.
fn servers_at_a_time() -> usize {
    const SERVER_BYTES: u64 = 2 << 30;
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let memory = Machine::read().memory_bytes.unwrap_or(SERVER_BYTES) / SERVER_BYTES;
    cores.min(usize::try_from(memory).unwrap_or(usize::MAX)).max(1)
}

fn print_result(verified: &Verified<'_>, verbose: bool, colored: bool) {
    let variant = verified.variant;
    let mark = |passed| console::check_mark(passed, colored);
    let outcomes = match &verified.outcome {
        ServerOutcome::Answered(outcomes) => outcomes,
        ServerOutcome::Failed(error) => {
            return console::print_text(&format!("{} {:<32} {}\n", mark(false), variant.name, error_text(error)));
        }
        ServerOutcome::Unavailable(reason) => {
            return console::print_text(&format!("skipped: {} ({reason})\n", variant.name));
        }
    };
    let (passed, of) = (outcomes.iter().filter(|outcome| outcome.passed).count(), outcomes.len());
    let version = variant.version.as_deref().map_or(String::new(), |version| format!(" {version}"));
    let transport = variant.program.transport();
    let spoken =
        if transport.version() == HttpVersion::Http1 { String::new() } else { format!(" {}", transport.version()) };
    let name = format!("{}{version}{spoken}", variant.server);
    console::print_text(&format!("{} {name:<36} {passed} of {of} checks\n", mark(passed == of)));
    for outcome in outcomes.iter().filter(|outcome| verbose || !outcome.passed || outcome.because.is_some()) {
        let because = outcome.because.as_deref().map_or(String::new(), |why| format!("  (differs: {why})"));
        console::print_text(&format!("    {} {}{because}\n", mark(outcome.passed), outcome.check));
        if let Some(difference) = &outcome.difference {
            console::print_text(&format!("        {difference}\n"));
        }
    }
    for line in &verified.header_lines {
        console::print_text(&format!("    {line}\n"));
    }
}
