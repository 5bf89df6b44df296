//! `tare bisect`: which release of a library brought a change, and whose it is.

mod bench;
mod search;

use tare_analysis::attribution::{ReleasePair, attribute_change};
use tare_plan::PlanError;
use tare_plan::inventory::KnownServer;
use tare_plan::names::select_names;
use tare_plan::ratio_limit::RatioLimit;
use tare_plan::settings::Options;

use crate::args::{BisectArgs, Global};
use crate::console;
use crate::failure::{Outcome, is_cancelled};
use crate::session::{Session, print_plan};
use crate::workspace::Workspace;
use bench::ReleaseBench;
use search::{SearchEnd, most_comparisons, search};

pub fn bisect(args: &BisectArgs, global: &Global) -> anyhow::Result<Outcome> {
    let mut session = Session::open(global)?;
    let flags = &args.settings.0;
    let server = the_server(flags, &session.workspace)?;
    let least = least_factor(args)?;
    let inventory = &mut session.workspace.inventory;
    let known = inventory.get(&server).cloned().unwrap_or_default();
    let releases = releases_between(&args.good, &args.bad, args.versions.as_deref(), &known)?;
    // Versions that only the user names are made known to the plans.
    inventory.add_releases(std::slice::from_ref(&server), &releases);
    let count = releases.len();
    let flags = &Options { servers: None, ..flags.clone() };
    let bench = ReleaseBench { server, releases, currency: args.currency, flags, session: &session };
    let first = bench.comparison_plan(0, count - 1, least)?;
    let most = most_comparisons(count);
    console::print_text(&format!(
        "tare bisect · {} · {count} releases: {} · at most {most} comparisons\n",
        bench.server,
        bench.releases.join(", ")
    ));
    if args.dry_run {
        return Ok(print_plan(&first));
    }
    let found = search(count, least, &mut |reference, other, limit| bench.compare(reference, other, limit));
    match found.and_then(|end| conclude(end, &bench, args)) {
        Err(error) if is_cancelled(&error) => {
            console::print_text(
                "\n  Interrupted. The answers above stand. To go on from there, give the last release without the change \
                 as --good, and the first one with it as --bad.\n",
            );
            Ok(Outcome::Interrupted)
        }
        result => result,
    }
}

fn the_server(flags: &Options, workspace: &Workspace) -> Result<String, PlanError> {
    let unnamed = || PlanError::value("--servers", "name the server whose releases are searched, with -s");
    let patterns = flags.servers.as_deref().ok_or_else(unnamed)?;
    let mut chosen = select_names("--servers", "server", patterns, &workspace.inventory.names())?;
    match chosen.len() {
        1 => Ok(chosen.swap_remove(0)),
        _ => {
            let message = format!("a bisection follows one server, and these are {}", chosen.join(", "));
            Err(PlanError::value("--servers", message))
        }
    }
}

fn least_factor(args: &BisectArgs) -> Result<f64, PlanError> {
    let wrong = |message: String| PlanError::value("--at-least-change", message);
    let factor = 1.0 + args.at_least_change / 100.0;
    if !(factor.is_finite() && factor > 1.0) {
        let given = args.at_least_change;
        return Err(wrong(format!("{given} is no change; write a percentage above 0, such as 2")));
    }
    RatioLimit::worse_by(args.currency, factor).map_err(wrong)?;
    Ok(factor)
}

/// The versions from `good` to `bad`: those of `listed`, or else of the catalog.
fn releases_between(
    good: &str,
    bad: &str,
    listed: Option<&[String]>,
    server: &KnownServer,
) -> Result<Vec<String>, PlanError> {
    if good == bad {
        return Err(PlanError::value("--bad", format!("{bad} is the good version too; give another")));
    }
    let all = listed.unwrap_or(&server.versions);
    for (place, version) in listed.into_iter().flatten().enumerate() {
        if version.is_empty() {
            return Err(PlanError::value("--versions", "has an empty version; leave out the comma"));
        }
        if all[..place].contains(version) {
            let message = format!("has {version} twice; give each version once, in order");
            return Err(PlanError::value("--versions", message));
        }
    }
    let place = |flag: &str, version: &str| {
        all.iter().position(|one| one == version).ok_or_else(|| {
            let which = if listed.is_some() { "--versions has" } else { "the catalog has" };
            let message = format!(
                "{version} is not among the versions of {}; {which} {}; give all with --versions, in order",
                server.name,
                all.join(", ")
            );
            PlanError::value(flag, message)
        })
    };
    let (good, bad) = (place("--good", good)?, place("--bad", bad)?);
    let mut between = all[good.min(bad)..=good.max(bad)].to_vec();
    if good > bad {
        between.reverse();
    }
    Ok(between)
}

fn conclude(end: SearchEnd, bench: &ReleaseBench<'_>, args: &BisectArgs) -> anyhow::Result<Outcome> {
    let release = |at: usize| bench.releases[at].as_str();
    let (first, last) = (release(0), release(bench.releases.len() - 1));
    let (last_before, first_after, unknown) = match end {
        SearchEnd::Found { last_before, first_after, unknown } => (last_before, first_after, unknown),
        SearchEnd::NoChange(change) => {
            console::print_text(&format!("\n  No change: {last} costs {} beside {first}.\n", change.text));
            return Ok(Outcome::Undecided);
        }
        SearchEnd::NotDecided(reason) => {
            let text = format!("\n  Not decided whether {last} differs from {first}: {reason}. Give more --budget.\n");
            console::print_text(&text);
            return Ok(Outcome::Undecided);
        }
    };
    let (before, after) = (release(last_before), release(first_after));
    let mut text = format!("\n  The change came with {after}: {before} does not have it.\n");
    if !unknown.is_empty() {
        let unknown = unknown.into_iter().map(release).collect::<Vec<&str>>().join(", ");
        text = format!("\n  The change came after {before}, with {after} at the latest. Not known: {unknown}.\n");
    }
    console::print_text(&text);
    if args.attribution_forks > 0 {
        let attributed = attribution(bench, last_before, first_after, args)?;
        console::print_text(&format!("\n  {attributed}\n"));
    }
    Ok(Outcome::Done)
}

/// Whose the change between two releases is, in a sentence, or why that is not known.
fn attribution(bench: &ReleaseBench<'_>, before: usize, after: usize, args: &BisectArgs) -> anyhow::Result<String> {
    let known = bench.session.workspace.inventory.get(&bench.server).and_then(|known| known.baseline.clone());
    let Some(beneath) = known else {
        return Ok(format!("Whose it is, is not known: {} has no server beneath it in the catalog.", bench.server));
    };
    let (old, new) = (bench.releases[before].clone(), bench.releases[after].clone());
    console::print_text(&format!("\n{} and {beneath}, both with {old} and with {new}\n", bench.server));
    // Student's intervals need a number of starts that was fixed before.
    let flags = &Options { budget: None, forks: Some(args.attribution_forks), ..bench.flags.clone() };
    let pinned = vec![(beneath.clone(), old.clone()), (beneath.clone(), new.clone())];
    let plan = bench.plan(before, after, pinned, flags)?;
    // The release that was found stays found.
    let Some(summary) = bench.measure(&plan)? else {
        return Ok(format!("Whose it is, is not known: {beneath} cannot be built."));
    };
    let pair = ReleasePair {
        new_layer: format!("{}@{new}", bench.server),
        old_server: format!("{beneath}@{old}"),
        new_server: format!("{beneath}@{new}"),
    };
    let currency = bench.currency;
    Ok(match attribute_change(&summary, &pair, currency) {
        Ok(parts) => format!(
            "{} in {new} beside {old}, {}: {} ({beneath} with the libraries of each release; α {}; {}).",
            bench.server,
            currency.facts().label,
            parts.sentence(),
            summary.run.alpha,
            parts.basis()
        ),
        Err(reason) => format!("Whose it is, is not known: {reason}."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(versions: &[&str]) -> Vec<String> {
        versions.iter().map(|version| (*version).to_owned()).collect()
    }

    #[test]
    fn the_list_is_cut_to_the_two_versions_and_put_in_order() {
        // A catalog lists the newest version first.
        let server = KnownServer {
            name: "a.Layer".to_owned(),
            versions: texts(&["1.11.5", "1.10.0", "1.9.11", "1.9.10", "1.8.1"]),
            ..KnownServer::default()
        };
        let between = |good, bad, listed| releases_between(good, bad, listed, &server);
        assert_eq!(between("1.9.10", "1.11.5", None).unwrap(), texts(&["1.9.10", "1.9.11", "1.10.0", "1.11.5"]));
        assert_eq!(between("1.10.0", "1.9.11", None).unwrap(), texts(&["1.10.0", "1.9.11"]));
        let listed = texts(&["2.0-M1", "2.0-M2", "2.0"]);
        assert_eq!(between("2.0-M1", "2.0", Some(&listed)).unwrap(), listed);
    }

    #[test]
    fn versions_that_are_not_listed_or_the_same_are_refused_with_the_list() {
        let server = KnownServer { name: "a.Layer".to_owned(), versions: texts(&["2", "1"]), ..KnownServer::default() };
        for (good, bad, says) in [
            ("1", "3", "--bad: 3 is not among the versions of a.Layer; the catalog has 2, 1"),
            ("0", "2", "--good: 0 is not among"),
            ("1", "1", "--bad: 1 is the good version too"),
        ] {
            let error = releases_between(good, bad, None, &server).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
        for (listed, says) in
            [(&["1", "1", "2"][..], "--versions: has 1 twice"), (&["1", "2", ""], "--versions: has an empty version")]
        {
            let error = releases_between("1", "2", Some(&texts(listed)), &server).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
