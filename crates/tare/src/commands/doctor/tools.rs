//! The programs that a run may need: a JDK, build tools, Node.js, samplers.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_sut::jdk::Jdk;
use tare_sut::sampler;
use tare_sys::child::{How, Program, find_program, run_to_end};

use super::CheckState::{Missing, Optional};
use super::Checked;
use crate::workspace::{Workspace, names_in};

/// The oldest Node.js that runs the servers on Node.
const MIN_NODE: u32 = 20;
/// The longest time in which a program says its version. That of rustup may first fetch what a folder asks for.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// Every tool, the needed ones first. Without the project's servers none is needed. `cancelled` ends the wait for a version.
pub fn tools(workspace: &Workspace, cancelled: &AtomicBool) -> Vec<Checked> {
    let Some(home) = &workspace.home else {
        let found = "tare load, your own servers and tare report need none";
        return vec![Checked::fine("other programs", found), perf(), async_profiler()];
    };
    let catalog = Checked::fine("project", home.display().to_string());
    let remedy = "Only the servers in Rust need it: https://rustup.rs";
    let cargo = optional("cargo", version_of("cargo", cancelled), remedy);
    vec![catalog, jdk(), build_tool(), node(cancelled), cargo, perf(), async_profiler()]
}

fn jdk() -> Checked {
    match Jdk::find_compiler() {
        Ok(jdk) => Checked::fine("JDK", format!("{jdk} in {}", jdk.home.display())),
        Err(error) => Checked::new(Missing, "JDK", error.to_string(), "The servers of tare run need it."),
    }
}

/// sbt, or Maven, which can fetch sbt's launcher, or a launcher that was fetched before.
fn build_tool() -> Checked {
    let sbt = on_path("sbt").map(|sbt| format!("sbt at {}", sbt.display()));
    let maven = || Some(format!("Maven at {}; it fetches sbt's launcher", on_path("mvn")?.display()));
    let launcher = || Some(format!("sbt's launcher at {}", sbt_launcher()?.display()));
    let remedy = "Install one: the servers on the JVM are built with it.";
    sbt.or_else(maven).or_else(launcher).map_or_else(
        || Checked::new(Missing, "sbt or Maven", "neither is on the PATH", remedy),
        |found| Checked::fine("sbt or Maven", found),
    )
}

fn sbt_launcher() -> Option<PathBuf> {
    let is_launcher = |name: &String| name.starts_with("sbt-launch-") && name.ends_with(".jar");
    let name = names_in(&sampler::cache_folder()).into_iter().find(is_launcher)?;
    Some(sampler::cache_folder().join(name))
}

fn node(cancelled: &AtomicBool) -> Checked {
    let remedy = format!("Only the servers on Node need it: install version {MIN_NODE} or later.");
    let version = version_of("node", cancelled).map_err(str::to_owned);
    let found = version.and_then(|version| match major(&version) {
        Some(MIN_NODE..) => Ok(version),
        _ => Err(format!("{version} is too old")),
    });
    optional("Node.js", found, &remedy)
}

fn optional(what: &'static str, found: Result<String, impl Into<String>>, remedy: &str) -> Checked {
    found.map_or_else(|why| Checked::new(Optional, what, why, remedy), |found| Checked::fine(what, found))
}

fn perf() -> Checked {
    let remedy = "Only profiles of programs without a JVM need it: install linux-perf or linux-tools.";
    optional("perf", on_path("perf").map(|path| path.display().to_string()).ok_or("not found"), remedy)
}

fn async_profiler() -> Checked {
    let fetched = sampler::present_jar(None).ok().map(|jar| jar.display().to_string());
    let to_fetch = || on_path("mvn").map(|_| "not here yet; Maven fetches it for the first profile".to_owned());
    let remedy = "Only profiles of JVMs need it: install Maven, which fetches it.";
    optional("async-profiler", fetched.or_else(to_fetch).ok_or("not found"), remedy)
}

fn on_path(program: &str) -> Option<PathBuf> {
    find_program(Path::new(program), None, std::env::var_os("PATH").as_ref()).ok()
}

/// The last line of `PROGRAM --version`, after warnings, or why there is none.
fn version_of(program: &str, cancelled: &AtomicBool) -> Result<String, &'static str> {
    let asked = Program::new(program).args(["--version"]);
    let (how, said) = run_to_end(asked, LONGEST_ANSWER, cancelled).map_err(|_| "not found")?;
    let version = said.lines().next_back().filter(|_| how == Some(How::Code(0)));
    version.map(|line| line.trim().to_owned()).ok_or("does not say its version")
}

/// 20 of `v20.19.1`.
fn major(version: &str) -> Option<u32> {
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_are_understood() {
        assert_eq!((major("v20.19.1"), major("18.0"), major("none")), (Some(20), Some(18), None));
    }

    #[test]
    fn without_the_project_no_tool_is_missing() {
        let (contract, inventory) = (Default::default(), Default::default());
        let workspace = Workspace { home: None, catalog: None, contract, inventory };
        let found = tools(&workspace, &AtomicBool::new(false));
        assert!(found.iter().all(|checked| checked.state != Missing));
    }

    #[test]
    fn a_program_that_does_not_answer_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let silent = folder.path().join("silent");
        // From another process: what this one writes may be open in the child of another test, and is not executed then.
        let write = ["-c", "printf '#!/bin/sh\\nexec sleep 600\\n' >\"$0\" && chmod 755 \"$0\""];
        assert!(std::process::Command::new("sh").args(write).arg(&silent).status().unwrap().success());
        let asked = |program: &str| version_of(program, &AtomicBool::new(true));
        assert_eq!(asked(silent.to_str().unwrap()), Err("does not say its version"));
        assert_eq!(asked("/no/such/program"), Err("not found"));
    }
}
