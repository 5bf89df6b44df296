//! `tare load --server`: which part of the latency is the server's stops, and what is left of the questions to it.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::{Bench, HeldPort, Reference, json, project, skip, stderr, stdout, wait_for};

/// A load at random intervals, and its JSON.
fn load(bench: &Bench, url: &str, server: &str, more: &[&str]) -> Value {
    let flags =
        ["load", url, "-r", "1000", "--poisson", "-d", "3s", "--server", server, "--json", "-", "--db", "a.sqlite"];
    let output = bench.run(&[&flags[..], more].concat());
    assert!(output.status.code().is_some_and(|code| code == 0 || code == 3), "{}", stderr(&output));
    json(&stdout(&output))
}

fn share(summary: &Value, which: &str) -> f64 {
    summary["server"]["division"][which].as_f64().unwrap_or_else(|| panic!("{which}: {:#}", summary["server"]))
}

#[test]
fn stops_that_a_server_does_not_tell_are_seen_and_named_as_such() {
    let server = Reference::start(&["--stall-every-s", "0.5", "--stall-ms", "40"]);
    let bench = Bench::new();
    let summary = load(&bench, &server.url("/path0/4"), &server.pid().to_string(), &["--interval", "700ms"]);
    // A stop takes 8 % of the time. Stalls of a busy machine look the same and come on top.
    assert!(share(&summary, "met_stop_share") > 0.05, "{:#}", summary["server"]);
    assert_eq!(summary["server"]["division"]["stops_are_seen"], true);
    let slowest = summary["server"]["division"]["slower"].as_array().unwrap().last().unwrap();
    let known = ["met_stop_share", "met_stall_share"].map(|part| slowest[part].as_f64().unwrap());
    assert!(known.iter().sum::<f64>() > 0.9, "the slowest met something: {slowest}");
    for figure in ["cpu_ns_per_request", "cores", "rss_bytes"] {
        assert!(
            summary["server"][figure].as_f64().is_some_and(|value| value > 0.0),
            "{figure}: {:#}",
            summary["server"]
        );
    }
    let tail = summary["server"]["tail"][0].as_str().unwrap();
    assert!(tail.contains("met a time in which the server answered nothing while requests waited"), "{tail}");
    // Every form of the record tells the same.
    let again = json(&stdout(&bench.run(&["report", "a.sqlite", "--json"])));
    assert_eq!(again["server"], summary["server"]);
    let text = stdout(&bench.run(&["report", "a.sqlite"])).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(tail) && text.contains("of CPU a request"), "{text}");
}

#[test]
fn in_a_closed_loop_silences_are_not_told_from_users_who_wait() {
    let server = Reference::start(&[]);
    let bench = Bench::new();
    let pid = server.pid().to_string();
    let output = bench.run(&["load", &server.url("/path0/4"), "-n", "500", "--server", &pid, "--json", "-"]);
    let summary = json(&stdout(&output));
    assert!(summary["server"]["division"].is_null(), "{:#}", summary["server"]);
    assert!(summary["notes"][0].as_str().unwrap().contains("give a rate with -r"), "{}", summary["notes"]);
}

#[test]
fn a_server_that_ends_is_named_and_what_it_did_before_is_shown() {
    let server = Reference::start(&["--fault", "crash", "--fault-after", "1200"]);
    let bench = Bench::new();
    let summary = load(&bench, &server.url("/path0/4"), &server.pid().to_string(), &[]);
    let notes = summary["notes"].to_string();
    assert!(notes.contains(&format!("process {} ended", server.pid())), "{notes}");
    assert!(summary["server"]["cpu_ns_per_request"].as_f64().is_some(), "{:#}", summary["server"]);
}

#[test]
fn a_server_that_is_not_one_process_is_refused_before_the_load() {
    let (first, second) = (Reference::start(&["--routes", "77123"]), Reference::start(&["--routes", "77123"]));
    let bench = Bench::new();
    let several = format!("{} (", first.pid());
    let gone = ((1_u32 << 22) + 1).to_string();
    for (wanted, words) in [
        ("routes 77123", several.as_str()),
        ("no such program", "no command line contains \"no such program\""),
        (&gone, "there is no process 4194305"),
    ] {
        let output = bench.run(&["load", &second.url("/"), "-n", "1", "--server", wanted]);
        assert_eq!(output.status.code(), Some(2), "{wanted}");
        assert!(stderr(&output).contains(words), "{wanted}: {}", stderr(&output));
    }
    let with_agents = bench.run(&["load", &second.url("/"), "--agents", "local:2", "--server", "1"]);
    assert_eq!(with_agents.status.code(), Some(2), "{}", stderr(&with_agents));
}

/// A JVM whose server makes garbage, and collects it several times a second.
struct Jvm {
    child: Child,
    url: String,
}

impl Jvm {
    /// `None`, as a skipped test, without Java.
    fn start(options: &[&str]) -> Option<Self> {
        if !Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success()) {
            skip("java is not installed");
            return None;
        }
        let held = HeldPort::new();
        let port = held.number;
        let mut java = Command::new("java");
        java.args(["-Xmx48m", "-XX:+UseSerialGC"]).args(options).arg(project().join("examples/jvm-flags/Server.java"));
        let child = java.env("PORT", port.to_string()).stdout(Stdio::null()).spawn().unwrap();
        let jvm = Self { child, url: format!("http://127.0.0.1:{port}/") };
        let answers = || {
            let mut stream = TcpStream::connect(("127.0.0.1", port))?;
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
            stream.read(&mut [0; 64])
        };
        assert!(wait_for(|| answers().is_ok_and(|bytes| bytes > 0)), "the JVM does not answer");
        Some(jvm)
    }

    /// Whether it writes a log of its stops for anyone.
    fn logs_stops(&self) -> bool {
        let files = fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|file| file.to_string_lossy().contains("tare-stops-"))
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_jvm_that_runs_already_tells_its_stops_and_is_left_as_it_was() {
    let Some(jvm) = Jvm::start(&[]) else { return };
    let bench = Bench::new();
    let pid = jvm.child.id().to_string();
    for closed in [false, true] {
        let summary = if closed {
            let flags = ["load", &jvm.url, "-c", "4", "-n", "3000", "--server", &pid, "--json", "-"];
            json(&stdout(&bench.run(&flags)))
        } else {
            load(&bench, &jvm.url, &pid, &[])
        };
        assert_eq!(
            summary["server"]["division"]["stops_are_seen"], false,
            "{:#} {}",
            summary["server"], summary["notes"]
        );
        assert!(share(&summary, "met_stop_share") > 0.0, "{:#}", summary["server"]);
        assert!(summary["server"]["stopped_time_share"].as_f64().unwrap() > 0.0);
        let tail = summary["server"]["tail"].to_string();
        assert!(tail.contains("met a stop of the server") && tail.contains("the server stood still for"), "{tail}");
        assert!(!jvm.logs_stops(), "the log is closed");
    }
}

#[test]
fn a_log_for_which_a_killed_load_asked_is_closed_by_the_next() {
    let Some(jvm) = Jvm::start(&[]) else { return };
    let bench = Bench::new();
    let pid = jvm.child.id().to_string();
    let flags = ["load", &jvm.url, "-r", "50", "-d", "60s", "--server", &pid, "--quiet"];
    let mut killed = bench.tare(&flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(wait_for(|| jvm.logs_stops()), "the JVM does not log its stops");
    let folder = format!("/tmp/tare-stops-{}-", killed.id());
    let is_left =
        || fs::read_dir("/tmp").unwrap().flatten().any(|file| file.path().to_string_lossy().starts_with(&folder));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(jvm.logs_stops(), "a killed load can undo nothing");
    // As if it had been killed before it took the name of the log away.
    let left = fs::read_dir("/tmp").unwrap().flatten().find(|file| file.path().to_string_lossy().starts_with(&folder));
    File::create(left.unwrap().path().join(format!("{pid}.safepoints"))).unwrap();
    load(&bench, &jvm.url, &pid, &[]);
    assert!(!jvm.logs_stops() && !is_left());
}

#[test]
fn a_jvm_that_takes_no_commands_is_loaded_all_the_same() {
    let Some(jvm) = Jvm::start(&["-XX:+DisableAttachMechanism"]) else { return };
    let bench = Bench::new();
    let summary = load(&bench, &jvm.url, &jvm.child.id().to_string(), &[]);
    let notes = summary["notes"].to_string();
    assert!(notes.contains("does not tell them: it takes no commands"), "{notes}");
    assert_eq!(summary["server"]["division"]["stops_are_seen"], true, "{:#}", summary["server"]);
}
