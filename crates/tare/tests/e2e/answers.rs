//! What servers answer, outside of measuring: where no body is stated, those that answer differently are not compared, and the message
//! says how to allow it; `tare verify`; `tare serve`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::check::{Repository, project_with_catalog};
use crate::common::{Bench, HeldPort, QUICK, TARE, all_of, server, signal, stderr, stdout};

/// The scenario of all tests here, with no stated body.
fn open_suite(servers: &[String], more: &str) -> String {
    let quick = QUICK.replace(", headers = { content-type = \"text/plain; charset=UTF-8\" }, body = \"4\"", more);
    assert_ne!(quick, QUICK);
    [quick, servers.concat()].concat()
}

#[test]
fn two_servers_that_answer_differently_are_not_compared() {
    let bench = Bench::new();
    let servers = [server("bare", None, &[]), server("wrapped", Some("bare"), &["--answer-bytes", "9"])];
    let output = bench.run_suite(&open_suite(&servers, ""), &["--forks", "1"]);
    let said = all_of(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let summary = bench.summary();
    let texts = summary["findings"].to_string();
    assert!(texts.contains("not what bare answers: body: expected 1 byte"), "{texts}");
    assert!(texts.contains("Show the check with: tare verify wrapped --suite suite.toml"), "{texts}");
    assert!(!texts.contains("Not measured"), "{texts}");
    let shown = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "does not answer as it must: Get: not what bare answers";
    assert_eq!(shown.matches(why).count(), 2, "in the answer, and with its remedy: {shown}");
    let verify = bench.run(&["verify", "--suite", "suite.toml"]);
    let said = stdout(&verify);
    assert!(!verify.status.success() && said.contains("1 passed, 1 failed, 0 skipped"), "{said}{}", stderr(&verify));
    assert!(said.contains("If both are right, write in [scenarios.Get]: may_differ = [\"body\"]"), "{said}");
    bench.suite(&open_suite(&servers, "").replace("[servers.bare]", "may_differ = [\"body\"]\n[servers.bare]"));
    let verify = bench.run(&["verify", "--suite", "suite.toml"]);
    assert!(verify.status.success(), "{}", all_of(&verify));
    let said = stdout(&verify);
    assert!(said.contains("headers unlike bare's: changes content-length"), "{said}");
    bench.assert_nothing_left();
}

#[test]
fn a_variable_that_the_baseline_has_from_the_shell_is_noted() {
    let bench = Bench::new();
    let layer = server("wrapped", Some("bare"), &[]) + "env = { LAYER = \"1\" }\n";
    bench.suite(&open_suite(&[server("bare", None, &[]), layer], ""));
    for command in [&["verify", "--suite", "suite.toml"][..], &["run", "suite.toml", "--dry-run"]] {
        let note = "note: LAYER is set in this environment, so bare has it, too";
        let noted = |tare: &mut std::process::Command| stderr(&tare.output().unwrap()).contains(note);
        assert!(noted(bench.tare(command).env("LAYER", "1")) && !noted(&mut bench.tare(command)), "{command:?}");
    }
}

#[test]
fn a_server_that_is_compared_with_itself_is_verified_once() {
    let bench = Bench::new();
    let quick = QUICK.replace("seed = 1", "seed = 1\naa = \"bare\"");
    bench.suite(&(quick + &server("bare", None, &[])));
    let verify = bench.run(&["verify", "--suite", "suite.toml"]);
    let said = stdout(&verify);
    assert!(verify.status.success() && said.contains("1 passed, 0 failed, 0 skipped"), "{said}{}", stderr(&verify));
}

#[test]
fn a_suite_that_cross_checks_is_verified_without_the_other_tool() {
    let bench = Bench::new();
    let quick = QUICK.replace("seed = 1", "seed = 1\nduration = \"1s\"\nengine = [\"wrk\"]");
    bench.suite(&(quick + &server("bare", None, &[])));
    let verify = bench.tare(&["verify", "--suite", "suite.toml"]).env("PATH", "/nowhere").output().unwrap();
    let said = stdout(&verify);
    assert!(verify.status.success() && said.contains("1 passed, 0 failed, 0 skipped"), "{said}{}", stderr(&verify));
}

#[test]
fn a_revision_that_answers_otherwise_is_no_passed_check() {
    let repository = Repository::new("");
    let suite = std::fs::read_to_string(repository.bench.path().join("suite.toml")).unwrap();
    repository.write("suite.toml", &suite.replace(", body = \"4\"", ""));
    repository.commit();
    repository.write("cost", "0 --answer-bytes 9\n");
    let output = repository.check(&["--baseline", "HEAD", "--budget", "20s", "--fail-if", "cpu > +10%"]);
    let said = all_of(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(!said.contains("No regression"), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("not what own@baseline answers: body: expected"), "{said}");
}

#[test]
fn a_body_that_changes_under_load_stops_the_comparison_and_the_message_says_how_to_allow_it() {
    let bench = Bench::new();
    let changes = server("wrapped", Some("bare"), &["--fault", "wrong-body", "--fault-after", "3"]);
    let output = bench.run_suite(&open_suite(&[server("bare", None, &[]), changes], ""), &["--forks", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", all_of(&output));
    let texts = bench.summary()["findings"].to_string();
    assert!(texts.contains("body differs at byte 0"), "{texts}");
    assert!(texts.contains("if the body may change, write in [scenarios.Get]: may_differ"), "{texts}");
    bench.assert_nothing_left();
}

#[test]
fn init_states_what_the_server_answers() {
    let bench = Bench::new();
    let bare = format!("{} reference --port {{port}}", crate::common::TARE);
    let output = bench.run(&["init", "--yes", "--bare", &bare, "--path", "/path0/4"]);
    assert!(output.status.success(), "{}", all_of(&output));
    assert!(stdout(&output).contains("bare answers /path0/4 with status 200"), "{}", all_of(&output));
    assert!(
        stdout(&output).contains("wrapped is the same program with LAYER=1: read that variable"),
        "{}",
        all_of(&output)
    );
    let suite = std::fs::read_to_string(bench.path().join("tare.toml")).unwrap();
    assert!(suite.contains("expect = { status = 200, body = \"4\" }"), "{suite}");
    let verify = bench.run(&["verify"]);
    assert!(verify.status.success(), "{}", all_of(&verify));
    let flags = ["init", "--yes", "--force", "--bare", &bare, "--path", "/path0/4", "--wrapped"];
    let output = bench.run(&[&flags[..], &["sh -c 'exit 7'"]].concat());
    assert!(stdout(&output).contains("wrapped does not answer: "), "{}", all_of(&output));
    let other = format!("{bare} --delay-us 10");
    let output = bench.run(&[&flags[..], &[&other]].concat());
    assert!(stdout(&output).contains("wrapped answers with the same status"), "{}", all_of(&output));
    let build = "echo 'error: no compiler'; exit 1";
    let failed = stdout(&bench.run(&["init", "--yes", "--force", "--bare", &bare, "--build", build]));
    assert!(failed.contains(&format!("`{build}` said:\nerror: no compiler\n")), "{failed}");
    assert!(failed.contains("give another command: tare init --force --build 'COMMAND'"), "{failed}");
    let output = bench.run(&["init", "--yes", "--force", "--bare", "/no/such/program"]);
    assert!(output.status.success(), "{}", all_of(&output));
    assert!(stdout(&output).contains("what bare answers is not known"), "{}", all_of(&output));
    assert_eq!(stdout(&output).matches("command not found").count(), 1, "each cause is said once: {}", all_of(&output));
    bench.assert_nothing_left();
}

#[test]
fn a_server_of_the_catalog_is_held_to_the_scenarios_of_a_suite() {
    let repository = project_with_catalog();
    let settings = QUICK.split("[scenarios.Get]").next().unwrap();
    let scenario = |name: &str, number: u32, body: &str| {
        format!("[scenarios.{name}]\nrequest = {{ path = \"/path0/{number}\" }}\nexpect = {{ body = \"{body}\" }}\n")
    };
    // The catalog has another one of this name.
    let right = [settings, &scenario("Get", 5, "5")].concat();
    repository.write("own.toml", &right);
    let run = repository.tare(&["run", "own.toml", "-s", "own.Layer", "--forks", "1"]);
    assert!(stdout(&run).contains("own.Layer"), "{}", all_of(&run));
    assert!(!all_of(&run).contains("no valid answers"), "{}", all_of(&run));
    repository.write("own.toml", &[right, scenario("Other", 6, "7")].concat());
    let verify = repository.tare(&["verify", "own.Layer", "--suite", "own.toml"]);
    assert!(stdout(&verify).contains("1 passed, 1 failed, 0 skipped"), "{}", all_of(&verify));
    let run = repository.tare(&["run", "own.toml", "-s", "own.Layer", "--forks", "1"]);
    assert!(all_of(&run).contains("does not answer as it must"), "{}", all_of(&run));
}

#[test]
fn a_server_that_crashes_while_it_is_verified_says_how_it_ended_and_its_log_is_kept() {
    let bench = Bench::new();
    let crashes = server("crashes", None, &["--fault", "crash", "--fault-after", "0", "--stderr-noise", "2"]);
    let clears_the_screen = r#"["sh", "-c", "printf '\\033[2Jgone\\n'; exit 7"]"#;
    let chain = crashes.replace("[servers.crashes]", "[servers.proxy]")
        + "in_front_of = \"app\"\nenv = { UPSTREAM = \"{upstream}\" }\n";
    let gone = format!("[servers.gone]\ncommand = {clears_the_screen}\n");
    bench.suite(&[QUICK.to_owned(), crashes, gone, chain, server("app", None, &[])].concat());
    let output = bench.tare(&["verify", "--suite", "suite.toml"]).env("TMPDIR", bench.path()).output().unwrap();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{said}{}", stderr(&output));
    assert!(said.contains("crashes ended (killed by signal 6"), "{said}");
    assert!(said.contains("gone ended before it was ready (exit code 7)") && !said.contains('\u{1b}'), "{said:?}");
    let (_, log) = said.split_once(" at the check Get; the end of its log (").unwrap_or_else(|| panic!("{said}"));
    let log = std::fs::read_to_string(log.split_once("):").unwrap().0).unwrap();
    assert!(said.contains("\napp: it wrote nothing") || said.contains("\napp: the end of its log"), "{said}");
    assert!(log.contains("noise, line 1") && said.contains("noise, line 1"), "{said}{log}");
    bench.assert_nothing_left();
}

#[test]
fn several_servers_in_the_foreground_are_refused_before_any_is_built() {
    let bench = Bench::new();
    let built = |name: &str| server(name, None, &[]) + "build = \"touch built\"\n";
    bench.suite(&[QUICK.to_owned(), built("one"), built("other")].concat());
    let output = bench.run(&["serve", "o*", "--suite", "suite.toml", "--port", "0"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("o* names several servers (one, other); name one"), "{}", stderr(&output));
    assert!(!bench.path().join("built").exists());
}

#[test]
fn a_server_in_the_foreground_is_found_at_the_port_that_it_is_given() {
    let bench = Bench::new();
    let plain = format!(
        "[servers.plain]\ncommand = [{TARE:?}, \"reference\", \"--port\", \"{{port}}\"]\n\
         base_url = \"http://127.0.0.1:{{port}}\"\n[servers.two]\n\
         command = [\"sh\", \"-c\", \"{TARE} reference --port 0 & exec {TARE} reference --port {{port}}\"]\n"
    );
    bench.suite(&[QUICK, &plain].concat());
    let held = HeldPort::new();
    for (name, port) in [("plain", held.number), ("plain", 0), ("two", held.number)] {
        let mut serve = bench.tare(&["serve", name, "--suite", "suite.toml", "--port", &port.to_string()]);
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said = if port == 0 { String::new() } else { format!("{port} ") };
        assert!(line.starts_with(&format!("{name} serves on http://127.0.0.1:{said}")), "{name} {port}: {line}");
        signal("-INT", child.id());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    bench.assert_nothing_left();
}
