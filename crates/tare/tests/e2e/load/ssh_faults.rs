//! Faults between a coordinator and agents behind ssh, made by a fake ssh.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Bench, QUICK, Reference, fake_ssh, json, server, signal, stderr, stdout, wait_for};

/// `tare ARGS` with this fake ssh, and with the home of its user in the bench.
fn tare_over_ssh(bench: &Bench, ssh: &str, args: &[&str]) -> Command {
    let path = fake_ssh(bench, ssh);
    let mut command = bench.tare(args);
    command.env("PATH", path).env("HOME", bench.path()).env_remove("XDG_CACHE_HOME");
    command
}

/// Runs the command that it is sent.
const RUN_COMMAND: &str = r#"exec sh -c "$command""#;

#[test]
fn much_output_of_ssh_stops_no_load() {
    let (server, bench) = (Reference::start(&[]), Bench::new());
    let talkative = format!("head -c 300000 /dev/zero | tr '\\0' x >&2\n{RUN_COMMAND}");
    let url = server.url("/path0/4");
    let load = ["load", &url, "--agents", "ssh://ada@bench1", "-n", "10", "-c", "1", "--json", "-"];
    let output = tare_over_ssh(&bench, &talkative, &load).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&stdout(&output))["requests"]["ok"], 10);
    bench.assert_nothing_left();
}

#[test]
fn output_of_ssh_is_shown_as_plain_text() {
    // Either when the program is looked for, or when it is there and the agent is started.
    for obeyed in ["nothing", "sha256sum"] {
        for args in [
            &["load", "http://10.0.0.1:8080/", "--agents", "ssh://ada@bench1"][..],
            &["run", "suite.toml", "--server-host", "ssh://ada@bench1"],
        ] {
            let bench = Bench::new();
            bench.suite(&[QUICK, &server("bare", None, &[])].concat());
            let evil = format!(
                "case \"$command\" in *{obeyed}*) exit 0;; esac\nprintf 'evil \\033[2J\\033]0;title\\007 x\\n' >&2\nexit 1"
            );
            let output = tare_over_ssh(&bench, &evil, args).output().unwrap();
            let said = stderr(&output);
            assert!(!output.status.success() && said.contains("agent ssh://ada@bench1: "), "{args:?}: {said}");
            assert!(
                said.contains("evil  [2J ]0;title  x") && !said.contains(['\u{1b}', '\u{7}']),
                "{args:?}: {said:?}"
            );
            bench.assert_nothing_left();
        }
    }
}

#[test]
fn a_wait_for_ssh_is_shown_and_ends_with_ctrl_c() {
    for args in [
        &["load", "http://10.0.0.1:8080/", "--agents", "ssh://ada@bench1"][..],
        &["run", "suite.toml", "--server-host", "ssh://ada@bench1"],
    ] {
        let bench = Bench::new();
        bench.suite(&[QUICK, &server("bare", None, &[])].concat());
        let asked = bench.path().join("asked");
        let waits = format!("touch {}; exec sleep 1000", asked.display());
        let waiting = tare_over_ssh(&bench, &waits, args).stderr(Stdio::piped()).spawn().unwrap();
        assert!(wait_for(|| asked.exists()));
        signal("-INT", waiting.id());
        let output = waiting.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("looking for tare on ssh://ada@bench1"), "{args:?}: {}", stderr(&output));
        bench.assert_nothing_left();
    }
}

#[test]
fn a_full_disk_of_an_agent_is_an_error_of_its_own() {
    let bench = Bench::new();
    let full = format!(
        "case \"$command\" in *'cat > '*) echo 'cat: write error: No space left on device' >&2; exit 98;; esac\n{RUN_COMMAND}"
    );
    let load = ["load", "http://10.0.0.1:8080/", "--agents", "ssh://ada@bench1"];
    let output = tare_over_ssh(&bench, &full, &load).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("copying tare to ssh://ada@bench1\n"), "{said}");
    let reason =
        "cannot copy tare to ~/.cache/tare there (is the disk full?): cat: write error: No space left on device\n";
    assert!(said.ends_with(&format!("error: agent ssh://ada@bench1: {reason}")), "{said}");
    bench.assert_nothing_left();
}

#[test]
fn a_copy_that_comes_in_part_is_not_kept() {
    let bench = Bench::new();
    let cut = format!("case \"$command\" in *'cat > '*) head -c 1000 | sh -c \"$command\"; exit;; esac\n{RUN_COMMAND}");
    let load = ["load", "http://10.0.0.1:8080/", "--agents", "ssh://ada@bench1"];
    let output = tare_over_ssh(&bench, &cut, &load).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot copy tare to ~/.cache/tare there"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(bench.path().join(".cache/tare")).unwrap().count(), 0);
    bench.assert_nothing_left();
}

#[test]
fn an_agent_without_file_descriptors_is_an_error_of_its_own() {
    let (server, bench) = (Reference::start(&[]), Bench::new());
    let few = format!("ulimit -n 40\n{RUN_COMMAND}");
    let url = server.url("/path0/4");
    let load = ["load", &url, "--agents", "ssh://ada@bench1", "-n", "1000", "-c", "200"];
    let output = tare_over_ssh(&bench, &few, &load).output().unwrap();
    let said = stderr(&output);
    assert!(!output.status.success(), "{said}{}", stdout(&output));
    assert!(said.contains("ssh://ada@bench1") && said.contains("ulimit -n"), "{said}");
    bench.assert_nothing_left();
}

/// A fake ssh that waits at commands that contain `phase`. Returns its text, and the files that it makes and reads then.
fn ssh_with_gate(bench: &Bench, phase: &str) -> (String, PathBuf, PathBuf) {
    let [reached, gate] = ["reached", "gate"].map(|name| bench.path().join(name));
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let wait = format!("touch {}; read line < {}", reached.display(), gate.display());
    (format!("case \"$command\" in *'{phase}'*) {wait};; esac\n{RUN_COMMAND}"), reached, gate)
}

fn open_gate(gate: &Path) {
    writeln!(File::options().write(true).open(gate).unwrap()).unwrap();
}

#[test]
fn no_agent_outlives_a_coordinator_that_is_killed_before_the_load() {
    // While the program is copied, and while the agent waits for its first order.
    for phase in ["cat > ", "exec \"$f\" agent"] {
        let bench = Bench::new();
        let (ssh, reached, gate) = ssh_with_gate(&bench, phase);
        let load = ["load", "http://10.0.0.1:8080/", "--agents", "ssh://ada@bench1", "--quiet"];
        let mut coordinator = tare_over_ssh(&bench, &ssh, &load).spawn().unwrap();
        assert!(wait_for(|| reached.exists()), "{phase}");
        signal("-KILL", coordinator.id());
        coordinator.wait().unwrap();
        open_gate(&gate);
        bench.assert_nothing_left();
    }
}

#[test]
fn an_agent_without_valid_orders_is_an_error_with_a_reason() {
    let bench = Bench::new();
    for (orders, says) in [
        ("", "no orders come on standard input; tare load --agents and tare run --agents start this"),
        ("hello world\n", "is it text that a shell prints at login?"),
        ("\0\0\0\0", "bytes that are no message of this version of tare"),
    ] {
        fs::write(bench.path().join("orders"), orders).unwrap();
        let input = File::open(bench.path().join("orders")).unwrap();
        let output = bench.tare(&["agent"]).stdin(input).output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).contains(says)), (Some(1), true), "{}", stderr(&output));
        assert_eq!(stdout(&output).contains(says), !orders.is_empty(), "the coordinator hears it too: {output:?}");
    }
}
