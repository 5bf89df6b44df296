//! Launches of commands and of servers elsewhere.

use tare_plan::contract::TlsKeys;

use super::*;
use crate::tests::{ServersElsewhere, plan};

/// A plan of one server that is started in this way.
fn plan_of(program: Program) -> Plan {
    let mut plan = plan(&["own"], &["Get"]);
    plan.groups[0].variants[0].program = program;
    plan
}

fn prepared(plan: &Plan) -> Result<Launches, RunError> {
    prepare(plan, None, &AtomicBool::new(false), &mut |_| {}, None, true)
}

fn command() -> Program {
    Program::Command(Box::new(CommandServer {
        command: vec!["serve".to_owned(), "{port}".to_owned()],
        env: [("MODE".to_owned(), "fast".to_owned())].into(),
        cwd: Some("/srv".to_owned()),
        ..CommandServer::default()
    }))
}

#[test]
fn a_command_is_started_as_the_suite_writes_it_within_the_time_of_the_plan() {
    let plan = plan_of(command());
    let launches = prepared(&plan).unwrap();
    let variant = &plan.groups[0].variants[0];
    let launch = launches.get(variant).unwrap();
    let order = launches.order(&plan, ServerId(0), variant, "own.log", &CpuSet::default()).unwrap();
    let StartOrigin::Ours(own) = &order.origin else { panic!("tare starts a command") };
    let spec = order.placed(own, Path::new("/logs")).unwrap();
    assert_eq!((spec.name.as_str(), &spec.command), ("own", &launch.command()));
    assert_eq!(launch.command(), ["serve", "{port}"]);
    assert_eq!((spec.directory.clone(), spec.env.get("MODE").map(String::as_str)), (Some("/srv".into()), Some("fast")));
    assert_eq!((spec.startup_timeout, spec.stop_grace), (plan.machine.startup_timeout.0, plan.machine.stop_grace.0));
    assert!(spec.ready.is_none(), "without a readiness line its port tells");
    assert_eq!(launch.host(), None, "requests name its address");
}

#[test]
fn a_server_may_open_a_file_for_each_user_wherever_it_runs() {
    let plan = plan_of(command());
    let variant = &plan.groups[0].variants[0];
    let order = prepared(&plan).unwrap().order(&plan, ServerId(0), variant, "own.log", &CpuSet::default()).unwrap();
    assert!(order.open_files > u64::from(plan.load.users), "{}", order.open_files);
}

/// A plan of one server that is built by this command in `folder`.
fn plan_to_build(build: &str, folder: &Path) -> Plan {
    let Program::Command(server) = command() else { unreachable!() };
    let cwd = Some(folder.display().to_string());
    plan_of(Program::Command(Box::new(CommandServer { build: Some(build.to_owned()), cwd, ..*server })))
}

#[test]
fn a_command_is_built_once_for_all_servers_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan_to_build("echo built >>log && cat log", folder.path());
    let again = plan.groups[0].variants[0].clone();
    plan.groups[0].variants.push(again);
    let mut lines = Vec::new();
    prepare(&plan, None, &AtomicBool::new(false), &mut |line| lines.push(line.to_owned()), None, true).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("log")).unwrap(), "built\n");
    assert!(lines.iter().any(|line| line.starts_with("building own") && line.ends_with("built")), "{lines:?}");
}

#[test]
fn what_was_built_before_is_started_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_to_build("echo built >>log", folder.path());
    let launches = prepare(&plan, None, &AtomicBool::new(false), &mut |_| {}, None, false).unwrap();
    assert_eq!(launches.get(&plan.groups[0].variants[0]).unwrap().command(), ["serve", "{port}"]);
    assert!(!folder.path().join("log").exists());
}

#[test]
fn a_build_that_fails_names_the_server_and_shows_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let error = prepared(&plan_to_build("echo it does not compile >&2; exit 3", folder.path())).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("building own failed (") && text.ends_with("it does not compile"), "{text}");
}

#[test]
fn a_file_of_tls_that_is_not_there_stops_the_command_before_anything_is_started() {
    let Program::Command(server) = command() else { unreachable!() };
    let tls = Some(TlsKeys { ca: Some("/no/such/ca.pem".to_owned()), ..TlsKeys::default() });
    let plan = plan_of(Program::Command(Box::new(CommandServer { tls, ..*server })));
    let error = prepared(&plan).err().unwrap().to_string();
    assert!(error.contains("tls.ca of own") && error.contains("/no/such/ca.pem: No such file"), "{error}");
}

#[test]
fn a_jvm_on_another_machine_has_its_java_from_there_and_its_jars_from_here() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    let command = ["/no/such/jdk/bin/java", "-XX:+UseZGC", "-cp", "lib/*", "Main"].map(str::to_owned).to_vec();
    let (java, cwd) = (Some("/no/such/jdk".to_owned()), Some(folder.path().display().to_string()));
    let plan = plan_of(Program::Command(Box::new(CommandServer { command, java, cwd, ..CommandServer::default() })));
    let variant = &plan.groups[0].variants[0];
    let elsewhere = ServersElsewhere { is_another_machine: true };
    let launches = prepare(&plan, None, &AtomicBool::new(false), &mut |_| {}, Some(&elsewhere), true).unwrap();
    let there = ["/no/such/jdk/bin/java", "-XX:+UseZGC", "-cp", "/there/lib/*", "Main"];
    assert_eq!(launches.get(variant).unwrap().command(), there);
    let here = prepared(&plan).unwrap_err().to_string();
    assert!(here.starts_with("[servers.own] java: command not found: /no/such/jdk/bin/java"), "{here}");
}

#[test]
fn a_server_elsewhere_is_looked_up_and_named_in_requests() {
    let plan = plan_of(Program::External { url: "http://127.0.0.1:8080".to_owned(), transport: Default::default() });
    let launches = prepared(&plan).unwrap();
    let variant = &plan.groups[0].variants[0];
    let launch = launches.get(variant).unwrap();
    let order = launches.order(&plan, ServerId(0), variant, "own.log", &CpuSet::default()).unwrap();
    let StartOrigin::External(address) = order.origin else { panic!("it runs already") };
    assert_eq!(address, "127.0.0.1:8080".parse().unwrap());
    assert_eq!(launch.host().as_deref(), Some("127.0.0.1:8080"));
    assert_eq!(launch.command(), ["http://127.0.0.1:8080"]);
}

#[test]
fn a_variant_that_was_not_prepared_is_named() {
    let plan = plan_of(Program::Catalog);
    let error = Launches::default().get(&plan.groups[0].variants[0]).unwrap_err();
    assert!(matches!(error, RunError::NotPrepared(name) if name == "own"));
}

#[test]
fn a_server_of_the_catalog_needs_the_project() {
    let error = prepared(&plan_of(Program::Catalog)).unwrap_err();
    assert!(error.to_string().starts_with("--home: the servers of the plan are of tare's own project"), "{error}");
}

#[test]
fn the_readiness_line_of_the_catalog_tells_the_port() {
    let line = regex::Regex::new(CATALOG_READY).unwrap();
    assert_eq!(&line.captures("tare: ready on 127.0.0.1:8080").unwrap()["port"], "8080");
}
