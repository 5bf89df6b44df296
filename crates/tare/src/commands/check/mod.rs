//! `tare check`: the servers of a suite in two builds, compared in alternation and held against limits. It makes a suite
//! with both builds of each server; `tare run` does the rest.

mod baseline;
mod paths_into;
mod submodules;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::slice;

use tare_analysis::profile::no_sample_in;
use tare_plan::names::select_names;
use tare_plan::plan::{CommandServer, Program, Role, Setting, Source, Variant};
use tare_plan::ratio_limit::RatioLimit;
use tare_plan::settings::Options;
use tare_plan::suite::{GroupSpec, Suite};
use tare_plan::{Currency, Plan, PlanError};
use tare_sut::sampler::cache_folder;
use tare_units::{Span, and, enumerate};

use crate::args::{CheckArgs, Global};
use crate::console;
use crate::failure::{Outcome, error_text};
use crate::session::{Session, is_failed_build, note_unused, print_plan, profiled_beside};
use crate::workspace::{SUITE_FILE, Workspace};
use baseline::{Baseline, Given, folder_of};
use submodules::MissingSubmodule;

const BASELINE_SUFFIX: &str = "@baseline";

pub fn check(args: &CheckArgs, global: &Global) -> anyhow::Result<Outcome> {
    let mut session = Session::open(global)?;
    let suite = read_suite(args, &session.workspace)?;
    let (limits, source) = limits(args, &suite)?;
    let mut slow: Vec<Span> = limits.iter().filter_map(|limit| limit.slower_than).collect();
    slow.dedup();
    if slow.len() > 1 {
        return Err(wrong(&suite, "has limits on slow requests with several times; write slower(…) with one").into());
    }
    let flags = &Options { versions: args.versions.clone(), ..args.settings.0.clone() };
    let given = given_baseline(args, &suite)?;
    session
        .workspace
        .add_releases(flags.servers.as_deref(), flags.versions.iter().flatten().chain([&given.text.to_owned()]));
    let workspace = &session.workspace;
    let mut baseline = Baseline::find(&given, &suite, workspace, &cache_folder())?;
    if let Some(version) = flags.versions.iter().flatten().find(|version| baseline.is_version(version)) {
        let message = format!("{version} is the baseline; name the version that is compared with it");
        return Err(PlanError::value("--versions", message).into());
    }
    let checked = checked_servers(&suite, flags.servers.as_deref(), workspace)?;
    let is_chosen = flags.servers.is_some() || suite.run.servers.is_some();
    let unchecked = unchecked_baselines(&suite, &checked).filter(|_| !is_chosen);
    let both = with_both_builds(&suite, &baseline, checked)?;
    let both = Suite { profile: args.profile.then(|| suite.profile.clone().unwrap_or_default()), ..both };
    let mut plan = session.plan(&settled(both, flags, &limits), flags, None)?;
    name_own_defaults(&mut plan, &suite);
    plan.set_limits(limits, source);
    note_unused(flags, &plan);
    for note in uncounted(&plan).into_iter().chain(unchecked) {
        console::print_note(&format!("  note: {note}"));
    }
    if args.dry_run {
        return Ok(print_plan(&plan));
    }
    for note in baseline.notes() {
        console::print_note(&format!("  note: {note}"));
    }
    let checked_out = baseline.check_out(&cache_folder());
    let measured = match checked_out.and_then(|()| session.measure(&plan)) {
        Ok(measured) => measured,
        // A baseline that cannot be built says nothing of the change's cost either.
        Err(error) if error.is::<MissingSubmodule>() || is_failed_build(&error) => {
            console::print_note(&format!("undecided: {}", error_text(&error)));
            return Ok(Outcome::Undecided);
        }
        Err(error) => return Err(error),
    };
    let run_dir = measured.run_dir.clone();
    let outcome = session.conclude(&plan, measured)?;
    let untouched = || no_sample_in(&profiled_beside(&run_dir)?, &baseline.changed_classes()?);
    if let Some(note) = baseline.nothing_differs().or_else(untouched) {
        console::print_text(&format!("  note      {note}\n"));
    }
    Ok(outcome)
}

/// The suite that is named, or the usual one. Servers of the catalog need none.
fn read_suite(args: &CheckArgs, workspace: &Workspace) -> anyhow::Result<Suite> {
    match workspace.usual_suite(args.suite.as_deref())? {
        Some(suite) => Ok(suite),
        None if args.settings.0.servers.is_some() => Ok(Suite::default()),
        None => {
            let message = "is not in this folder; tare init writes one, or name a suite: tare check my.toml";
            Err(PlanError::value(SUITE_FILE, message).into())
        }
    }
}

fn limits(args: &CheckArgs, suite: &Suite) -> Result<(Vec<RatioLimit>, Source), PlanError> {
    if !args.fail_if.is_empty() {
        return Ok((args.fail_if.clone(), Source::Flag));
    }
    if suite.check.fail_if.is_empty() {
        let message = "has no limits; write [check] fail_if = [\"cpu > +3%\"], or give --fail-if 'cpu > +3%'";
        return Err(wrong(suite, message));
    }
    Ok((suite.check.fail_if.clone(), Source::Suite))
}

fn given_baseline<'a>(args: &'a CheckArgs, suite: &'a Suite) -> Result<Given<'a>, PlanError> {
    if let Some(text) = &args.baseline {
        if text.is_empty() {
            let message =
                "is empty: git merge-base finds no common commit in a shallow clone; git fetch --unshallow helps";
            return Err(PlanError::value("--baseline", message));
        }
        return Ok(Given { text, origin: "--baseline".to_owned(), folder: PathBuf::from(".") });
    }
    let Some(text) = &suite.check.baseline else {
        let message = "names nothing to compare with; give --baseline main, or write [check] baseline = \"main\"";
        return Err(wrong(suite, message));
    };
    Ok(Given { text, origin: format!("{}: [check] baseline", suite.file), folder: folder_of(suite) })
}

/// A suite of both builds with the settings of a check. An A/A control guards it, and latencies are measured where a limit
/// needs them, or where there is no other load.
fn settled(mut both: Suite, flags: &Options, limits: &[RatioLimit]) -> Suite {
    let run = &mut both.run;
    (run.aa, run.baseline, run.servers, run.versions) = (None, None, None, None);
    (run.duration, run.engine) = (None, None);
    run.control.get_or_insert(true);
    let needs_open_load =
        limits.iter().any(|limit| limit.currency.is_latency()) || flags.saturating.or(run.saturating) == Some(0);
    if !needs_open_load && run.slo.is_none() && flags.slo.is_none() {
        run.latency.get_or_insert(Span::default());
    }
    both
}

/// The suite of both builds has settings that the user's does not state.
fn name_own_defaults(plan: &mut Plan, suite: &Suite) {
    let stated = [("control", suite.run.control.is_some()), ("latency", suite.run.latency.is_some())];
    let is_own =
        |setting: &&mut Setting| setting.source == Source::Suite && stated.contains(&(setting.key.as_str(), false));
    plan.settings.iter_mut().filter(is_own).for_each(|setting| setting.source = Source::Default);
}

/// What to know of limits on bytes and stops: without counters only a JVM is counted, and a script may hide one.
fn uncounted(plan: &Plan) -> Vec<String> {
    let is_counted =
        |limit: &&RatioLimit| matches!(limit.currency, Currency::AllocatedPerRequest | Currency::StoppedPerRequest);
    let Some(limit) = plan.stop.limits.iter().find(is_counted) else { return Vec::new() };
    let has_no_counters =
        |server: &Variant| matches!(&server.program, Program::Command(server) if server.counters.is_none());
    let is_uncounted = |variant: &&Variant| variant.role == Role::Compared && variant.chain().all(has_no_counters);
    let note = |variant: &Variant| {
        format!(
            "{} is decided only if {} runs on a JVM; for Node, Go or .NET write counters in its table of the suite \
             (CPython counts nothing)",
            limit.text, variant.name
        )
    };
    plan.groups.iter().flat_map(|group| &group.variants).filter(is_uncounted).map(note).collect()
}

/// The suite with a group for each server that is checked: the server, and the same server in the baseline's build.
fn with_both_builds(suite: &Suite, baseline: &Baseline, checked: Vec<String>) -> anyhow::Result<Suite> {
    let mut both = Suite { groups: Vec::new(), profile: None, ..suite.clone() };
    let verb = if checked.len() == 1 { "Does" } else { "Do" };
    both.suite.question = Some(format!("{verb} {} cost more than at {}?", and(&checked), baseline.describe()));
    for name in checked {
        let group = match suite.servers.get(&name) {
            Some(_) => {
                let baseline = baseline_of(suite, baseline, &name, &mut both)?;
                GroupSpec { baseline, ..GroupSpec::default() }
            }
            None => baseline.catalog_group(&name)?,
        };
        let scenarios = scenarios_of(suite, &name);
        both.groups.push(GroupSpec { servers: vec![name], scenarios, ..group });
    }
    Ok(both)
}

/// Adds the baseline's build of a server, and of those behind it, to the suite. Returns its name.
fn baseline_of(suite: &Suite, baseline: &Baseline, name: &str, both: &mut Suite) -> anyhow::Result<String> {
    let Some(server) = suite.servers.get(name) else { return Ok(name.to_owned()) };
    let mut other = baseline.server(name, server)?;
    if let Some(upstream) = &server.in_front_of {
        other.in_front_of = Some(baseline_of(suite, baseline, upstream, both)?);
    }
    let other_name = format!("{name}{BASELINE_SUFFIX}");
    both.servers.insert(other_name.clone(), other);
    Ok(other_name)
}

/// The scenarios of the first group of the suite that compares this server; `None` for all.
fn scenarios_of(suite: &Suite, name: &str) -> Option<Vec<String>> {
    let known = [name.to_owned()];
    // Each pattern by itself: one that matches other servers alone is no error here.
    let is_it = |pattern: &String| select_names("[[groups]]", "server", slice::from_ref(pattern), &known).is_ok();
    suite.groups.iter().find(|group| group.servers.iter().any(is_it))?.scenarios.clone()
}

/// The servers that flags choose, or else the layers of the suite, which name a baseline; all where none does. A suite
/// without servers of its own means the catalog's.
fn checked_servers(suite: &Suite, chosen: Option<&[String]>, workspace: &Workspace) -> Result<Vec<String>, PlanError> {
    let wanted = chosen.or(suite.run.servers.as_deref());
    if suite.servers.is_empty() {
        let wanted = wanted.ok_or_else(|| wrong(suite, "has no servers; write [servers.NAME] with a command"))?;
        return select_names("--servers", "server", wanted, &workspace.inventory.names());
    }
    let started: Vec<String> =
        suite.servers.iter().filter(|(_, server)| has_own_build(server)).map(|(name, _)| name.clone()).collect();
    if started.is_empty() {
        return Err(wrong(suite, "has no server that tare starts; write [servers.NAME] with a command"));
    }
    if let Some(patterns) = wanted {
        return select_names("--servers", "server", patterns, &started);
    }
    let is_layer = |name: &&String| suite.servers[*name].baseline.is_some();
    let layers: Vec<String> = started.iter().filter(is_layer).cloned().collect();
    Ok(if layers.is_empty() { started } else { layers })
}

/// Whether tare starts it. A server that is like one of the catalog has no build of its own.
fn has_own_build(server: &CommandServer) -> bool {
    server.url.is_none() && server.like.is_none()
}

/// What to know where a layer is checked and the server beneath it is not: a commit that switches the layer on for all
/// changes only that one.
fn unchecked_baselines(suite: &Suite, checked: &[String]) -> Option<String> {
    let baselines = checked.iter().filter_map(|name| suite.servers.get(name)?.baseline.clone());
    let is_left_out = |name: &String| !checked.contains(name) && suite.servers.get(name).is_some_and(has_own_build);
    let left_out: BTreeSet<String> = baselines.filter(is_left_out).collect();
    let names: Vec<String> = left_out.into_iter().collect();
    let all = [checked, names.as_slice()].concat().join(",");
    let (verb, pronoun) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
    (!names.is_empty()).then(|| {
        format!("{} {verb} not checked; to check {pronoun}, too: -s {}", enumerate(&names), shell_words::quote(&all))
    })
}

fn wrong(suite: &Suite, message: &str) -> PlanError {
    let origin = if suite.file.is_empty() { "tare check" } else { &suite.file };
    PlanError::value(origin, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_checked_in_the_scenarios_of_its_group_whoever_else_is_in_it() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let group =
            GroupSpec { servers: names(&["own", "layer*"]), scenarios: Some(names(&["Get"])), ..GroupSpec::default() };
        let suite = Suite { groups: vec![group], ..Suite::default() };
        let scenarios = ["own", "layer.2", "other"].map(|name| scenarios_of(&suite, name));
        assert_eq!(scenarios, [Some(names(&["Get"])), Some(names(&["Get"])), None]);
    }

    #[test]
    fn a_server_beneath_a_checked_layer_that_is_not_checked_is_named() {
        let layer = "command = [\"./own\", \"{port}\"]\nbaseline = ";
        let bare = "command = [\"./own\", \"{port}\"]";
        let text = format!(
            "[servers.bare]\n{bare}\n[servers.layer]\n{layer}\"bare\"\n[servers.two]\n{layer}\"layer\"\n\
             [servers.there]\nurl = \"http://127.0.0.1:1\"\n[servers.three]\n{layer}\"there\"\n"
        );
        let suite = Suite::parse("tare.toml", &text).unwrap();
        let said = |checked: &[&str]| {
            let checked: Vec<String> = checked.iter().map(|name| (*name).to_owned()).collect();
            unchecked_baselines(&suite, &checked)
        };
        assert_eq!(said(&["layer"]).as_deref(), Some("bare is not checked; to check it, too: -s layer,bare"));
        assert_eq!(
            said(&["layer", "two"]).as_deref(),
            Some("bare is not checked; to check it, too: -s layer,two,bare")
        );
        assert_eq!(said(&["bare"]), None);
        assert_eq!(said(&["three"]), None, "it has no other build");
        assert_eq!(said(&["bare", "layer", "two"]), None);
    }

    #[test]
    fn what_a_suite_says_of_its_sequential_run_is_not_checked() {
        let text = "[run]\nduration = \"5s\"\nengine = [\"wrk\"]";
        let run = settled(Suite::parse("my.toml", text).unwrap(), &Options::default(), &[]).run;
        assert_eq!((run.duration, run.engine), (None, None));
    }

    #[test]
    fn without_saturating_rounds_the_open_load_stays_whoever_says_so() {
        let (limits, none) = (["cpu > +3%".parse().unwrap()], Some(Span::default()));
        let latency = |of_suite: Option<u32>, of_flag: Option<u32>| {
            let mut suite = Suite::default();
            suite.run.saturating = of_suite;
            let flags = Options { saturating: of_flag, ..Options::default() };
            settled(suite, &flags, &limits).run.latency
        };
        assert_eq!(latency(None, None), none, "CPU needs no open load");
        assert_eq!(latency(Some(6), Some(0)), None, "the flag wins");
        assert_eq!(latency(Some(0), Some(6)), none, "the flag wins");
        assert_eq!((latency(Some(0), None), latency(None, Some(0))), (None, None));
    }
}
