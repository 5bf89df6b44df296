//! `tare list`: servers, scenarios and versions; and what is not available here, and why.

use std::fmt::Write as _;

use tare_plan::inventory::KnownServer;
use tare_plan::plan::CommandServer;
use tare_report::clean::sanitize_lines;
use tare_sut::catalog::Built;

use crate::args::{Global, ListArgs};
use crate::console;
use crate::failure::Outcome;
use crate::workspace::Workspace;

pub fn list(args: &ListArgs, global: &Global) -> anyhow::Result<Outcome> {
    let workspace = Workspace::load(global)?;
    let suite = workspace.usual_suite(args.suite.as_deref())?.unwrap_or_default();
    let scenarios = suite.scenarios_with(&workspace.contract);
    if args.json {
        let own: Vec<_> = suite.servers.keys().collect();
        let value = serde_json::json!({
            "servers": workspace.inventory.servers, "suite_servers": own, "scenarios": scenarios,
        });
        console::print_text(&(serde_json::to_string_pretty(&value)? + "\n"));
        return Ok(Outcome::Done);
    }
    if workspace.inventory.servers.is_empty() && suite.servers.is_empty() {
        console::print_text(
            "no servers: no suite is named, and this folder has no tare.toml\n\
             tare init writes one for your project, tare example prints one to start with\n",
        );
        return Ok(Outcome::Done);
    }
    let names =
        workspace.inventory.servers.iter().map(|s| s.name.as_str()).chain(suite.servers.keys().map(String::as_str));
    let width = names.map(str::len).max().unwrap_or(0);
    let mut text = String::from("servers\n");
    text.extend(workspace.inventory.servers.iter().map(|one| format!("  {:<width$}  {}\n", one.name, about(one))));
    for (name, server) in &suite.servers {
        let baseline = server.baseline.as_deref().map_or(String::new(), |b| format!("  compared with {b}"));
        let _ = writeln!(text, "  {name:<width$}  {}{baseline}", origin(server));
    }
    text.push_str("\nscenarios\n");
    let width = scenarios.keys().map(String::len).max().unwrap_or(0);
    for (name, scenario) in &scenarios {
        let routes = if scenario.routes > 1 { format!("  (needs {} routes)", scenario.routes) } else { String::new() };
        let (method, path, title) = (&scenario.request.method, &scenario.request.path, &scenario.title);
        let _ = writeln!(text, "  {name:<width$}  {method:<4} {path:<14} {title}{routes}");
    }
    if !workspace.inventory.servers.is_empty() {
        versions(&workspace, &mut text);
    }
    console::print_text(&(sanitize_lines(&text) + "\n"));
    Ok(Outcome::Done)
}

/// Where a server of a suite comes from: its command, the server that it is like, or its URL.
fn origin(server: &CommandServer) -> String {
    match (&server.like, &server.url) {
        (Some(like), _) => format!("like {like}"),
        (None, Some(url)) => format!("runs at {url}"),
        (None, None) => server.command.join(" "),
    }
}

fn about(server: &KnownServer) -> String {
    if let Some(reason) = &server.unavailable {
        return format!("not available: {reason}");
    }
    let routes = if server.routes == 1 { "1 route".to_owned() } else { format!("{} routes", server.routes) };
    let baseline = server.baseline.as_deref().map_or(String::new(), |baseline| format!("  compared with {baseline}"));
    format!("{:<17} {routes:<11}{baseline}", server.kind)
}

fn versions(workspace: &Workspace, text: &mut String) {
    text.push_str("\nversions (--versions)\n");
    let mut families: Vec<&str> = Vec::new();
    for server in &workspace.inventory.servers {
        if !families.contains(&server.family.as_str()) {
            families.push(&server.family);
            let mark = |version: &String| {
                if *version == server.default_version { format!("{version} (default)") } else { version.clone() }
            };
            let all: Vec<String> = server.versions.iter().map(mark).collect();
            let _ = writeln!(text, "  {}  {}", server.family, all.join(", "));
            text.extend(resolved(workspace, server).map(|of| format!("      built here with {of}\n")));
        }
    }
}

/// What the build of a family's default version was resolved to, where it has been built.
fn resolved(workspace: &Workspace, server: &KnownServer) -> Option<String> {
    let catalog = workspace.catalog.as_ref()?;
    let Built::Manifest(manifest) = catalog.build_result(&catalog.resolve_target(&server.name, None).ok()?).ok()?
    else {
        return None;
    };
    let versions: Vec<String> = manifest.resolved.iter().map(|(name, version)| format!("{name} {version}")).collect();
    Some(versions.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_a_suite_is_listed_with_what_it_comes_from() {
        let own = CommandServer { command: vec!["./own".to_owned(), "-v".to_owned()], ..CommandServer::default() };
        let like = CommandServer { like: Some("own".to_owned()), ..CommandServer::default() };
        let elsewhere = CommandServer { url: Some("http://10.0.0.7:80".to_owned()), ..CommandServer::default() };
        assert_eq!(
            [own, like, elsewhere].map(|one| origin(&one)),
            ["./own -v", "like own", "runs at http://10.0.0.7:80"]
        );
    }
}
