//! Wrong input of users: each is one clear error that names file, line or flag, and the remedy.

use crate::common::{Bench, QUICK, Reference, all_of, server, stderr, stdout};

fn error_of(bench: &Bench, args: &[&str]) -> String {
    let output = bench.run(args);
    assert!(!output.status.success(), "{args:?} succeeded: {}", stdout(&output));
    let said = stderr(&output);
    assert!(!said.contains("panicked"), "{said}");
    bench.assert_nothing_left();
    said
}

#[test]
fn a_suite_with_a_mistake_names_file_line_and_what_would_be_right() {
    for (text, says) in [
        ("[run]\nscenarois = [\"Get\"]", "suite.toml:2: unknown key \"scenarois\"; did you mean \"scenarios\"?"),
        ("[run]\nusers = \"many\"", "suite.toml:2: users: \"many\" is not a whole number"),
        (
            "[servers.a]\ncommand = \"true\"",
            "suite.toml:2: command: invalid type: string \"true\", expected a list, such as [\"one\", \"two\"]",
        ),
        ("[run]\nbudget = \"soon\"", "\"soon\" is not a duration"),
        ("[run]\nforks = 3\nbudget = \"2m\"", "suite.toml: [run] budget: contradicts forks; leave out one of them"),
        (
            "[scenarios.P]\nrequest = { path = \"/\", body = \"abc\", headers = { Content-Length = \"5\" } }\nexpect = {}",
            "suite.toml: [scenarios.P] request: `Content-Length: 5` is not the length of the body, which is 3",
        ),
        ("[run]\nusers = 0", "suite.toml: [run] users: write 1 to 60000 users"),
        ("[servers.a]\ncommand = []", "suite.toml: [servers.a] command: is empty"),
        ("[servers.a\n", "suite.toml:1:"),
        (
            "[servers.one]\ncommand = [\"true\"]\n[servers.a]\ncommand = [\"true\"]\nbaseline = \"ona\"",
            "suite.toml: [servers.a] baseline: no server matches \"ona\"; did you mean \"one\"?",
        ),
        (
            "[servers.a]\ncommand = [\"true\"]\nbaseline = \"a\"",
            "suite.toml: [servers.a] baseline: \"a\" is the server itself",
        ),
        (
            "[servers.a]\ncommand = [\"true\"]\nready = '('\n[scenarios.G]\nrequest = { path = \"/\" }\nexpect = {}",
            "suite.toml: [servers.a] ready: \"(\" is not a regular expression: unclosed group\n",
        ),
        (
            "[servers.a]\ncommand = [\"true\"]\n[scenarios.G]\nrequest = { path = \"x\" }\nexpect = {}",
            "begin it with /",
        ),
    ] {
        let bench = Bench::new();
        bench.suite(text);
        let said = error_of(&bench, &["run", "suite.toml"]);
        assert!(said.contains(says), "{text}\nsaid: {said}");
    }
}

#[test]
fn a_verification_gives_up_on_a_server_at_the_limit_of_its_suite() {
    let bench = Bench::new();
    let server = "[servers.\"api/v2\"]\ncommand = [\"sleep\", \"1000\"]\nenv = { PORT = \"{port}\" }\n";
    let scenario = "[scenarios.Home]\nrequest = { path = \"/\" }\nexpect = { status = 200 }\n";
    bench.suite(&["[run]\nstartup_timeout = \"300ms\"\n", server, scenario].concat());
    let output = bench.run(&["verify", "--suite", "suite.toml"]);
    let said = stdout(&output);
    assert!(said.contains("api/v2 was not ready after 0.3s: no program listens on port"), "{said}{}", stderr(&output));
    bench.assert_nothing_left();
}

#[test]
fn a_focus_that_is_no_regular_expression_is_refused_before_the_run() {
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[]), "\n[profile]\nfocus = \"(\"\n".to_owned()].concat());
    let said = error_of(&bench, &["run", "suite.toml"]);
    let focus = "suite.toml: [profile] focus: \"(\" is not a regular expression: unclosed group\n";
    assert!(said.contains(focus), "{said}");
}

#[test]
fn a_suite_that_is_no_text_is_wrong_usage_and_a_folder_cannot_be_read() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("suite.toml"), b"\xff\xfe[").unwrap();
    for (suite, code, says) in [
        ("suite.toml", 2, "suite.toml: is not text in UTF-8"),
        (".", 1, "cannot read the suite .: Is a directory"),
        ("nowhere.toml", 1, "cannot read the suite nowhere.toml"),
    ] {
        let output = bench.run(&["run", suite, "--dry-run"]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}

#[test]
fn names_that_match_nothing_list_what_there_is() {
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[])].concat());
    let said = error_of(&bench, &["run", "suite.toml", "-s", "bear"]);
    assert!(said.contains("did you mean \"bare\"?"), "{said}");
    let said = error_of(&bench, &["run", "suite.toml", "-m", "Nope*"]);
    assert!(said.contains("no scenario matches \"Nope*\"") && said.contains("Get"), "{said}");
}

#[test]
fn flags_with_a_mistake_name_the_flag() {
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[])].concat());
    for (args, says) in [
        (&["run", "suite.toml", "--budgte", "3m"][..], "--budget"),
        (&["run", "suite.toml", "--rate", "fast"], "is not a rate"),
        (&["run", "suite.toml", "--server-cpus", "999"], "core 999 is not there"),
        (
            &["run", "suite.toml", "--server-address", "10.0.0.1"],
            "--server-address: means nothing without --server-host",
        ),
        (&["run", "suite.toml", "--k8s-memory", "1Gi", "--dry-run"], "--k8s-memory is for agents in pods"),
        (&["run", "suite.toml", "--server-cpus", "a-b"], "--server-cpus"),
        (&["run", "nowhere.toml"], "cannot read the suite nowhere.toml"),
        (&["check"], "tare.toml: is not in this folder; tare init writes one"),
        (&["run", "suite.toml", "--congestion", "nonsense", "--forks", "1"], "nonsense"),
        (&["report", "1999-01-01-1"], "1999-01-01-1"),
        (&["serve", "bear", "--suite", "suite.toml"], "SERVER: no server matches \"bear\"; did you mean \"bare\"?"),
        (&["verify", "bear", "--suite", "suite.toml"], "SERVER: no server matches \"bear\""),
        (&["profile", "bear", "Get", "--suite", "suite.toml"], "SERVER: no server matches \"bear\""),
        (&["profile", "bare", "Got", "--suite", "suite.toml"], "SCENARIO: no scenario matches \"Got\""),
        (&["profile", "bare", "Get", "--against", "x", "--suite", "suite.toml"], "--against: no server matches \"x\""),
        (&["bisect", "--good", "1", "--bad", "2", "--currency", "cpus"], "possible values: cpu, allocated"),
    ] {
        let said = error_of(&bench, args);
        assert!(said.contains(says), "{args:?} said: {said}");
    }
}

#[test]
fn every_command_takes_the_suite_of_its_folder() {
    let bench = Bench::new();
    let servers = [server("bare", None, &[]), server("layer", Some("bare"), &[])].concat();
    std::fs::write(bench.path().join("tare.toml"), [QUICK, &servers].concat()).unwrap();
    for (args, shows) in [
        (&["run", "--dry-run"][..], "suite tare · 2 servers"),
        (&["profile", "layer", "Get", "--against", "bare", "--dry-run"], "suite tare · 2 servers"),
        (&["list"], "compared with bare"),
        (&["verify"], "2 passed, 0 failed, 0 skipped"),
    ] {
        let output = bench.run(args);
        assert!(stdout(&output).contains(shows), "{args:?}: {}{}", stdout(&output), stderr(&output));
    }
    assert!(
        error_of(&bench, &["serve", "bear"]).contains("SERVER: no server matches \"bear\"; did you mean \"bare\"?")
    );
}

#[test]
fn a_suite_that_names_no_server_is_refused_instead_of_measuring_all() {
    let home = crate::common::project();
    for suite in ["", "[run]\nusers = 4\n", QUICK] {
        let bench = Bench::new();
        bench.suite(suite);
        let output = bench.run(&["run", "suite.toml", "--dry-run", "--home", home.to_str().unwrap()]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("suite.toml: names no server; write [servers.NAME]"), "{said}");
    }
}

#[test]
fn a_plan_that_cannot_run_here_is_refused_before_it_is_shown() {
    let home = crate::common::project();
    for (args, says) in
        [(["--server-cpus", "999"], "core 999 is not there"), (["--java", "/nowhere"], "there is no JDK at /nowhere")]
    {
        let run = ["run", "-s", "http4s.Tapir", "-m", "SimpleGet", "--dry-run", "--home", home.to_str().unwrap()];
        let said = error_of(&Bench::new(), &[&run[..], &args].concat());
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn the_error_of_an_unavailable_setting_names_its_key() {
    let bench = Bench::new();
    for (written, says) in [
        ("[run]\nserver_cpus = \"999\"", "[run] server_cpus: core 999 is not there"),
        ("[run]\nload_cpus = \"999\"", "[run] load_cpus: core 999 is not there"),
        ("[run]\nagents = [\"far\"]", "[run] agents: \"far\" is no place for agents"),
        ("[run]\nserver_host = \"far\"", "[run] server_host: \"far\" is no machine for servers"),
    ] {
        bench.suite(&[QUICK.replace("[run]", written), server("bare", None, &[])].concat());
        let said = error_of(&bench, &["run", "suite.toml", "--dry-run"]);
        assert!(said.contains(&format!("suite.toml: {says}")), "{said}");
    }
}

#[test]
fn flags_that_change_nothing_in_a_plan_are_named() {
    let bench = Bench::new();
    let why = |flag: &str| match flag {
        "--java" | "--jvm-options" => "; a server of the suite has the JVM and the options of its command",
        _ => "",
    };
    bench.suite(&[QUICK, &server("bare", None, &[])].concat());
    for (args, unused) in [
        (&["-d", "1", "--slice", "50ms", "--control"][..], &["--slice", "--control"][..]),
        (&["--warmup", "1s", "--warmup-pinned", "--messages", "9"], &["--warmup-pinned", "--messages"]),
        (&["--forks", "3", "-s", "bare", "--seed", "4"], &[]),
        // Nobody looks whether there is a JDK that no server uses.
        (&["--java", "/opt/nojdk", "--jvm-options", "-Xmx1g"], &["--java", "--jvm-options"]),
    ] {
        let output = bench.run(&[&["run", "suite.toml", "--dry-run"], args].concat());
        let notes: Vec<String> =
            unused.iter().map(|flag| format!("  note: {flag} has no effect in this run{}\n", why(flag))).collect();
        let mut said: Vec<String> = stderr(&output).lines().map(|line| format!("{line}\n")).collect();
        said.sort_by_key(|line| notes.iter().position(|note| note == line));
        assert_eq!((output.status.code(), said), (Some(0), notes), "{args:?}");
    }
}

#[test]
fn a_misspelt_server_is_wrong_usage_and_a_short_answer() {
    let home = crate::common::project();
    let args = ["run", "-s", "http4s.Tapri", "--dry-run", "--home", home.to_str().unwrap()];
    let output = Bench::new().run(&args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("did you mean \"http4s.Tapir\"?") && said.len() < 400, "{said}");
}

#[test]
fn a_port_in_use_names_its_holder_before_anything_is_built() {
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port().to_string();
    let said = error_of(&Bench::new(), &["serve", "http4s.Vanilla", "--port", &port]);
    assert!(said.contains(&format!("port {port} is held by PID {}", std::process::id())), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn the_doctor_fails_where_a_tool_is_missing_that_a_run_needs() {
    let bench = Bench::new();
    let home = crate::common::project();
    let mut doctor = bench.tare(&["doctor", "--home", home.to_str().unwrap()]);
    let output = doctor.env("PATH", "").env("XDG_CACHE_HOME", bench.path()).output().unwrap();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{said}{}", stderr(&output));
    assert!(
        said.contains("✗ sbt or Maven: neither is on the PATH") && said.contains("Missing for tare run: "),
        "{said}"
    );
    assert!(said.contains("– perf: not found") && said.contains("one server against itself: "), "{said}");
}

#[test]
fn without_a_run_there_is_nothing_to_report() {
    let said = error_of(&Bench::new(), &["report"]);
    assert!(said.contains("no run"), "{said}");
}

#[test]
fn a_record_that_is_none_is_refused() {
    let bench = Bench::new();
    std::fs::write(
        bench.path().join("notes.sqlite"),
        "this is no database, but it is long enough to be looked at".repeat(20),
    )
    .unwrap();
    let said = error_of(&bench, &["report", "notes.sqlite"]);
    assert!(said.contains("notes.sqlite"), "{said}");
}

#[test]
fn a_command_that_is_missing_and_a_port_in_use_are_named() {
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = held.local_addr().unwrap().port();
    for (server, says) in [
        ("command = [\"./no-such-program\"]".to_owned(), "no-such-program".to_owned()),
        (
            format!("command = [\"sleep\", \"5\"]\nbase_url = \"http://127.0.0.1:{port}\""),
            format!("port {port} is held by"),
        ),
        ("command = [\"sh\", \"-c\", \"echo the reason >&2; exit 7\"]".to_owned(), "the reason".to_owned()),
    ] {
        let bench = Bench::new();
        let output =
            bench.run_suite(&format!("{QUICK}\n[servers.a]\n{server}\n"), &["--forks", "1", "--startup-timeout", "2s"]);
        let said = all_of(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(&says), "{said}");
        bench.assert_nothing_left();
    }
}

/// The escape of these sequences would clear the screen; one is C0, the other C1.
#[test]
fn control_characters_of_files_and_arguments_are_escaped() {
    let bench = Bench::new();
    let reference = Reference::start(&[]);
    let said = |args: &[&str]| {
        let output = bench.run(args);
        let said = all_of(&output);
        let raw = said.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(raw, None, "{args:?}: {said:?}");
        assert!(said.contains('\u{fffd}'), "{args:?} quotes nothing: {said}");
    };
    for (name, text) in [
        ("a.jsonl", "{\"\\u001b[2J\":1}\n{\"id\":2}\n"),
        ("a.csv", "\u{1b}[2J,\u{1b}[2J\n1,2\n"),
        ("b.csv", "a\u{9b}2J,b\n1,2\n"),
    ] {
        std::fs::write(bench.path().join(name), text).unwrap();
        said(&["load", &reference.url("/{{id}}"), "--feed", name]);
    }
    for text in ["GET \u{1b}[2J\n", "\u{1b}[2J GET /a\n", "GET /{{\u{1b}[2J}}\n"] {
        std::fs::write(bench.path().join("urls.txt"), text).unwrap();
        said(&["load", &reference.url, "--urls", "urls.txt"]);
    }
    let runs = [QUICK.to_owned(), server("bare", None, &[]), server("wrapped", Some("bare"), &[])].concat();
    let named = "[suite]\nname = \"\\u001b[2J\"\nquestion = \"Does \\u009b2J cost?\"\n";
    for text in [
        "[run]\n\"\\u001b[2J\" = 1\n".to_owned(),
        "[run]\nbudget = \"\\u001b[2J\"\n".to_owned(),
        "[run]\nservers = [\"\\u001b[2J\"]\n".to_owned() + &runs.replace("[run]\n", ""),
        named.to_owned() + &runs,
    ] {
        bench.suite(&text);
        said(&["run", "suite.toml", "--dry-run"]);
    }
    said(&["report", "\u{1b}[2J"]);
    said(&["load", &reference.url("/"), "--json", "\u{1b}[2J/a.json"]);
}

#[test]
fn the_plan_shows_every_default_and_its_source() {
    let bench = Bench::new();
    bench.suite(&[QUICK.to_owned(), server("bare", None, &[]), server("wrapped", Some("bare"), &[])].concat());
    let output = bench.run(&["run", "suite.toml", "--dry-run", "--users", "3"]);
    let plan = stdout(&output);
    for key in [
        "users",
        "rate",
        "timeout",
        "budget",
        "region",
        "alpha",
        "warmup",
        "slice",
        "saturating",
        "server_cpus",
        "jvm_cpus",
        "seed",
    ] {
        assert!(plan.contains(key), "{key} is missing: {plan}");
    }
    let line =
        |key: &str| plan.lines().find(|line| line.trim_start().starts_with(&format!("{key} "))).unwrap().to_owned();
    assert!(
        line("users").contains("flag") && line("slice").contains("suite") && line("region").contains("default"),
        "{plan}"
    );
    let json = bench.run(&["run", "suite.toml", "--dry-run", "--json"]);
    assert!(serde_json::from_slice::<serde_json::Value>(&json.stdout).unwrap()["groups"].is_array());
}

#[test]
fn the_plan_states_how_long_profiles_take() {
    let bench = Bench::new();
    let table = "[profile]\nevents = [\"cpu\"]\n";
    let (run, check) = ("run suite.toml --dry-run", "check suite.toml --dry-run --fail-if throughput<-3% --baseline");
    for (table, command, is_told) in [
        (table, run, true),
        ("", &format!("{run} --profile"), true),
        (table, &format!("{check} /bin/true"), false),
        (table, &format!("{check} /bin/true --profile"), true),
    ] {
        bench.suite(&[QUICK, "\n", table, &server("bare", None, &[])].concat());
        let output = bench.run(&command.split(' ').collect::<Vec<_>>());
        let told = stdout(&output).contains("; then profiles, about ");
        assert_eq!((output.status.success(), told), (true, is_told), "{command} {output:?}");
    }
}

#[test]
fn help_teaches_with_examples_and_shells_get_completions() {
    let bench = Bench::new();
    for args in [&["--help"][..], &["run", "--help"], &["report", "--help"]] {
        assert!(stdout(&bench.run(args)).contains("Examples:"), "{args:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&bench.run(&["completions", shell])).contains("tare"), "{shell}");
    }
}

#[test]
fn every_suite_of_the_project_makes_a_plan() {
    let home = crate::common::project();
    let bench = Bench::new();
    for suite in home.join("suites").read_dir().unwrap() {
        let suite = suite.unwrap().path();
        let output = bench.run(&["run", suite.to_str().unwrap(), "--dry-run", "--home", home.to_str().unwrap()]);
        assert!(output.status.success(), "{}: {}", suite.display(), stderr(&output));
    }
    let listed = stdout(&bench.run(&["list", "--home", home.to_str().unwrap()]));
    assert!(listed.contains("SimpleGet") && listed.contains("compared with"), "{listed}");
}
