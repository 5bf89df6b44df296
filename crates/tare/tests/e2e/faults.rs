//! Servers that crash, hang or break the contract are data: counted by class, shown with their log, and the other cells go on.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::check::project_with_catalog;
use crate::common::{
    Bench, QUICK, Reference, SmallDisk, TARE, all_of, cell, measured_forks, server, signal, skip, stderr, stdout,
    wait_for, write_program,
};

/// Runs a good pair and a bad server; returns the bad server's cell after checking that the others went on.
fn run_with_bad_server(flags: &[&str], args: &[&str]) -> (serde_json::Value, String) {
    let bench = Bench::new();
    let suite = [
        QUICK.to_owned(),
        server("bare", None, &[]),
        server("good", Some("bare"), &[]),
        server("bad", Some("bare"), flags),
    ]
    .concat();
    let output = bench.run_suite(&suite, &[&["--forks", "2"], args].concat());
    let said = all_of(&output);
    assert_eq!(output.status.code(), Some(3), "a void cell has an exit code of its own: {said}");
    let summary = bench.summary();
    // Two tests share this machine, so a good cell may be suspect of lateness; void it must not be.
    assert_ne!(cell(&summary, "good")["validity"]["state"], "void", "{said}");
    assert_eq!(measured_forks(cell(&summary, "good")), 2, "the others go on");
    let bad = cell(&summary, "bad").clone();
    assert_eq!(bad["validity"]["state"], "void", "{bad:#}");
    bench.assert_nothing_left();
    (bad, said)
}

fn classes(cell: &serde_json::Value) -> Vec<String> {
    cell["errors"].as_array().unwrap().iter().map(|error| error["class"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_server_that_crashes_in_the_middle_voids_its_cell_alone() {
    let (_, said) = run_with_bad_server(&["--fault", "crash", "--fault-after", "300", "--stderr-noise", "3"], &[]);
    assert!(said.contains("ended during the run"), "{said}");
    assert!(said.contains("noise, line 2"), "its log is shown: {said}");
}

#[test]
fn a_server_that_hangs_is_given_up_at_the_timeout() {
    let (bad, _) = run_with_bad_server(&["--fault", "hang", "--fault-after", "300"], &[]);
    assert!(classes(&bad).is_empty() || classes(&bad).contains(&"timeout".to_owned()), "{bad:#}");
}

#[test]
fn wrong_answers_are_counted_by_class() {
    let faults = [("wrong-body", "validation"), ("status-500", "status"), ("garbage", "protocol"), ("close", "read")];
    let bench = Bench::new();
    let mut suite = [QUICK, &server("bare", None, &[])].concat();
    for (fault, _) in faults {
        // The server waits and needs no core, so eight users get about 400 answers/s whatever else the machine does. The
        // fault strikes after the warm-up, and long before the end.
        let flags = ["--delay-us", "20000", "--fault", fault, "--fault-after", "250"];
        suite += &server(fault, Some("bare"), &flags);
    }
    let output = bench.run_suite(&suite, &["--forks", "1", "--saturating", "12"]);
    let said = all_of(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let summary = bench.summary();
    assert_ne!(cell(&summary, "bare")["validity"]["state"], "void", "{said}");
    for (fault, class) in faults {
        let bad = cell(&summary, fault);
        assert_eq!(bad["validity"]["state"], "void", "{fault}: {said}");
        assert!(classes(bad).contains(&class.to_owned()), "{fault}: {bad:#}");
    }
    bench.assert_nothing_left();
}

#[test]
fn a_server_that_breaks_the_contract_is_never_timed() {
    let (bad, said) = run_with_bad_server(&["--fault", "wrong-body", "--fault-after", "0"], &[]);
    assert!(said.contains("does not answer as it must"), "{said}");
    assert_eq!(bad["requests_ok"], 0, "it got no load");
}

#[test]
fn a_server_that_never_starts_says_why() {
    let (_, said) = run_with_bad_server(&["--never-ready"], &["--startup-timeout", "1s"]);
    assert!(said.contains("not ready after 1s"), "{said}");
    let (_, said) = run_with_bad_server(&["--lie-ready"], &["--startup-timeout", "1s"]);
    assert!(said.contains("no program listens on port 1"), "{said}");
}

/// Puts the server whose table ends here in front of another one. It is told where that listens, and answers by itself.
fn in_front_of(upstream: &str) -> String {
    format!("in_front_of = {upstream:?}\nenv = {{ UPSTREAM = \"{{upstream}}\" }}\n")
}

#[test]
fn what_dies_of_a_proxy_or_behind_it_is_named_and_nothing_is_left() {
    let bench = Bench::new();
    let suite = [
        QUICK.to_owned(),
        server("app", None, &["--stderr-noise", "1"]),
        server("crashes", None, &["--fault", "crash", "--fault-after", "300"]),
        in_front_of("app"),
        server("lonely", None, &[]),
        in_front_of("mortal"),
        server("mortal", None, &["--stderr-noise", "2"]),
    ];
    bench.suite(&suite.concat());
    let mut run = bench.tare(&["run", "suite.toml", "--forks", "1", "--servers", "app,crashes,lonely"]);
    let child = run.arg("--baseline=app").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mortal =
        || bench.processes_of_test().into_iter().find(|command| command.trim_end().ends_with("--stderr-noise 2"));
    assert!(wait_for(|| count_recorded_slices(&bench) > 0 && mortal().is_some()));
    signal("-KILL", mortal().unwrap().split(':').next().unwrap());
    let output = child.wait_with_output().unwrap();
    let said = all_of(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let findings = bench.summary()["findings"].to_string();
    assert!(findings.contains("lonely: ended during the run"), "{findings}");
    assert!(findings.contains("mortal behind it ended: killed by signal 9"), "{findings}");
    assert!(findings.contains("crashes: ended during the run"), "{findings}");
    assert!(findings.contains("mortal:\\n"), "the log of what is behind a proxy is shown: {findings}");
    assert_ne!(cell(&bench.summary(), "app")["validity"]["state"], "void", "the others go on: {said}");
    bench.assert_nothing_left();
}

#[test]
fn killing_tare_leaves_no_server_and_a_record_that_renders() {
    let bench = Bench::new();
    let bare = server("bare", None, &["--ignore-sigterm"]);
    bench.suite(&[QUICK.to_owned(), bare, server("wrapped", Some("bare"), &[]), in_front_of("bare")].concat());
    let mut child = bench
        .tare(&["run", "suite.toml", "--budget", "60s"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(wait_for(|| count_recorded_slices(&bench) > 8), "slices are written as they are measured");
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    bench.assert_nothing_left();
    let summary = bench.summary();
    assert_eq!(summary["run"]["status"], "partial");
    assert!(cell(&summary, "bare")["requests_ok"].as_u64().unwrap() > 0);
}

#[test]
fn ctrl_c_once_reports_what_is_there_and_the_run_can_go_on() {
    let bench = Bench::new();
    let suite = [QUICK.to_owned(), server("bare", None, &[]), server("wrapped", Some("bare"), &[])].concat();
    bench.suite(&suite);
    let child = bench
        .tare(&["run", "suite.toml", "--forks", "3"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(wait_for(|| count_recorded_slices(&bench) > 8));
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(stdout(&output).contains("report"), "{}", stdout(&output));
    assert!(stdout(&output).contains("  go on     tare run --resume 20"), "{}", stdout(&output));
    let summary = bench.summary();
    assert_eq!(summary["run"]["status"], "interrupted");
    bench.assert_nothing_left();

    let output = bench.run(&["run", "--resume", "--budget", "9s"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--resume: takes every setting from the record"), "{}", stderr(&output));
    let output = bench.run(&["run", "--resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
    let resumed = bench.summary();
    assert_eq!((&resumed["run"]["status"], &resumed["run"]["id"]), (&"complete".into(), &summary["run"]["id"]));
    assert_eq!(measured_forks(cell(&resumed, "wrapped")), 3, "forks count as planned");
    assert!(resumed["findings"].as_array().unwrap().iter().any(|finding| finding["kind"] == "run_resumed"));
    let output = bench.run(&["run", "--resume"]);
    assert!(stderr(&output).contains("was interrupted"), "{}", stderr(&output));
    bench.assert_nothing_left();
}

#[test]
fn two_signals_of_one_ctrl_c_still_report_what_is_there() {
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[])].concat());
    let child = start_run_with_slices(&bench);
    // As `timeout` does, which signals its child and then the group that both are in.
    let both = format!("kill -INT {0}; kill -TERM {0}", child.id());
    assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(stdout(&output).contains("report"), "{}", stdout(&output));
    assert_eq!(bench.summary()["run"]["status"], "interrupted");
    bench.assert_nothing_left();
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[])].concat());
    let script = format!("trap '' HUP && exec {TARE} run suite.toml --forks 2");
    let mut child = bench.shell(&script).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(wait_for(|| count_recorded_slices(&bench) > 0));
    signal("-HUP", child.id());
    child.wait().unwrap();
    assert_eq!(bench.summary()["run"]["status"], "complete");
    bench.assert_nothing_left();
}

#[test]
fn a_second_ctrl_c_ends_the_run_at_once() {
    let bench = Bench::new();
    let settings = QUICK.replace("[run]", "[run]\nstop_grace = \"600s\"");
    bench.suite(&[settings, server("bare", None, &["--ignore-sigterm"])].concat());
    let mut child = start_run_with_slices(&bench);
    // The server ignores SIGTERM, so only a second Ctrl-C ends this run before its time. Those too early count as the first.
    let has_ended = wait_for(|| {
        let ended = child.try_wait().unwrap().is_some();
        if !ended {
            signal("-INT", child.id());
        }
        ended
    });
    assert!(has_ended);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(!stdout(&output).contains("report"), "{}", stdout(&output));
    bench.assert_nothing_left();
}

#[test]
fn a_run_that_is_stopped_while_the_machine_is_checked_says_how_to_go_on_only_if_it_can() {
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[])].concat());
    let mut run = bench.tare(&["run", "suite.toml", "--forks", "1"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The checks come after the folder is made.
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(notes.any(|line| line.unwrap().starts_with("  record ")));
    signal("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stdout(&output));
    let resumed = stderr(&bench.run(&["run", "--resume"]));
    let can_go_on = !resumed.contains("it stopped before its first start");
    assert_eq!(stdout(&output).contains("  go on     "), can_go_on, "{}{resumed}", stdout(&output));
}

#[test]
fn ctrl_c_has_its_exit_code_wherever_it_comes() {
    let interrupt = |mut child: Child| {
        signal("-INT", child.id());
        child.wait().unwrap().code()
    };
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[]), "build = \"sleep 50\"\n".to_owned()].concat());
    // A server that does not listen, and a build.
    for (args, waits_for) in
        [(&["init", "--yes", "--bare", "sleep 60"][..], "sleep 60"), (&["run", "suite.toml"], "sleep 50")]
    {
        let child = bench.tare(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_it = |process: &String| process.trim_end().ends_with(&format!(": {waits_for}"));
        assert!(wait_for(|| bench.processes_of_test().iter().any(is_it)), "{args:?}");
        assert_eq!(interrupt(child), Some(130), "{args:?}");
        bench.assert_nothing_left();
    }
    assert!(bench.path().join("tare.toml").exists());
    let mut doctor = bench.tare(&["doctor"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(doctor.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "machine"), "the noise is measured next");
    assert_eq!(interrupt(doctor), Some(130));
    bench.assert_nothing_left();
}

#[test]
fn ctrl_c_while_the_servers_of_profiles_are_built_has_its_exit_code() {
    let repository = project_with_catalog();
    let program = repository.bench.path().join("servers/build");
    let build = fs::read_to_string(&program).unwrap();
    // What is built is looked at again before the profiling starts, and that takes for ever.
    write_program(&program, &build.replacen('\n', "\n[ ! -e built ] || sleep 48\n", 1));
    let settings = QUICK.split("[scenarios.Get]").next().unwrap();
    let profile = "[profile]\nevents = [\"cpu\"]\nforks = 1\nspan = \"200ms\"\n";
    repository.write("suite.toml", &[settings, profile].concat());
    let mut run = repository.command(&["run", "suite.toml", "-s", "own.Layer", "--forks", "1"]);
    let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(wait_for(|| repository.bench.processes_of_test().iter().any(|one| one.contains(": sleep 48"))));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", all_of(&output));
    assert!(stderr(&output).contains("not profiled: own@1: given up as asked"), "{}", stderr(&output));
    assert!(stdout(&output).contains("  page      "), "what was measured is reported: {}", stdout(&output));
    repository.bench.assert_nothing_left();
}

/// A run that has some slices in its record and is far from its end.
fn start_run_with_slices(bench: &Bench) -> Child {
    let mut run = bench.tare(&["run", "suite.toml", "--forks", "100"]);
    let child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    assert!(wait_for(|| count_recorded_slices(bench) > 2));
    child
}

/// How many slices the latest record holds; 0 before there is one.
pub fn count_recorded_slices(bench: &Bench) -> usize {
    let output = bench.run(&["report", "latest", "--json"]);
    let Ok(summary) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else { return 0 };
    summary["cells"].as_array().unwrap().iter().map(|cell| cell["timeline"].as_array().unwrap().len()).sum()
}

#[test]
fn the_built_in_server_ends_at_a_signal_as_the_first_process_of_a_container_too() {
    let mut unshare = Command::new("unshare");
    unshare.args(["--pid", "--fork", "--kill-child", TARE, "reference", "--port", "0"]);
    let Ok(mut container) = unshare.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        return skip("there is no unshare here");
    };
    let ready = BufReader::new(container.stdout.take().unwrap()).lines().next();
    if ready.is_some() {
        let first = fs::read_to_string(format!("/proc/{0}/task/{0}/children", container.id())).unwrap();
        assert!(Command::new("kill").args(["-TERM", first.trim()]).status().unwrap().success());
        assert!(wait_for(|| container.try_wait().unwrap().is_some()), "it ignores the signal");
        assert_eq!(container.wait().unwrap().code(), Some(0));
    } else {
        skip("a container needs root");
    }
}

#[test]
fn few_open_files_are_refused_before_anything_starts() {
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[])].concat());
    let script = format!("ulimit -n 64 && exec {TARE} run suite.toml -u 500");
    let output = bench.shell(&script).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("ulimit -n"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("--resume"), "nothing has begun: {}", stderr(&output));
}

#[test]
fn connections_that_the_built_in_server_has_no_file_for_are_answered_once_others_have_ended() {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n 20 && exec {TARE} reference --port 0")]);
    let server = Reference::start_by(shell);
    let address = server.url.strip_prefix("http://").unwrap();
    let mut clients: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
    let status = |client: &mut TcpStream| {
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client.write_all(b"GET /path0/4 HTTP/1.1\r\n\r\n").unwrap();
        let mut status = [0; 12];
        client.read_exact(&mut status).unwrap();
        status
    };
    // By then the server has tried to accept all of them.
    assert_eq!(status(&mut clients[0]), *b"HTTP/1.1 200");
    clients.drain(..30);
    assert_eq!(status(&mut clients[9]), *b"HTTP/1.1 200");
}

#[test]
fn a_full_disk_is_named_and_what_was_measured_is_kept() {
    let bench = Bench::new();
    let Some(_disk) = SmallDisk::mount(&bench, "full", 64) else { return };
    let output = bench.run_suite(
        &[QUICK.to_owned(), server("bare", None, &[]), server("wrapped", Some("bare"), &[])].concat(),
        &["--forks", "3", "--dir", "full/.tare"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("is full"), "{}", stderr(&output));
    bench.assert_nothing_left();
}
