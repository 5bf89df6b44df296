//! Users who log in before the load, and flags that go with none of theirs.

use std::fs;
use std::net::TcpListener;
use std::process::Stdio;

use crate::common::{Bench, Reference, json, signal, stderr, stdout, wait_for};

const SETUP: &str = r#"
[[setup]]
request = { path = "/path0/{{number}}" }
expect = { status = 200 }
variables = { found = "body ~ [0-9]+" }
"#;

#[test]
fn a_set_up_fills_the_variables_of_the_load_and_is_no_part_of_it() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    fs::write(bench.path().join("login.toml"), SETUP).unwrap();
    fs::write(bench.path().join("numbers.csv"), "number\n17\n23\n").unwrap();
    let url = server.url("/path0/{{found}}{{number}}");
    let load = ["load", &url, "-n", "40", "-c", "2", "--feed", "numbers.csv", "--setup", "login.toml", "--json", "-"];
    let checked = [&load[..], &["--check", "body ~ ^(1717|2323)$"]].concat();
    let output = bench.run(&checked);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = json(&stdout(&output));
    assert_eq!((&summary["requests"]["ok"], &summary["connections"]["opened"]), (&40.into(), &2.into()));
    let settings = summary["settings"].to_string();
    assert!(settings.contains("login.toml"), "{settings}");
    let unknown = bench.run(&["load", &server.url("/{{other}}"), "-n", "1", "-c", "1", "--setup", "login.toml"]);
    assert!(stderr(&unknown).contains("number"), "{}", stderr(&unknown));
    let missing = SETUP.replace("[0-9]+", "id=");
    fs::write(bench.path().join("login.toml"), missing).unwrap();
    let output = bench.run(&load);
    assert_eq!(output.status.code(), Some(1));
    let says = "no user could be set up (validation): set-up of a user, GET /path0/{{number}}: no value for `found`";
    assert!(stderr(&output).contains(says), "{}", stderr(&output));
}

#[test]
fn one_signal_ends_a_set_up_that_waits_for_its_server() {
    // Connections are made, and nobody ever answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/{{{{found}}}}", silent.local_addr().unwrap());
    let bench = Bench::new();
    fs::write(bench.path().join("login.toml"), SETUP.replace("{{number}}", "4")).unwrap();
    let waits = ["load", &url, "-c", "2", "--setup", "login.toml", "--timeout", "600s"];
    let mut tare = bench.tare(&waits).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The first connection only shows that somebody listens, and the second is that of a user.
    let held = [silent.accept().unwrap(), silent.accept().unwrap()];
    // Not SIGINT, which the programs of a shell's background ignore.
    signal("-TERM", tare.id());
    let ended = wait_for(|| tare.try_wait().unwrap().is_some());
    tare.kill().unwrap_or_default();
    assert!(ended, "one signal was not enough");
    drop(held);
}

#[test]
fn flags_that_go_with_no_such_load_are_refused_with_what_to_do() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    fs::write(bench.path().join("login.toml"), SETUP).unwrap();
    let (http, socket) = (server.url("/path0/4"), server.url("/ws/ts").replace("http:", "ws:"));
    for (args, says) in [
        (&[http.as_str(), "--subscribe", "x"][..], "--subscribe is for WebSockets"),
        (&[&socket, "--follow"], "--follow is for requests over HTTP"),
        (&[&http, "--follow", "--event-stream"], "--follow is for requests over HTTP"),
        (&[&http, "--follow=0"], "0 is not in 1..=255"),
        (&[&http, "--setup", "login.toml", "--pipeline", "2"], "use more connections (-c) in place of --pipeline"),
        (&[&http, "--period", "20ms"], "--period has no meaning where the server pushes no messages; leave it out"),
        (&[&http, "--event-stream", "--period", "20ms"], "--period has no meaning"),
        (&[&http, "--event-stream", "--wrk"], "--wrk and --gatling count requests"),
        (&[&http, "--server-clock", "estimate"], "--server-clock has no meaning"),
        (&[&socket, "--data", "x", "--server-clock", "same"], "--server-clock has no meaning"),
        (&[&socket, "--data", "x", "--messages", "2"], "--subscribe TEXT"),
        (&[&socket, "--data", "x", "--subscribe", "y"], "cannot be used with"),
    ] {
        let output = bench.run(&[&["load", "-n", "1", "-c", "1"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
    }
}
