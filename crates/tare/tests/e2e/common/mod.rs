//! Helpers of the end-to-end tests: a scratch folder, the program, servers with known behaviour, running processes.

use std::fmt::Display;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use serde_json::Value;
use tare_sys::socket::local_address;
use tempfile::TempDir;

/// The program under test.
pub const TARE: &str = env!("CARGO_BIN_EXE_tare");

/// The project's folder.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A scratch folder with a suite and the records of its runs.
pub struct Bench {
    dir: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes `suite.toml` and returns its path.
    pub fn suite(&self, text: &str) -> PathBuf {
        let path = self.path().join("suite.toml");
        fs::write(&path, text).unwrap();
        path
    }

    /// `tare` in the scratch folder, without colours, with this test's mark in its environment.
    pub fn tare(&self, args: &[&str]) -> Command {
        self.command(TARE, args)
    }

    /// A script for a shell there, likewise.
    pub fn shell(&self, script: &str) -> Command {
        self.command("sh", &["-c", script])
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .env_remove("TARE_HOME")
            .env("TARE_TEST_MARK", self.mark());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.tare(args).output().unwrap()
    }

    /// `tare run suite.toml ARGS`.
    pub fn run_suite(&self, suite: &str, args: &[&str]) -> Output {
        self.suite(suite);
        self.run(&[&["run", "suite.toml"], args].concat())
    }

    /// The summary of the latest run, made again from its record.
    pub fn summary(&self) -> Value {
        let output = self.run(&["report", "latest", "--json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Whether the record of a load has answers: then it is under way.
    pub fn has_answers(&self, record: &str) -> bool {
        let report = self.run(&["report", record, "--json"]);
        serde_json::from_slice::<Value>(&report.stdout).is_ok_and(|told| told["requests"]["ok"].as_u64() > Some(0))
    }

    /// Processes of this test that still run: everything that was started with its mark in the environment.
    pub fn processes_of_test(&self) -> Vec<String> {
        let mark = format!("TARE_TEST_MARK={}", self.mark());
        let mut left = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()) {
                let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                left.push(format!("{pid}: {}", String::from_utf8_lossy(&command).replace('\0', " ")));
            }
        }
        left
    }

    /// Waits until nothing of this test runs any more.
    pub fn assert_nothing_left(&self) {
        let gone = wait_for(|| self.processes_of_test().is_empty());
        assert!(gone, "still running: {:#?}", self.processes_of_test());
    }

    fn mark(&self) -> String {
        self.path().file_name().unwrap().to_string_lossy().into_owned()
    }
}

/// A program named ssh that notes its arguments in `ssh.log` and runs `body` with the remote command in `$command`.
pub fn fake_ssh(bench: &Bench, body: &str) -> String {
    let folder = bench.path().join("bin");
    fs::create_dir(&folder).unwrap();
    let log = bench.path().join("ssh.log");
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\nfor command; do :; done\n{body}\n", log.display());
    write_program(&folder.join("ssh"), &script);
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// Writes a program from another process. A child that another test starts meanwhile would keep a file open that this
/// process writes, and what is open for writing cannot be executed (ETXTBSY).
pub fn write_program(file: &Path, text: &str) {
    let write = ["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\""];
    assert!(Command::new("sh").args(write).arg(file).arg(text).status().unwrap().success());
}

/// Says on standard error, past the test harness, why a test does not run to its end. `scripts/test` counts these lines.
pub fn skip(reason: &str) {
    std::io::stderr().write_all(format!("skipped: {reason}\n").as_bytes()).unwrap();
}

/// A disk of a few KiB, for as long as it is held.
pub struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    /// Mounts it on a new folder `name` of the bench; `None`, as a skipped test, where only root may do that.
    pub fn mount(bench: &Bench, name: &str, kib: u32) -> Option<Self> {
        let path = bench.path().join(name);
        fs::create_dir(&path).unwrap();
        let size = format!("size={kib}k");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path).status();
        if !mount.is_ok_and(|status| status.success()) {
            skip("mounting a small disk needs root");
            return None;
        }
        Some(Self { path })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

/// Polls until the condition holds; false after 20 s.
pub fn wait_for(mut condition: impl FnMut() -> bool) -> bool {
    for _ in 0..2000 {
        if condition() {
            return true;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
    false
}

/// Sends a signal, such as `-INT`, to a process.
pub fn signal(signal: &str, pid: impl Display) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// A port of this machine that nobody else gets while it is held. A program that the test starts may listen on it.
pub struct HeldPort {
    pub number: u16,
    _socket: OwnedFd,
}

impl HeldPort {
    pub fn new() -> Self {
        let socket = net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        // It never listens, so another socket with this option may.
        net::sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        Self { number: local_address(socket.as_fd()).unwrap().port(), _socket: socket }
    }
}

/// A `[servers.NAME]` table that starts the built-in server with `flags`.
pub fn server(name: &str, baseline: Option<&str>, flags: &[&str]) -> String {
    let flags: String = flags.iter().map(|flag| format!(", {flag:?}")).collect();
    let baseline = baseline.map_or(String::new(), |baseline| format!("baseline = {baseline:?}\n"));
    format!(
        "[servers.{name}]\ncommand = [{TARE:?}, \"reference\", \"--port\", \"{{port}}\"{flags}]\n\
         ready = '^tare: ready on .*:(?<port>\\d+)$'\n{baseline}\n"
    )
}

/// A scenario that the built-in server answers, and quick settings.
pub const QUICK: &str = r#"
[run]
users = 8
warmup = "200ms"
slice = "100ms"
discard = "20ms"
saturating = 3
latency = "200ms"
timeout = "1s"
seed = 1

[scenarios.Get]
title = "GET one small text"
request = { path = "/path0/4" }
expect = { status = 200, headers = { content-type = "text/plain; charset=UTF-8" }, body = "4" }
"#;

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn all_of(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

/// The comparison of that variant.
pub fn comparison<'a>(summary: &'a Value, variant: &str) -> &'a Value {
    find(summary, "comparisons", variant)
}

/// The cell of that variant.
pub fn cell<'a>(summary: &'a Value, variant: &str) -> &'a Value {
    find(summary, "cells", variant)
}

/// Forks of a cell that were measured, whether they count or were set aside because other programs disturbed them.
pub fn measured_forks(cell: &Value) -> u64 {
    cell["forks"].as_u64().unwrap() + cell["forks_set_aside"].as_array().unwrap().len() as u64
}

/// Whether other programs took so much of the cores that a run may be undecided.
pub fn is_disturbed(summary: &Value) -> bool {
    let is_touched = |cell: &Value| {
        let reasons = cell["validity"]["reasons"].to_string();
        !cell["forks_set_aside"].as_array().unwrap().is_empty() || reasons.contains("other programs")
    };
    summary["cells"].as_array().unwrap().iter().any(is_touched)
}

fn find<'a>(summary: &'a Value, list: &str, variant: &str) -> &'a Value {
    let found = summary[list].as_array().unwrap().iter().find(|item| item["variant"] == variant);
    found.unwrap_or_else(|| panic!("no {list} of {variant} in {summary:#}"))
}

/// The built-in server, for as long as it is held.
pub struct Reference {
    child: Child,
    pub url: String,
}

impl Reference {
    pub fn start(flags: &[&str]) -> Self {
        let mut command = Command::new(TARE);
        command.args(["reference", "--port", "0"]).args(flags);
        Self::start_by(command)
    }

    /// As the command starts it.
    pub fn start_by(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("tare: ready on ").unwrap();
        Self { url: format!("http://{address}"), child }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// JSON that is well-formed.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
