//! Builds the catalog's stale servers by `servers/build`, a suite's own by a shell command, and the agent for JVMs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regex::Regex;
use tare_sys::child::{How, Program, run_until};
use tare_sys::clock;

use crate::SutError;
use crate::catalog::{Built, Catalog, Target, Unavailable};
use crate::jdk::Jdk;
use crate::tool::output_of;

/// The lines of a failed build that are shown: from the first that names an error, and the last ones.
const FIRST_LINES: usize = 10;
const LAST_LINES: usize = 20;
/// Of a longer line of a build, the rest is left out.
const MOST_LINE_BYTES: usize = 4096;
/// The few classes of the agent for JVMs are compiled in seconds.
const AGENT_TIMEOUT: Duration = Duration::from_secs(180);
/// How long the build tool may take to stop.
const STOP_GRACE: Duration = Duration::from_secs(3);

/// Takes each line of a build's output, with the time since its begin.
pub type OnLine<'a> = &'a mut dyn FnMut(Duration, &str);

impl Catalog {
    /// The targets whose manifest is missing, belongs to other sources, or names missing files.
    pub fn stale_targets(&self, targets: &[Target], cancelled: &AtomicBool) -> Result<Vec<Target>, SutError> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let mut present = BTreeMap::new();
        let arguments = [vec!["--fingerprint".to_owned()], names(targets)].concat();
        self.run(targets, arguments, None, cancelled, &mut |_, line| {
            present.extend(line.split_once(' ').map(|(target, hash)| (target.to_owned(), hash.to_owned())));
        })?;
        let is_stale = |target: &&Target| match self.build_result(target) {
            Ok(Built::Manifest(manifest)) => {
                present.get(&target.to_string()) != Some(&manifest.sources_sha256) || manifest.missing_file().is_some()
            }
            // An unavailable target may be available today, and a damaged manifest is written again.
            Ok(Built::Nothing | Built::Unavailable(_)) | Err(_) => true,
        };
        Ok(targets.iter().filter(is_stale).cloned().collect())
    }

    /// Builds the stale targets with the JDK `java_home`, and reports each line of output. Returns the targets that are
    /// not available on this machine. Another failure is an error with its first and last lines.
    pub fn build_targets(
        &self,
        targets: &[Target],
        java_home: Option<&Path>,
        cancelled: &AtomicBool,
        on_line: OnLine<'_>,
    ) -> Result<Vec<(Target, Unavailable)>, SutError> {
        let stale = self.stale_targets(targets, cancelled)?;
        if stale.is_empty() {
            return Ok(Vec::new());
        }
        match self.run(&stale, names(&stale), java_home, cancelled, on_line) {
            // One unavailable target makes the whole command fail, although the others may have been built.
            Err(failure @ SutError::Build { .. }) => self.collect_unavailable(&stale, failure, cancelled),
            other => other.map(|()| Vec::new()),
        }
    }

    /// The unavailable targets. If a target failed for another reason, that is the error.
    fn collect_unavailable(
        &self,
        tried: &[Target],
        failure: SutError,
        cancelled: &AtomicBool,
    ) -> Result<Vec<(Target, Unavailable)>, SutError> {
        let mut unavailable = Vec::new();
        for target in self.stale_targets(tried, cancelled)? {
            match self.build_result(&target)? {
                Built::Unavailable(why) => unavailable.push((target, why)),
                Built::Nothing | Built::Manifest(_) => return Err(failure),
            }
        }
        Ok(unavailable)
    }

    fn run(
        &self,
        targets: &[Target],
        arguments: Vec<String>,
        java_home: Option<&Path>,
        cancelled: &AtomicBool,
        on_line: OnLine<'_>,
    ) -> Result<(), SutError> {
        let mut program = Program::new(self.root.join("build")).args(arguments);
        program.directory = Some(self.root.clone());
        program.env.extend(java_home.map(|home| ("JAVA_HOME".into(), home.into())));
        run_build(program, "servers/build", &names(targets).join(", "), cancelled, on_line)
    }
}

/// Builds a suite's own server by a shell command in its folder. A failure has the first errors and the last lines of its output.
pub fn build_by_shell(
    server: &str,
    command: &str,
    directory: Option<&Path>,
    cancelled: &AtomicBool,
    on_line: OnLine<'_>,
) -> Result<(), SutError> {
    let mut program = Program::new("sh").args(["-c", command]);
    program.directory = directory.map(Path::to_owned);
    run_build(program, command, server, cancelled, on_line)
}

/// Runs a build until it ends or is cancelled. `command` is what the user wrote, `targets` what it builds.
fn run_build(
    program: Program,
    command: &str,
    targets: &str,
    cancelled: &AtomicBool,
    on_line: OnLine<'_>,
) -> Result<(), SutError> {
    let begun = clock::now();
    let colour = Regex::new(r"\x1b\[[0-?]*[ -/]*[@-~]").map_err(|error| SutError::Other(error.to_string()))?;
    let (mut said, mut line) = (Excerpt::default(), Vec::new());
    let mut end_line = |line: &mut Vec<u8>| {
        let text = colour.replace_all(&String::from_utf8_lossy(line), "").trim_end().to_owned();
        line.clear();
        on_line(Duration::from_nanos(clock::now().since(begun)), &text);
        said.push(text);
    };
    let is_over = || cancelled.load(Ordering::Relaxed);
    let how = run_until(program, is_over, STOP_GRACE, &mut |part| {
        for piece in part.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(&piece[..piece.len().min(MOST_LINE_BYTES.saturating_sub(line.len()))]);
            if piece.ends_with(b"\n") {
                end_line(&mut line);
            }
        }
    });
    if !line.is_empty() {
        end_line(&mut line);
    }
    match how.map_err(|source| SutError::Child { server: targets.to_owned(), source })? {
        Some(How::Code(0)) => Ok(()),
        Some(how) => {
            let (targets, command) = (targets.to_owned(), command.to_owned());
            Err(SutError::Build { targets, command, how, output: said.text() })
        }
        None => Err(SutError::Cancelled { server: targets.to_owned() }),
    }
}

/// The lines of an output from the first that names an error, and the last ones: a cause is said first, or last.
#[derive(Default)]
struct Excerpt {
    lines: Vec<String>,
    /// How many of the lines stay.
    first: usize,
    is_cut: bool,
}

impl Excerpt {
    fn push(&mut self, line: String) {
        self.lines.push(line);
        if self.lines.len() <= self.first + LAST_LINES {
            return;
        }
        let is_cause = self.first > 0 || self.lines[0].to_lowercase().contains("error");
        if self.first < FIRST_LINES && is_cause {
            self.first += 1;
        } else {
            self.lines.remove(self.first);
            self.is_cut |= self.first > 0;
        }
    }

    fn text(mut self) -> String {
        if self.is_cut {
            self.lines.insert(self.first, "…".to_owned());
        }
        self.lines.join("\n")
    }
}

fn names(targets: &[Target]) -> Vec<String> {
    targets.iter().map(Target::to_string).collect()
}

/// The jar of the agent with the meter of hiccups. `probes/jvm/build` builds it if it does not exist.
pub fn build_agent(catalog: &Catalog, jdk: &Jdk, cancelled: &AtomicBool) -> Result<PathBuf, SutError> {
    build_within(catalog, jdk, cancelled, AGENT_TIMEOUT)
}

fn build_within(catalog: &Catalog, jdk: &Jdk, cancelled: &AtomicBool, timeout: Duration) -> Result<PathBuf, SutError> {
    let script = catalog.root.join("../probes/jvm/build");
    let mut program = Program::new(&script);
    program.env.push(("JAVA_HOME".into(), jdk.home.clone().into()));
    let failed = |reason: String| SutError::Other(format!("{}: {reason}", script.display()));
    let said = output_of(program, timeout, cancelled).map_err(failed)?;
    // The compiler may have said something before.
    Ok(PathBuf::from(said.lines().last().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tool::tests::write_program;

    /// What a build with this script gives.
    fn built(script: &str, cancelled: bool, timeout: Duration) -> Result<PathBuf, String> {
        let project = tempfile::tempdir().unwrap();
        let at = |path: &str| project.path().join(path);
        fs::create_dir_all(at("servers")).unwrap();
        fs::create_dir_all(at("probes/jvm")).unwrap();
        fs::write(at("servers/catalog.toml"), "schema = 1\n[jvm]\noptions = []\n[families]\n").unwrap();
        write_program(&at("probes/jvm/build"), &format!("#!/bin/sh\n{script}\n"));
        let catalog = Catalog::load(&at("servers")).unwrap();
        let jdk = Jdk { home: "/jdk".into(), major: 25, version: "25".to_owned(), vendor: String::new() };
        let cancelled = AtomicBool::new(cancelled);
        build_within(&catalog, &jdk, &cancelled, timeout).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_line_of_a_build_is_the_jar_and_one_that_fails_is_quoted() {
        let minute = Duration::from_secs(60);
        let jar = built("echo 'Picked up JAVA_TOOL_OPTIONS: -Da=1' >&2\necho \"$JAVA_HOME/probes.jar\"", false, minute);
        assert_eq!(jar.as_deref(), Ok(Path::new("/jdk/probes.jar")));
        let error = built("echo 'error: no source' >&2; exit 3", false, minute).unwrap_err();
        assert!(error.ends_with("probes/jvm/build: error: no source"), "{error}");
    }

    #[test]
    fn a_build_that_hangs_is_ended_and_so_is_one_that_nobody_wants_any_more() {
        let error = built("exec sleep 1000", false, Duration::from_millis(50)).unwrap_err();
        assert!(error.ends_with("probes/jvm/build: it did not end within 0 s"), "{error}");
        let error = built("exec sleep 1000", true, Duration::from_secs(60)).unwrap_err();
        assert!(error.ends_with("probes/jvm/build: given up as asked"), "{error}");
    }
}
