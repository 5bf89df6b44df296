//! The programs that a run may need: a JDK, build tools, Node.js, samplers.

use std::path::{Path, PathBuf};
use std::process::Command;

use tare_sut::jdk::Jdk;
use tare_sut::sampler;
use tare_sys::child::find_program;

use super::checked::Checked;
use crate::workspace::Workspace;

/// The oldest Node.js that runs the servers on Node.
const MIN_NODE: u32 = 20;

/// Every tool, the needed ones first. Without the project's servers none is needed.
pub fn tools(workspace: &Workspace) -> Vec<Checked> {
    let Some(home) = &workspace.home else {
        let found = "tare load, your own servers and tare report need none";
        return vec![Checked::fine("other programs", found), perf(), async_profiler()];
    };
    let catalog = Checked::fine("project", home.display().to_string());
    let cargo = optional("cargo", version_of("cargo"), "Only the servers in Rust need it: https://rustup.rs");
    vec![catalog, jdk(), build_tool(), node(), cargo, perf(), async_profiler()]
}

fn jdk() -> Checked {
    match Jdk::find_compiler() {
        Ok(jdk) => Checked::fine("JDK", format!("{jdk} in {}", jdk.home.display())),
        Err(error) => Checked::missing("JDK", error.to_string(), "The servers of tare run need it."),
    }
}

/// sbt, or Maven, which can fetch sbt's launcher, or a launcher that was fetched before.
fn build_tool() -> Checked {
    const WHAT: &str = "sbt or Maven";
    if let Some(sbt) = on_path("sbt") {
        return Checked::fine(WHAT, format!("sbt at {}", sbt.display()));
    }
    if let Some(maven) = on_path("mvn") {
        return Checked::fine(WHAT, format!("Maven at {}; it fetches sbt's launcher", maven.display()));
    }
    match sbt_launcher() {
        Some(jar) => Checked::fine(WHAT, format!("sbt's launcher at {}", jar.display())),
        None => {
            Checked::missing(WHAT, "neither is on the PATH", "Install one: the servers on the JVM are built with it.")
        }
    }
}

fn sbt_launcher() -> Option<PathBuf> {
    let entries = std::fs::read_dir(sampler::cache_folder()).ok()?.flatten();
    entries.map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("sbt-launch-") && name.ends_with(".jar")
    })
}

fn node() -> Checked {
    const WHAT: &str = "Node.js";
    let remedy = format!("Only the servers on Node need it: install version {MIN_NODE} or later.");
    match version_of("node") {
        None => Checked::optional(WHAT, "not found", remedy),
        Some(version) if major(&version).is_some_and(|major| major >= MIN_NODE) => Checked::fine(WHAT, version),
        Some(version) => Checked::optional(WHAT, format!("{version} is too old"), remedy),
    }
}

/// A program that only some servers or profiles need.
fn optional(what: &'static str, found: Option<String>, remedy: &str) -> Checked {
    found.map_or_else(|| Checked::optional(what, "not found", remedy), |found| Checked::fine(what, found))
}

fn perf() -> Checked {
    let remedy = "Only profiles of programs without a JVM need it: install linux-perf or linux-tools.";
    optional("perf", on_path("perf").map(|path| path.display().to_string()), remedy)
}

fn async_profiler() -> Checked {
    let fetched = sampler::fetched_async_profiler().map(|jar| jar.display().to_string());
    let to_fetch = || on_path("mvn").map(|_| "not here yet; Maven fetches it for the first profile".to_owned());
    let remedy = "Only profiles of JVMs need it: install Maven, which fetches it.";
    optional("async-profiler", fetched.or_else(to_fetch), remedy)
}

fn on_path(program: &str) -> Option<PathBuf> {
    find_program(Path::new(program), None, std::env::var_os("PATH").as_ref()).ok()
}

/// The first line of `PROGRAM --version`.
fn version_of(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned())
}

/// 20 of `v20.19.1`.
fn major(version: &str) -> Option<u32> {
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::checked::CheckState;

    #[test]
    fn versions_of_node_are_understood() {
        assert_eq!((major("v20.19.1"), major("18.0"), major("none")), (Some(20), Some(18), None));
    }

    #[test]
    fn without_the_project_no_tool_is_missing() {
        let (contract, inventory) = (Default::default(), Default::default());
        let workspace = Workspace { home: None, catalog: None, contract, inventory };
        assert!(tools(&workspace).iter().all(|checked| checked.state != CheckState::Missing));
    }
}
