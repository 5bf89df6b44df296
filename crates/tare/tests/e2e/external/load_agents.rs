//! `tare run --agents` from the outside, with agents on this machine: they make the load, and end with the run.

use std::process::Stdio;

use crate::common::{Bench, QUICK, Reference, cell, comparison, fake_ssh, server, signal, stderr, stdout, wait_for};

/// Two servers, of which one works more.
fn suite() -> String {
    [QUICK, &server("bare", None, &[]), &server("more", Some("bare"), &["--spin-percent", "30"])].concat()
}

#[test]
fn agents_make_the_load_of_a_comparison() {
    for place in [&["--agents", "local:2"][..], &["--agents", "local:1", "--server-host", "local:"]] {
        let bench = Bench::new();
        bench.suite(&suite());
        let output = bench.run(&[&["run", "suite.toml", "--forks", "3"], place].concat());
        assert!(output.status.success(), "{place:?}: {}{}", stdout(&output), stderr(&output));
        assert!(stdout(&output).contains(&format!(" · generator: agents at {}", place[1])), "{}", stdout(&output));
        let summary = bench.summary();
        let currencies = comparison(&summary, "more")["currencies"].as_array().unwrap().clone();
        assert!(currencies.iter().any(|one| one["name"] == "cpu_per_request"), "{place:?}: {currencies:?}");
        for variant in ["bare", "more"] {
            let found = cell(&summary, variant);
            assert!(found["throughput_per_s"]["value"].as_f64().unwrap() > 0.0, "{place:?}: {found:#}");
        }
        let environment = summary["environment"].to_string();
        assert!(environment.contains("Agents of the load"), "{place:?}: {environment}");
        assert!(environment.contains("Machine of local"), "{place:?}: {environment}");
        bench.assert_nothing_left();
    }
}

#[test]
fn a_run_whose_agent_is_killed_ends_with_its_name_and_keeps_what_was_measured() {
    let bench = Bench::new();
    bench.suite(&suite());
    let mut run = bench.tare(&["run", "suite.toml", "--forks", "100", "--agents", "local:2"]);
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let agents = || {
        let left = bench.processes_of_test();
        let of_agents = left.iter().filter(|line| line.split(' ').any(|word| word == "agent"));
        of_agents.map(|line| line.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(
        wait_for(|| bench.processes_of_test().iter().any(|line| line.contains("reference")) && agents().len() == 2)
    );
    signal("-KILL", &agents()[0]);
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("agent local "), "{}", stderr(&output));
    assert!(bench.run(&["report"]).status.success(), "the record can be read");
    bench.assert_nothing_left();
}

#[test]
fn what_agents_cannot_do_is_refused_before_the_run() {
    let bench = Bench::new();
    bench.suite(&suite());
    for (flags, says) in [
        (&["--agents", "bench1"][..], "--agents: \"bench1\" is no place for agents"),
        (&["--agents", "local:9"], "--agents: 8 users are too few for 9 agents"),
        (&["--agents", "ssh://bench1"], "--agents: the servers of this run listen on this machine alone"),
    ] {
        for more in [&[][..], &["--dry-run"]] {
            let output = bench.run(&[&["run", "suite.toml"], flags, more].concat());
            assert!(!output.status.success() && stderr(&output).contains(says), "{flags:?}: {}", stderr(&output));
        }
    }
    assert!(!bench.path().join(".tare/runs").exists(), "a run that cannot begin leaves no folder");
    bench.assert_nothing_left();
}

#[test]
fn a_run_whose_agents_cannot_be_started_leaves_no_folder() {
    let (server, bench) = (Reference::start(&[]), Bench::new());
    bench.suite(&format!("{QUICK}[servers.there]\nurl = \"{}\"\n", server.url));
    let path = fake_ssh(&bench, "echo no such host >&2; exit 255");
    let mut run = bench.tare(&["run", "suite.toml", "-d", "1", "-s", "there", "--agents", "ssh://bench1"]);
    let output = run.env("PATH", path).env("HOME", bench.path()).output().unwrap();
    assert!(!output.status.success() && stderr(&output).contains("no such host"), "{}", stderr(&output));
    assert!(!bench.path().join(".tare/runs").exists());
    bench.assert_nothing_left();
}
