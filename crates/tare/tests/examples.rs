//! The examples run, and `tare init` writes for their projects a suite that runs as it is. An example whose runtime is not
//! installed is left out, with the reason.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on panics, and says what it leaves out"
)]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{Bench, project, stderr, stdout};

/// Copies the files of an example into the scratch folder.
fn copy_example(bench: &Bench, name: &str) {
    for entry in std::fs::read_dir(project().join("examples").join(name)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, bench.path().join(path.file_name().unwrap())).unwrap();
        }
    }
}

fn is_installed(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// Both servers of the example's own suite, and of the suite that `tare init` writes, answer alike.
fn both_suites_run(name: &str, program: &str, argument: &str) {
    if !is_installed(program, argument) {
        eprintln!("skipped: {program} is not installed");
        return;
    }
    let bench = Bench::new();
    copy_example(&bench, name);
    verified(&bench);
    std::fs::remove_file(bench.path().join("tare.toml")).unwrap();
    let output = bench.run(&["init", "--yes"]);
    assert!(output.status.success(), "{}", stderr(&output));
    verified(&bench);
    bench.assert_nothing_left();
}

fn verified(bench: &Bench) -> Output {
    let output = bench.tare(&["verify", "--suite", "tare.toml"]).env("GOFLAGS", "-buildvcs=false").output().unwrap();
    let told = stdout(&output);
    assert!(output.status.success() && told.contains(", 0 failed, 0 skipped"), "{told}{}", stderr(&output));
    output
}

#[test]
fn the_node_example_runs() {
    both_suites_run("node-http", "node", "--version");
}

#[test]
fn the_python_example_runs() {
    both_suites_run("python-http", "python3", "--version");
}

#[test]
fn the_go_example_runs() {
    both_suites_run("go-net-http", "go", "version");
}

#[test]
fn every_example_is_in_the_list_and_in_a_test() {
    let folder = project().join("examples");
    let list = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let tests = include_str!("examples.rs");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            assert!(list.contains(&format!("[{name}]({name}/README.md)")), "{name} is not in examples/README.md");
            assert!(tests.contains(&format!("both_suites_run(\"{name}\"")), "no test runs {name}");
            assert!(Path::new(&path).join("README.md").is_file(), "{name} has no README.md");
        }
    }
}

#[test]
fn init_refuses_to_guess_and_to_overwrite() {
    let bench = Bench::new();
    let output = bench.run(&["init", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("no project that tare knows (Cargo.toml, go.mod") && told.contains("give --bare"), "{told}");
    let output = bench.run(&["init", "--bare", "sh own.sh {port}", "--wrapped", "sh own.sh {port} layer"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let again = bench.run(&["init", "--bare", "other {port}"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("tare.toml exists; --force overwrites it"), "{}", stderr(&again));
    let text = std::fs::read_to_string(bench.path().join("tare.toml")).unwrap();
    assert!(text.contains(r#"command = ["sh", "own.sh", "{port}", "layer"]"#), "{text}");
}
