//! What was verified, as a document: which servers, built from which versions, and how each answers each check.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tare_plan::inventory::KnownServer;
use tare_plan::plan::Skipped;
use tare_sut::contract::CheckOutcome;

use super::{ServerOutcome, Verified};
use crate::session::BuiltServers;

const HEAD: &str = "# Servers\n\n\
    Made by `tare verify --markdown > docs/SERVERS.md`. Every server was started, and got every request of\n\
    [servers/contract.toml](../servers/contract.toml).\n";

pub(super) fn markdown(built: &BuiltServers, all: &[Verified<'_>], unplanned: &[&Skipped]) -> String {
    let exchanges = built.workspace.contract.exchanges("", u32::MAX);
    let checks: Vec<String> = exchanges.map(|exchange| exchange.name).collect();
    let mut text = String::from(HEAD);
    versions(built, all, &mut text);
    protocols(built, &mut text);
    matrix(&checks, all, &mut text);
    differences(all, &mut text);
    lacks(built, all, &mut text);
    unavailable(all, unplanned, &mut text);
    text
}

/// Servers that share their versions stand together.
fn versions(built: &BuiltServers, all: &[Verified<'_>], text: &mut String) {
    let mut built_with: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for verified in all {
        if let Ok(launch) = built.launches.get(verified.variant) {
            let of: Vec<String> = launch.resolved.iter().map(|(name, version)| format!("{name} {version}")).collect();
            built_with.entry(of.join(", ")).or_default().push(&verified.variant.server);
        }
    }
    let mut rows: Vec<(String, String)> =
        built_with.into_iter().map(|(of, servers)| (servers.join(", "), of)).collect();
    rows.sort();
    text.push_str("\n## Versions of each server\n\n| servers | versions |\n|---|---|\n");
    text.extend(rows.into_iter().map(|(servers, of)| format!("| {servers} | {of} |\n")));
}

/// What servers of the catalog speak besides HTTP/1.1, and why others do not, as far as that is known.
fn protocols(built: &BuiltServers, text: &mut String) {
    let servers = built.workspace.catalog.iter().flat_map(|catalog| catalog.inventory().servers);
    let mut rows: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for KnownServer { name, protocols, only_http1, .. } in servers {
        let spoken: Vec<&str> = protocols.iter().map(|protocol| protocol.name()).collect();
        if !spoken.is_empty() || only_http1.is_some() {
            rows.entry((spoken.join(", "), only_http1.unwrap_or_default())).or_default().push(name);
        }
    }
    text.push_str("\n## Protocols besides HTTP/1.1\n\n| servers | speak | not more, because |\n|---|---|---|\n");
    for ((spoken, because), servers) in rows {
        let _ = writeln!(text, "| {} | {spoken} | {because} |", servers.join(", "));
    }
}

fn matrix(checks: &[String], all: &[Verified<'_>], text: &mut String) {
    text.push_str("\n## Requests\n\n");
    text.extend((1..).zip(checks).map(|(number, check)| format!("{number}. {check}\n")));
    text.push_str("\n## Answers\n\n");
    text.push_str(
        "✓ as the contract says · ≠ an allowed difference, with its reason below · ✗ wrong · blank: not sent, because the server\n\
         has no such route or its library cannot answer it\n\n|",
    );
    let numbers: Vec<String> = (1..=checks.len()).map(|number| number.to_string()).collect();
    let _ = writeln!(text, " server | {} |\n|---|{}", numbers.join(" | "), "---|".repeat(checks.len()));
    for verified in all {
        if let ServerOutcome::Answered(outcomes) = &verified.outcome {
            let marks: Vec<&str> = checks.iter().map(|check| mark(outcomes, check)).collect();
            let _ = writeln!(text, "| {} | {} |", verified.variant.name, marks.join(" | "));
        }
    }
}

fn mark(outcomes: &[CheckOutcome], check: &str) -> &'static str {
    match outcomes.iter().find(|outcome| outcome.check == check) {
        None => " ",
        Some(outcome) if !outcome.passed => "✗",
        Some(outcome) if outcome.because.is_some() => "≠",
        Some(_) => "✓",
    }
}

/// Each reason with the checks and the servers that it explains.
fn differences(all: &[Verified<'_>], text: &mut String) {
    let mut reasons = Reasons::new();
    for verified in all {
        let ServerOutcome::Answered(outcomes) = &verified.outcome else { continue };
        for outcome in outcomes {
            if let Some(because) = &outcome.because {
                reasons.entry((because, &outcome.check)).or_default().push(&verified.variant.name);
            }
        }
    }
    text.push_str("\n## Allowed differences\n\n| check | because | servers |\n|---|---|---|\n");
    rows(reasons, text);
}

/// The servers by reason and by what it is about.
type Reasons<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a str>>;

fn rows(reasons: Reasons<'_>, text: &mut String) {
    for ((because, what), servers) in reasons {
        let _ = writeln!(text, "| {what} | {because} | {} |", servers.join(", "));
    }
}

/// What servers were not asked because their library does not have it.
fn lacks(built: &BuiltServers, all: &[Verified<'_>], text: &mut String) {
    let mut reasons = Reasons::new();
    let contract = &built.workspace.contract;
    for verified in all.iter().filter(|verified| matches!(verified.outcome, ServerOutcome::Answered(_))) {
        let identity = verified.variant.identity();
        for scenario in contract.scenarios.keys() {
            if let Some(because) = contract.why_not_served(&identity, scenario) {
                reasons.entry((because, scenario)).or_default().push(&verified.variant.name);
            }
        }
    }
    if !reasons.is_empty() {
        text.push_str(
            "\n## Requests that a library cannot answer\n\n| not sent | because | servers |\n|---|---|---|\n",
        );
    }
    rows(reasons, text);
}

fn unavailable(all: &[Verified<'_>], unplanned: &[&Skipped], text: &mut String) {
    let tried = all.iter().filter_map(|verified| match &verified.outcome {
        ServerOutcome::Unavailable(reason) => Some((verified.variant.name.as_str(), reason.clone())),
        // The end of its log follows.
        ServerOutcome::Failed(error) => {
            let why = error.to_string().lines().next().unwrap_or_default().to_owned();
            Some((verified.variant.name.as_str(), why))
        }
        ServerOutcome::Answered(_) => None,
    });
    let untried = unplanned.iter().map(|skipped| (skipped.what.as_str(), skipped.because.clone()));
    let missing: Vec<(&str, String)> = tried.chain(untried).collect();
    if !missing.is_empty() {
        text.push_str("\n## Servers that the machine of this page could not build\n\n| server | reason |\n|---|---|\n");
    }
    text.extend(missing.into_iter().map(|(server, why)| format!("| {server} | {why} |\n")));
}
