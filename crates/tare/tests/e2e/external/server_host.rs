//! `tare run --server-host` from the outside, with an agent on this machine: servers are sent, started, read and ended by
//! it.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Bench, QUICK, TARE, all_of, cell, signal, stderr, wait_for, write_program};

/// The built-in server, started by a script of the suite's folder. It listens where its environment says.
fn server_by_script(bench: &Bench, name: &str, flags: &str) -> String {
    fs::write(bench.path().join("serve.sh"), format!("exec {TARE} reference \"$@\"\n")).unwrap();
    format!(
        "[servers.{name}]\ncommand = [\"sh\", \"serve.sh\", \"--port\", \"{{port}}\"{flags}]\n\
         ready = '^tare: ready on .*:(?<port>\\d+)$'\n\n"
    )
}

/// `tare run suite.toml --server-host local:` with a cache folder in the bench.
fn run_command(bench: &Bench, suite: &str, flags: &[&str]) -> Command {
    bench.suite(suite);
    let mut command = bench.tare(&[&["run", "suite.toml", "--server-host", "local:"], flags].concat());
    command.env("XDG_CACHE_HOME", bench.path().join("cache"));
    command
}

/// The processes of the bench whose command has this word.
fn processes_with_word(bench: &Bench, word: &str) -> Vec<u32> {
    let left = bench.processes_of_test();
    let named = left.iter().filter(|line| line.split(' ').any(|part| part == word));
    named.map(|line| line.split(':').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn servers_behind_an_agent_are_sent_started_read_and_ended() {
    let bench = Bench::new();
    let suite = [QUICK, &server_by_script(&bench, "bare", "")].concat();
    let output = run_command(&bench, &suite, &["-d", "1", "-u", "2"]).output().unwrap();
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    let found = cell(&summary, "bare");
    for figure in ["throughput_per_s", "cpu_ns_per_request", "rss_peak_bytes"] {
        assert!(!found[figure].is_null(), "{figure}: {found:#}");
    }
    let kept: Vec<_> = fs::read_dir(bench.path().join("cache/tare")).unwrap().map(Result::unwrap).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].path().join("serve.sh").is_file());
    let environment = summary["environment"].to_string();
    assert!(environment.contains("Server host") && environment.contains("median of 16 TCP connects"), "{environment}");
    assert!(environment.contains("bit/s to the servers, "), "{environment}");
    let logs = bench.path().join(".tare/runs").join(summary["run"]["id"].as_str().unwrap()).join("logs");
    let log =
        fs::read_dir(logs).unwrap().map(Result::unwrap).find(|log| log.file_name().to_string_lossy().contains("bare"));
    assert!(fs::read_to_string(log.unwrap().path()).unwrap().contains("tare: ready on 127.0.0.1:"));
    bench.assert_nothing_left();
}

#[test]
fn no_server_outlives_a_killed_run_or_its_agent() {
    for victim in ["run", "agent"] {
        let bench = Bench::new();
        let suite = [QUICK, &server_by_script(&bench, "bare", ", \"--routes\", \"129\"")].concat();
        let started =
            run_command(&bench, &suite, &["-d", "60", "-u", "2"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let started = started.unwrap();
        // The server of the self-test has as many routes as usual.
        assert!(wait_for(|| !processes_with_word(&bench, "129").is_empty()), "{victim}");
        // Supervisors have the same command, and are younger.
        processes_with_word(&bench, victim).into_iter().min().into_iter().for_each(|pid| signal("-KILL", pid));
        let output = started.wait_with_output().unwrap();
        assert!(!output.status.success());
        if victim == "agent" {
            assert!(stderr(&output).contains("agent local: "), "{}", stderr(&output));
        }
        bench.assert_nothing_left();
    }
}

/// `tare profile bare Get --server-host local:` where `perf` is this script.
fn profile_command(bench: &Bench, perf: &str) -> Command {
    bench.suite(&[QUICK, &server_by_script(bench, "bare", "")].concat());
    let folder = bench.path().join("bin");
    fs::create_dir_all(&folder).unwrap();
    write_program(&folder.join("perf"), perf);
    let flags = ["--suite", "suite.toml", "--forks", "1", "--span", "300ms", "-e", "cpu", "--server-host", "local:"];
    let mut command = bench.tare(&[&["profile", "bare", "Get"], &flags[..]].concat());
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    command.env("XDG_CACHE_HOME", bench.path().join("cache")).env("PATH", path);
    command
}

/// Logs its arguments, runs until it is ended, and reports one method.
const PERF: &str = r#"#!/bin/sh
if [ "$1" = record ]; then
    for file; do :; done
    echo "$@" > "$file"
    exec tail -f /dev/null
fi
printf 's   628/628 13207.55: cpu-clock: \n'
printf '\t            112d spin+0x4 (/tmp/s)\n\t           2724a main+0x7a (/tmp/s)\n\n'
"#;

#[test]
fn a_server_behind_an_agent_is_profiled_there_and_recorded_here() {
    let bench = Bench::new();
    let output = profile_command(&bench, PERF).output().unwrap();
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    let view = &summary["profiles"]["views"][0];
    assert_eq!((&view["variant"], &view["samples"]), (&"bare".into(), &1.into()), "{view:#}");
    assert!(view.to_string().contains("spin"), "{view:#}");
    let run = bench.path().join(".tare/runs").join(summary["run"]["id"].as_str().unwrap());
    let recording = run.join("profiles").join(view["files"][0].as_str().unwrap());
    let told = fs::read_to_string(recording).unwrap();
    let there = bench.path().join("cache/tare/servers-").display().to_string();
    assert!(told.starts_with("record ") && told.contains(&there), "it was written there: {told}");
    let kept = fs::read_dir(bench.path().join("cache/tare")).unwrap().flatten().map(|entry| entry.file_name());
    assert_eq!(kept.filter(|name| name.to_string_lossy().starts_with("servers-")).count(), 0);
    bench.assert_nothing_left();
}

#[test]
fn a_refused_sampler_is_reported_with_the_machine() {
    let bench = Bench::new();
    let output =
        profile_command(&bench, "#!/bin/sh\necho Error:\necho access is limited >&2\nexit 255\n").output().unwrap();
    let said = stderr(&output);
    assert!(!output.status.success(), "{said}");
    for part in [
        "error: nothing could be profiled: on local: cannot attach perf: it ended at once (exit code 255): Error: access is limited; ",
        "kernel.perf_event_paranoid=1",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    bench.assert_nothing_left();
}

#[test]
fn what_a_server_host_cannot_do_is_refused_before_the_run() {
    let bench = Bench::new();
    let suite = [QUICK, &server_by_script(&bench, "bare", "")].concat();
    let external = format!("{suite}[servers.there]\nurl = \"http://127.0.0.1:1\"\n");
    for (suite, flags, says) in [
        (&suite, &["--server-host", "bench1"][..], "--server-host: \"bench1\" is no machine for servers; write ssh://"),
        (&suite, &["--server-host", "local:", "--server-address", "192.0.2.1"], "name an address of that machine with"),
        (&suite, &["--server-host", "local:", "--server-address", "no such name"], "is no address"),
        (&suite, &["--server-host", "local:", "--server-cpus", "999"], "core 999 is not there on local"),
        (&external, &["--server-host", "local:", "-s", "there"], "there runs already"),
    ] {
        bench.suite(suite);
        let output = bench.run(&[&["run", "suite.toml", "-d", "1"], flags].concat());
        assert!(!output.status.success() && stderr(&output).contains(says), "{says}: {}", stderr(&output));
    }
    assert!(!bench.path().join(".tare/runs").exists(), "a run that cannot begin leaves no folder");
    bench.assert_nothing_left();
}

#[test]
fn the_error_of_a_server_at_another_address_has_a_remedy() {
    let bench = Bench::new();
    let suite = [QUICK, &server_by_script(&bench, "bare", ", \"--address\", \"127.0.0.2\"")].concat();
    let output = run_command(&bench, &suite, &["-d", "1"]).output().unwrap();
    let said = stderr(&output);
    assert!(said.contains("cannot be reached from here") && said.contains("TARE_ADDRESS"), "{said}");
    bench.assert_nothing_left();
}
