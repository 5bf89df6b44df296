//! `tare load --agents` from the outside: counts that add up, a fake ssh, and nothing left running.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::common::{Bench, Reference, TARE, fake_ssh, json, project, signal, stderr, stdout, wait_for};

/// The sum of a count over all agents of a summary.
fn sum(summary: &Value, key: &str) -> u64 {
    summary["agents"].as_array().unwrap().iter().map(|agent| agent[key].as_u64().unwrap()).sum()
}

#[test]
fn agents_of_this_machine_make_one_load_and_their_counts_add_up() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    fs::write(bench.path().join("paths.csv"), "n\n4\n5\n6\n").unwrap();
    let url = server.url("/path0/{{n}}");
    let output = bench.run(&[
        "load",
        &url,
        "--feed",
        "paths.csv",
        "-n",
        "1000",
        "-c",
        "7",
        "--agents",
        "local:3",
        "--json",
        "-",
        "--db",
        "a.sqlite",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = json(&stdout(&output));
    assert_eq!((&summary["requests"]["ok"], &summary["requests"]["failed"]), (&1000.into(), &0.into()));
    assert_eq!(
        (sum(&summary, "ok"), sum(&summary, "offered"), &summary["response"]["count"]),
        (1000, 1000, &1000.into())
    );
    assert_eq!(summary["connections"]["opened"], 7);
    let offered: Vec<&Value> = summary["agents"].as_array().unwrap().iter().map(|agent| &agent["offered"]).collect();
    assert_eq!(offered, [334, 333, 333], "the count is split exactly");
    bench.assert_nothing_left();
    let again = bench.run(&["report", "a.sqlite", "--json"]);
    assert_eq!(json(&stdout(&again))["agents"], summary["agents"], "the record tells the same again");
    let text = stdout(&bench.run(&["report", "a.sqlite"]));
    assert!(text.contains("3 of 3 agents reported to the end; they started within "), "{text}");
    assert!(text.contains("local 2 on "), "{text}");
}

fn files_in(folder: &Path) -> Vec<fs::DirEntry> {
    fs::read_dir(folder).unwrap().map(Result::unwrap).collect()
}

#[test]
fn agents_behind_ssh_get_the_program_once_and_make_the_load() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let path = fake_ssh(&bench, "exec sh -c \"$command\"");
    let url = server.url("/path0/4");
    let run = || {
        let flags = ["--agents", "ssh://ada@bench1:2222", "-n", "100", "-c", "2", "--json", "-"];
        let mut command = bench.tare(&[&["load", &url], &flags[..]].concat());
        command.env("PATH", &path).env("HOME", bench.path()).env_remove("XDG_CACHE_HOME").output().unwrap()
    };
    let output = run();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = json(&stdout(&output));
    assert_eq!((sum(&summary, "ok"), &summary["agents"][0]["name"]), (100, &"ssh://ada@bench1:2222".into()));
    let copies = files_in(&bench.path().join(".cache/tare"));
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(copies[0].metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(run().status.code(), Some(0));
    let log = fs::read_to_string(bench.path().join("ssh.log")).unwrap();
    assert!(log.lines().all(|line| line.contains("BatchMode=yes") && line.contains("-p 2222 -- ada@bench1")), "{log}");
    assert_eq!(log.matches("cat >").count(), 1, "the program is copied once: {log}");
    bench.assert_nothing_left();
}

#[test]
fn an_ssh_that_would_prompt_is_an_error_with_a_remedy() {
    let bench = Bench::new();
    let path = fake_ssh(&bench, "echo 'ada@bench1: Permission denied (publickey,password).' >&2; exit 255");
    let load = ["load", "http://10.0.0.1:8080/", "--agents", "ssh://ada@bench1"];
    let output = bench.tare(&load).env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("agent ssh://ada@bench1: ssh cannot connect: ") && text.contains("ssh-copy-id"), "{text}");
}

#[test]
fn what_agents_cannot_do_is_refused_before_the_load() {
    let bench = Bench::new();
    let server = Reference::start(&[]);
    let url = server.url("/");
    for (args, code, says) in [
        (&[&url, "--agents", "bench1"][..], 2, "write local:4, ssh://user@host:22 or k8s:8"),
        (&[&url, "--agents", "local:3", "-c", "2"], 2, "2 connections are too few for 3 agents"),
        (&[&url, "--k8s-cpus", "3"], 2, "--k8s-cpus is for agents in pods; add --agents k8s:8"),
        (&[&url, "--agents", "local:2", "--k8s-namespace", "a"], 2, "--k8s-namespace is for agents in pods"),
        (&["http://127.0.0.1:1/", "--agents", "local:2"], 1, "nothing listens on 127.0.0.1:1"),
    ] {
        let output = bench.run(&[&["load"], args].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{says}: {}", stderr(&output));
    }
    bench.assert_nothing_left();
}

#[test]
fn an_agent_needs_open_files_for_its_own_share_alone() {
    let (server, bench) = (Reference::start(&[]), Bench::new());
    let load = format!("load {} -n 200 -c 100 --agents local:2", server.url("/path0/4"));
    let script = format!("ulimit -n 130 && exec {TARE} {load}");
    let output = bench.shell(&script).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("200 answered as expected"), "{}", stdout(&output));
}

/// Whether the file has these bytes.
fn file_contains(file: &Path, bytes: &[u8]) -> bool {
    fs::read(file).unwrap().windows(bytes.len()).any(|window| window == bytes)
}

#[test]
fn secrets_of_the_command_line_are_in_no_output() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let url = server.url("/path0/4");
    for secret in [&["-H", "Authorization: Bearer S3CRET"][..], &["-H", "apikey: S3CRET"], &["-a", "ada:S3CRET"]] {
        let load = ["load", &url, "-n", "10", "-c", "2", "--agents", "local:2"];
        let outputs = ["--db", "s.sqlite", "--json", "s.json", "--html", "s.html"];
        let output = bench.run(&[&load, secret, &outputs].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        for file in ["s.sqlite", "s.json", "s.html"] {
            assert!(!file_contains(&bench.path().join(file), b"S3CRET"), "{secret:?}: {file}");
        }
        assert!(file_contains(&bench.path().join("s.json"), b"***"));
        fs::remove_file(bench.path().join("s.sqlite")).unwrap();
    }
    for args in [
        &["load", &url, "--agents", "ssh://ada:S3CRET@bench1"][..],
        &["run", "--agents", "ssh://ada:S3CRET@bench1"],
        &["run", "--server-host", "ssh://ada:S3CRET@bench1:22"],
    ] {
        let output = bench.tare(args).env("TARE_HOME", project()).output().unwrap();
        let said = stderr(&output);
        assert!(!said.contains("S3CRET") && said.contains("write ssh://user@host:22"), "{args:?}: {said}");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    }
}

/// The processes of the agents of this test.
fn agents_of(bench: &Bench) -> Vec<String> {
    let of_agents = |process: &String| process.contains(" agent");
    let pid = |process: String| process.split(':').next().unwrap().to_owned();
    bench.processes_of_test().into_iter().filter(of_agents).map(pid).collect()
}

/// Number of sockets that a process has open.
fn open_sockets(pid: &str) -> usize {
    let is_socket = |file: &fs::DirEntry| {
        fs::read_link(file.path()).is_ok_and(|link| link.to_string_lossy().starts_with("socket:"))
    };
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten().filter(is_socket).count()
}

#[test]
fn a_stopped_agent_changes_no_window() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let url = server.url("/path0/4");
    let flags = ["-r", "300", "-c", "6", "-d", "6s", "--interval", "200ms", "--agents", "local:3"];
    let mut command = bench.tare(&[&["load", &url], &flags[..]].concat());
    let mut coordinator = command.args(["--db", "a.sqlite", "--quiet"]).spawn().unwrap();
    assert!(wait_for(|| bench.has_answers("a.sqlite")));
    let agents = agents_of(&bench);
    let stopped = agents.first().expect("the load goes on");
    signal("-STOP", stopped);
    // The others do their shares and close their connections. The load goes on with the one that stands still.
    assert!(wait_for(|| agents[1..].iter().all(|agent| open_sockets(agent) == 0)), "{agents:?}");
    signal("-CONT", stopped);
    coordinator.wait().unwrap();
    let summary = json(&stdout(&bench.run(&["report", "a.sqlite", "--json"])));
    assert_eq!((sum(&summary, "offered"), sum(&summary, "ok"), &summary["requests"]["ok"]), (1800, 1800, &1800.into()));
    assert_eq!(summary["window_s"], 6.0);
    let windows: Vec<f64> =
        summary["intervals"].as_array().unwrap().iter().map(|i| i["window_s"].as_f64().unwrap()).collect();
    assert_eq!(windows, vec![0.2; 30], "{summary}");
    let completed = summary["throughput_per_s"].as_f64().unwrap() * 6.0;
    assert_eq!(completed.round() as u64, sum(&summary, "completed"));
    bench.assert_nothing_left();
}

#[test]
fn no_agent_outlives_a_killed_coordinator() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let mut command = bench.tare(&["load", &server.url("/path0/4"), "-d", "60s", "-c", "2", "--agents", "local:2"]);
    let mut coordinator = command.args(["--db", "a.sqlite", "--quiet"]).spawn().unwrap();
    assert!(wait_for(|| bench.has_answers("a.sqlite")));
    signal("-KILL", coordinator.id());
    coordinator.wait().unwrap();
    bench.assert_nothing_left();
}
