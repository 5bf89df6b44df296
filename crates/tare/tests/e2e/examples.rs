//! The examples run, and `tare init` writes for their projects a suite that runs as it is. An example whose runtime is not
//! installed is left out, with the reason.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Bench, HeldPort, all_of, cell, comparison, json, project, skip, stderr, stdout, wait_for};

/// Folders that builds make.
const BUILT: [&str; 3] = ["target", "node_modules", ".venv"];

/// Copies a folder with what is below it, without what builds left there.
fn copy_folder(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_file() {
            std::fs::copy(&path, to.join(name)).unwrap();
        } else if !BUILT.iter().any(|built| *built == name) {
            std::fs::create_dir(to.join(&name)).unwrap();
            copy_folder(&path, &to.join(name));
        }
    }
}

fn is_installed(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// Both servers of the example's own suite, and of the suite that `tare init` writes, answer alike.
fn check_both_suites(name: &str, program: &str, argument: &str) {
    let Some(bench) = copied(name, program, argument) else { return };
    verified(&bench);
    std::fs::remove_file(bench.path().join("tare.toml")).unwrap();
    let output = bench.run(&["init", "--yes"]);
    assert!(output.status.success(), "{}", stderr(&output));
    verified(&bench);
    bench.assert_nothing_left();
}

/// The example in a scratch folder; `None`, as a skipped test, without its runtime.
fn copied(name: &str, program: &str, argument: &str) -> Option<Bench> {
    if !is_installed(program, argument) {
        skip(&format!("{program} is not installed"));
        return None;
    }
    let bench = Bench::new();
    copy_folder(&project().join("examples").join(name), bench.path());
    if program == "cargo" {
        // The examples in Rust have most of their crates in common.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
        std::fs::create_dir_all(&target).unwrap();
        std::os::unix::fs::symlink(target, bench.path().join("target")).unwrap();
    }
    Some(bench)
}

fn verified(bench: &Bench) -> Output {
    let mut verify = bench.tare(&["verify", "--suite", "tare.toml"]);
    // Its answers are compared, and its speed is not measured.
    verify.env("GOFLAGS", "-buildvcs=false").env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env_remove("CARGO_TARGET_DIR");
    let output = verify.output().unwrap();
    let told = stdout(&output);
    assert!(output.status.success() && told.contains(", 0 failed, 0 skipped"), "{told}{}", stderr(&output));
    output
}

#[test]
fn the_node_example_runs() {
    check_both_suites("node-http", "node", "--version");
}

#[test]
fn the_python_example_runs() {
    check_both_suites("python-http", "python3", "--version");
}

#[test]
fn the_go_example_runs() {
    check_both_suites("go-net-http", "go", "version");
}

#[test]
fn the_fastify_example_runs() {
    check_both_suites("node-fastify", "npm", "--version");
}

#[test]
fn the_express_example_runs() {
    check_both_suites("node-express", "npm", "--version");
}

#[test]
fn the_starlette_example_runs() {
    check_both_suites("python-starlette", "python3", "--version");
}

#[test]
fn the_axum_example_runs() {
    check_both_suites("rust-axum", "cargo", "--version");
}

#[test]
fn the_jetty_example_runs() {
    check_both_suites("jetty-filter", "mvn", "--version");
}

#[test]
fn the_http4s_example_runs() {
    check_both_suites("scala-http4s", "sbt", "--version");
}

#[test]
fn the_dotnet_example_runs() {
    check_both_suites("dotnet-aspnetcore", "dotnet", "--version");
}

#[test]
fn the_example_of_jvm_options_runs_and_a_wrong_option_is_named_once() {
    let Some(bench) = copied("jvm-flags", "java", "-version") else { return };
    verified(&bench);
    let plan = stdout(&bench.run(&["run", "tare.toml", "--dry-run"]));
    assert!(plan.contains("zgc is g1 with -XX:+UseZGC instead of -XX:+UseG1GC."), "{plan}");
    let suite = std::fs::read_to_string(bench.path().join("tare.toml")).unwrap();
    std::fs::write(bench.path().join("tare.toml"), suite.replace("UseZGC", "UseZZGC")).unwrap();
    let output = bench.run(&["run", "tare.toml", "--budget", "20s"]);
    let said = stderr(&output);
    assert!(!output.status.success(), "{said}");
    assert_eq!(said.matches("Unrecognized VM option 'UseZZGC'").count(), 1, "{said}");
    assert!(said.contains("[servers.zgc] jvm_options"), "{said}");
    bench.assert_nothing_left();
}

#[test]
fn the_example_of_streams_runs_and_its_buffer_is_seen() {
    let Some(bench) = copied("node-stream-proxy", "node", "--version") else { return };
    verified(&bench);
    let quick = ["run", "tare.toml", "--forks", "1", "--users", "4", "--warmup", "200ms", "--push", "1"];
    let output = bench.run(&quick);
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    let of_push = |variant: &str| {
        let cell = cell(&summary, variant).clone();
        assert_eq!((&cell["messages"]["received"], &cell["messages"]["missing"]), (&80.into(), &0.into()), "{cell:#}");
        (
            cell["latency"][0]["response"]["min_ns"].as_u64().unwrap(),
            cell["messages"]["gap"]["min_ns"].as_u64().unwrap(),
        )
    };
    // The server waits 20 ms before its first event, and 19 times 5 ms before its last.
    assert!(of_push("app").0 >= 20_000_000 && of_push("buffering-proxy").0 >= 110_000_000);
    assert!(of_push("buffering-proxy").1 < 1_000_000, "its events come together");
    bench.assert_nothing_left();
}

#[test]
fn the_example_of_tonic_runs() {
    let Some(bench) = copied("rust-tonic", "cargo", "--version") else { return };
    verified(&bench);
    bench.assert_nothing_left();
}

#[test]
fn the_example_of_grpc_in_go_runs_and_what_gets_no_call_is_named() {
    let Some(bench) = copied("go-grpc", "go", "version") else { return };
    verified(&bench);
    let suite = std::fs::read_to_string(bench.path().join("tare.toml")).unwrap();
    for (from, to, says) in [
        (
            "protocol = \"h2c\"\nstreams = 4\n",
            "",
            "[servers.bare] protocol: Check is a gRPC call, and is sent over HTTP/2",
        ),
        ("Health/Check\"", "Health/Ceck\"", "grpc.health.v1.Health has no method Ceck; it has "),
        (
            "body = { json = '{\"service\": \"\"}', protoset = \"health.protoset\" } }",
            "body = { hex = \"0a0161\" } }",
            "grpc-status 5 NOT_FOUND instead of 0 OK: \"unknown service\"",
        ),
    ] {
        assert!(suite.contains(from), "{from}");
        std::fs::write(bench.path().join("tare.toml"), suite.replacen(from, to, 1)).unwrap();
        let output =
            bench.tare(&["verify", "--suite", "tare.toml"]).env("GOFLAGS", "-buildvcs=false").output().unwrap();
        let said = all_of(&output);
        assert!(!output.status.success() && said.contains(says), "{to}: {said}");
    }
    load_over_tls(&bench);
    bench.assert_nothing_left();
}

/// Loads the program that was built there over TLS, whose certificate is trusted or not.
fn load_over_tls(bench: &Bench) {
    let held = HeldPort::new();
    let port = held.number;
    let certificate = project().join("servers/certificate.pem").display().to_string();
    let mut command = Command::new(bench.path().join("go-grpc"));
    let mut server = command.env("PORT", port.to_string()).env("TLS", &certificate).spawn().unwrap();
    let listens = wait_for(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
    let url = format!("grpcs://127.0.0.1:{port}/grpc.health.v1.Health/Check");
    let load = ["load", &url, "-n", "200", "-c", "2", "--streams", "4", "--data-json", "{}", "--json", "-"];
    let trusting = ["--protoset", "health.protoset", "--cacert", &certificate];
    let (good, stranger) =
        (bench.run(&[&load[..], &trusting].concat()), bench.run(&[&load[..], &trusting[..2]].concat()));
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(listens && good.status.success(), "{}", stderr(&good));
    let requests = &json(&stdout(&good))["requests"];
    assert_eq!((&requests["ok"], &requests["failed"]), (&200.into(), &0.into()));
    let said = stdout(&stranger) + &stderr(&stranger);
    assert!(!stranger.status.success() && said.contains("certificate"), "{said}");
}

#[test]
fn the_example_of_an_agent_runs() {
    if !is_installed("mvn", "--version") {
        return skip("mvn is not installed");
    }
    let bench = Bench::new();
    copy_folder(&project().join("examples/otel-agent"), bench.path());
    let output = bench.run(&["verify", "--suite", "tare.toml", "agent"]);
    assert!(stdout(&output).contains("1 passed, 0 failed, 0 skipped"), "{}", all_of(&output));
    bench.assert_nothing_left();
}

#[test]
fn the_example_of_proxies_runs_and_has_the_cpu_of_each_part() {
    let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap());
    for (program, argument) in [("node", "--version"), ("nginx", "-v"), ("haproxy", "-v")] {
        if !Command::new(program).arg(argument).env("PATH", &path).output().is_ok_and(|output| output.status.success())
        {
            return skip(&format!("{program} is not installed"));
        }
    }
    let bench = Bench::new();
    copy_folder(&project().join("examples/proxies"), bench.path());
    let quick = ["--forks", "1", "--users", "4", "--warmup", "200ms", "--slice", "200ms"];
    let flags = ["--saturating", "2", "--latency", "1s"];
    let output = bench.tare(&[&["run", "tare.toml"], &quick[..], &flags].concat()).env("PATH", &path).output().unwrap();
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    assert!(cell(&summary, "direct")["cpu_by_server"].is_null());
    for proxy in ["nginx", "haproxy", "gateway"] {
        let cell = cell(&summary, proxy);
        assert_eq!(
            (&cell["requests_failed"], &cell["connection_events"]),
            (&0.into(), &serde_json::json!([])),
            "{proxy}"
        );
        let shares = cell["cpu_by_server"].as_array().unwrap();
        let names: Vec<&str> = shares.iter().map(|share| share["server"].as_str().unwrap()).collect();
        assert_eq!(names, [proxy, "direct"]);
        let sum: f64 = shares.iter().map(|share| share["ns_per_request"].as_f64().unwrap()).sum();
        let whole = cell["cpu_ns_per_request"]["value"].as_f64().unwrap();
        assert!((sum / whole - 1.0).abs() < 1e-6, "{sum} of {whole}");
        let text = comparison(&summary, proxy)["cpu_cost"]["text"].to_string();
        assert!(
            text.contains(" to p50 at half load; CPU a request: ") && text.contains(&format!("{proxy} ")),
            "{text}"
        );
    }
    bench.assert_nothing_left();
}

/// Bytes and collections of a runtime that is no JVM: reported by a script in Node, by the server itself in Go and .NET.
fn check_counted_bytes(name: &str, program: &str, argument: &str) {
    let Some(bench) = copied(name, program, argument) else { return };
    let quick = ["--forks", "1", "--users", "4", "--warmup", "200ms", "--slice", "200ms"];
    let flags = ["--saturating", "2", "--latency", "0s"];
    let mut run = bench.tare(&[&["run", "tare.toml"], &quick[..], &flags].concat());
    let output = run.env("GOFLAGS", "-buildvcs=false").output().unwrap();
    assert!(output.status.success(), "{}", all_of(&output));
    let summary = bench.summary();
    for variant in ["bare", "wrapped"] {
        let cell = cell(&summary, variant);
        let bytes = cell["allocated_bytes_per_request"]["value"].as_f64().unwrap();
        // A request of any of them takes some objects, and none takes megabytes.
        assert!((1.0..1e6).contains(&bytes), "{variant}: {cell:#}");
        assert!(cell["heap_used_peak_bytes"].as_u64().is_some_and(|bytes| bytes > 100_000), "{cell:#}");
    }
    let of_layer = comparison(&summary, "wrapped")["currencies"].to_string();
    assert!(of_layer.contains("\"allocated_per_request\""), "{of_layer}");
    bench.assert_nothing_left();
}

#[test]
fn node_reports_bytes_without_a_change_of_the_app() {
    check_counted_bytes("node-http", "node", "--version");
}

#[test]
fn a_server_in_go_reports_its_own_bytes() {
    check_counted_bytes("go-net-http", "go", "version");
}

#[test]
fn a_server_in_dotnet_reports_its_own_bytes() {
    check_counted_bytes("dotnet-aspnetcore", "dotnet", "--version");
}

#[test]
fn every_example_is_in_the_list_and_in_a_test() {
    let folder = project().join("examples");
    let list = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let tests = include_str!("examples.rs");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            assert!(list.contains(&format!("[{name}]({name}/README.md)")), "{name} is not in examples/README.md");
            let is_run = tests.contains(&format!("(\"{name}\"")) || tests.contains(&format!("(\"examples/{name}\""));
            assert!(is_run, "no test runs {name}");
            assert!(Path::new(&path).join("README.md").is_file(), "{name} has no README.md");
        }
    }
}

#[test]
fn init_refuses_to_guess_and_to_overwrite() {
    let bench = Bench::new();
    let output = bench.run(&["init", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("no project that tare knows (Cargo.toml, go.mod") && told.contains("give --bare"), "{told}");
    let output = bench.run(&["init", "--bare", "sh own.sh {port}", "--wrapped", "sh own.sh {port} layer"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let again = bench.run(&["init", "--bare", "other {port}"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("tare.toml exists; --force overwrites it"), "{}", stderr(&again));
    let text = std::fs::read_to_string(bench.path().join("tare.toml")).unwrap();
    assert!(text.contains(r#"command = ["sh", "own.sh", "{port}", "layer"]"#), "{text}");
    let told = stdout(&output);
    assert!(told.contains("tare run") && !(told + &text).contains("tare check"), "without git there is no revision");
    assert!(!text.contains("baseline = \"main\"") && text.contains("[check]\nfail_if"), "{text}");
}

#[test]
fn init_takes_the_branch_from_git_and_prints_commands_for_a_shell() {
    let bench = Bench::new();
    let folder = bench.path().join("my project");
    std::fs::create_dir(&folder).unwrap();
    let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    for args in [&["init", "-q", "-b", "master"][..], &["commit", "-q", "--allow-empty", "-m", "a step"]] {
        let output = Command::new("git").args(identity).args(args).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    std::fs::write(folder.join("Cargo.toml"), "[package]\nname = \"own\"\n").unwrap();
    let output = bench.run(&["init", "--yes", "my project"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("Cargo.toml has no program"), "{}", stderr(&output));
    assert!(stderr(&output).contains("; give --bare "), "{}", stderr(&output));

    std::fs::create_dir(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/main.rs"), "fn main() {}").unwrap();
    let output = bench.run(&["init", "--yes", "my project"]);
    assert!(stdout(&output).contains("tare check 'my project/tare.toml'"), "{}", stdout(&output));
    let suite = std::fs::read_to_string(folder.join("tare.toml")).unwrap();
    assert!(suite.contains("baseline = \"master\" "), "{suite}");
    let output = bench.run(&["check", "my project/tare.toml", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
}
