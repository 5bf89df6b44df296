//! Servers that were started outside tare: they get load and stay alive, and unknown figures are left out.

mod load_agents;
mod server_host;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::common::{Bench, QUICK, all_of, cell, project, stderr, stdout};

const CONTRACT: &str = r#"
schema = 1

[scenarios.Get]
title = "GET one small text"
request = { path = "/path0/4" }
expect = { status = 200, body = "4" }
"#;

const PUSHING: &str = r#"
schema = 1

[scenarios.Push]
title = "the time, pushed"
request = { path = "/ws/ts" }
expect = { status = 101 }
push = { period = "20ms", messages = 20 }
"#;

/// A reference server that the test itself started; it ends with the test, also when that fails.
struct StartedByHand {
    child: Child,
    port: u16,
}

impl Drop for StartedByHand {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start_by_hand(bench: &Bench, planted: &[&str]) -> StartedByHand {
    let mut child =
        bench.tare(&[&["reference", "--port", "0"], planted].concat()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    StartedByHand { child, port: line.trim().rsplit(':').next().unwrap().parse().unwrap() }
}

#[test]
fn a_server_started_by_hand_is_driven_and_left_running() {
    let bench = Bench::new();
    let mut server = start_by_hand(&bench, &[]);
    let port = server.port;
    std::fs::write(bench.path().join("own.toml"), CONTRACT).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let output = bench.run(&["run", "--external", &url, "--contract", "own.toml", "-d", "1", "-u", "4"]);
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    let found = cell(&summary, "External");
    assert!(found["throughput_per_s"]["value"].as_f64().unwrap() > 0.0);
    assert!(found["cpu_ns_per_request"].is_null() && found["rss_peak_bytes"].is_null(), "{found:#}");
    let findings = stdout(&bench.run(&["report", "--findings"]));
    assert!(findings.contains("External: external server"), "{findings}");
    assert!(server.child.try_wait().unwrap().is_none(), "it is not ours to end");
    drop(server);
    bench.assert_nothing_left();
}

#[test]
fn a_server_that_runs_already_is_not_warmed_up_for_a_profile_that_cannot_be_taken() {
    let bench = Bench::new();
    bench.suite(&format!("{QUICK}[servers.there]\nurl = \"http://127.0.0.1:1\"\n"));
    let output = bench.run(&["profile", "there", "Get", "--suite", "suite.toml"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("there runs already") && said.contains("[servers.there]"), "{said}");
    assert!(!bench.path().join(".tare/runs").exists(), "nothing was begun");
}

#[test]
fn a_folder_that_no_profile_of_a_jvm_can_be_written_to_is_refused_before_anything_is_measured() {
    let bench = Bench::new();
    let bare = crate::common::server("bare", None, &[]);
    for (profile, args) in
        [("", &["profile", "bare", "Get", "--suite"][..]), ("[profile]\nevents = [\"cpu\"]\n", &["run"])]
    {
        bench.suite(&[QUICK, &bare, profile].concat());
        let output = bench.run(&[args, &["suite.toml", "--dir", "a,b"]].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot record into a,b: async-profiler takes a comma"), "{said}");
        assert!(said.contains("choose another folder with --dir") && !bench.path().join("a,b").exists(), "{said}");
    }
}

#[test]
fn the_clock_of_an_external_server_is_estimated_for_what_it_pushes() {
    let bench = Bench::new();
    let server = start_by_hand(&bench, &["--push-period-ms", "20", "--clock-ahead-ns", "-3000000000"]);
    let port = server.port;
    std::fs::write(bench.path().join("own.toml"), PUSHING).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let run = ["run", "--external", &url, "--contract", "own.toml", "-m", "Push", "-d", "1", "-u", "2"];
    let output = bench.run(&[&run[..], &["--warmup", "100ms", "--server-clock", "estimate"]].concat());
    let said = all_of(&output);
    let summary = bench.summary();
    let messages = &cell(&summary, "External")["messages"];
    assert_eq!((&messages["received"], &messages["clock"]["is_confirmed"]), (&40.into(), &true.into()), "{said}");
    let offset_ns = messages["clock"]["offset_ns"].as_i64().unwrap();
    assert!(offset_ns.abs_diff(-3_000_000_000) < 1_000_000_000, "{offset_ns}");
    assert!(said.contains("server's clock is") && said.contains("behind, within"), "{said}");
}

#[test]
fn an_external_server_is_compared_with_one_of_ours() {
    let bench = Bench::new();
    let server = start_by_hand(&bench, &[]);
    let port = server.port;
    let suite = [QUICK, &crate::common::server("bare", None, &[])].concat();
    let external = format!("there=http://127.0.0.1:{port}");
    let output = bench.run_suite(&suite, &["--external", &external, "--baseline", "bare", "--forks", "2"]);
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    assert_eq!(crate::common::comparison(&summary, "there")["currencies"][0]["name"], "throughput");
}

#[test]
fn several_external_servers_are_written_in_one_flag_or_in_several() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("own.toml"), CONTRACT).unwrap();
    for external in [
        &["--external", "old=http://127.0.0.1:1,new=http://127.0.0.1:2"][..],
        &["--external", "old=http://127.0.0.1:1", "--external", "new=http://127.0.0.1:2"],
    ] {
        let plan = ["run", "--baseline", "old", "--contract", "own.toml", "--dry-run"];
        let output = bench.run(&[&plan, external].concat());
        assert!(output.status.success(), "{external:?}: {}", stderr(&output));
        assert!(["old", "new"].iter().all(|name| stdout(&output).contains(name)), "{}", stdout(&output));
    }
}

#[test]
fn an_external_server_that_nothing_chooses_is_refused() {
    let bench = Bench::new();
    let groups = "[[groups]]\nbaseline = \"bare\"\nservers = [\"bare\"]\n";
    let suite = [QUICK, &crate::common::server("bare", None, &[]), groups].concat();
    let plan = |more: &[&str]| {
        bench.run_suite(&suite, &[&["--external", "there=http://127.0.0.1:1", "--dry-run"], more].concat())
    };
    let left_out = plan(&[]);
    assert_eq!(left_out.status.code(), Some(2), "{}", stdout(&left_out));
    assert!(stderr(&left_out).contains("--external: there is left out by"), "{}", stderr(&left_out));
    let chosen = plan(&["-s", "there", "--baseline", "bare"]);
    assert!(stdout(&chosen).contains("compared       there"), "{}", all_of(&chosen));
}

#[test]
fn an_external_server_that_is_not_there_is_void() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("own.toml"), CONTRACT).unwrap();
    // No server listens on port 1.
    let output =
        bench.run(&["run", "--external", "http://127.0.0.1:1", "--contract", "own.toml", "-d", "1", "-u", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", all_of(&output));
    assert!(stdout(&output).contains("refused"), "{}", stdout(&output));
}

#[test]
fn an_address_that_is_none_is_refused_with_the_remedy() {
    let bench = Bench::new();
    for (url, said) in
        [("127.0.0.1:80", "write http://HOST:PORT"), ("http://no.such.host.invalid:80", "check the name")]
    {
        let mut command = bench.tare(&["run", "--external", url, "-d", "1"]);
        let output = command.env("TARE_HOME", project()).output().unwrap();
        assert!(!output.status.success());
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}
