//! Plans from small suites: what a user would expect of each choice.

mod earlier;
mod groups;
mod left_out;
mod spoken;

use std::time::Duration;

use super::*;
use crate::contract::tests::TEXT as CONTRACT;
use crate::estimate::run_time;
use crate::inventory::KnownServer;
use crate::plan::{Forks, Role, Source, Variant, Warmup};
use crate::suite::GroupSpec;
use tare_units::Span;

pub(super) fn inventory() -> Inventory {
    let server = |name: &str, routes, baseline: Option<&str>| KnownServer {
        name: name.into(),
        family: "http4s".into(),
        routes,
        baseline: baseline.map(Into::into),
        default_version: "1.11.15".into(),
        versions: vec!["1.11.15".into(), "1.10.14".into()],
        ..KnownServer::default()
    };
    Inventory {
        servers: vec![
            server("http4s.Vanilla", 1, None),
            server("http4s.Tapir", 1, Some("http4s.Vanilla")),
            server("http4s.VanillaMulti", 128, None),
            server("http4s.TapirMulti", 128, Some("http4s.VanillaMulti")),
        ],
        jvm_options: vec!["-Xmx1g".into()],
        ..Inventory::default()
    }
}

fn plan(suite: &str, flags: Options) -> Result<Plan, PlanError> {
    plan_with(&inventory(), suite, flags)
}

pub(super) fn plan_with(inventory: &Inventory, suite: &str, flags: Options) -> Result<Plan, PlanError> {
    // Without a text there is no file, only flags.
    let suite = if suite.is_empty() { Suite::default() } else { Suite::parse("suites/s.toml", suite)? };
    plan_of_suite(inventory, &suite, flags)
}

fn plan_of_suite(inventory: &Inventory, suite: &Suite, flags: Options) -> Result<Plan, PlanError> {
    resolve_plan(&Inputs {
        profile: None,
        suite,
        flags: &flags,
        inventory,
        contract: &Contract::parse("contract.toml", CONTRACT)?,
        machine: &earlier::two_cores(),
        earlier: &[],
        fallback_seed: 7,
    })
}

pub(super) fn names(plan: &Plan) -> Vec<(String, Vec<String>, Vec<String>)> {
    plan.groups
        .iter()
        .map(|g| {
            let variants = g.variants.iter().map(|v| v.name.clone()).collect();
            (g.id.clone(), variants, g.scenarios.iter().map(|s| s.name.clone()).collect())
        })
        .collect()
}

pub(super) fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

#[test]
fn each_server_is_compared_with_its_own_baseline_with_a_control() {
    let asked = Options { scenarios: Some(strings(&["SimpleGet"])), ..Options::default() };
    let without = plan("", asked.clone()).unwrap();
    assert_eq!(names(&without)[0].1, strings(&["http4s.Vanilla", "http4s.Tapir"]), "a control must be asked for");
    let plan = plan("", Options { control: Some(true), ..asked }).unwrap();
    assert_eq!(
        names(&plan),
        [
            (
                "http4s.Vanilla".into(),
                strings(&["http4s.Vanilla", "http4s.Tapir", "http4s.Vanilla (again)"]),
                strings(&["SimpleGet"])
            ),
            (
                "http4s.VanillaMulti".into(),
                strings(&["http4s.VanillaMulti", "http4s.TapirMulti", "http4s.VanillaMulti (again)"]),
                strings(&["SimpleGet"])
            ),
        ]
    );
}

#[test]
fn a_duration_alone_asks_for_the_plain_sequential_run() {
    let flags = Options {
        servers: Some(strings(&["http4s.*"])),
        duration: Some(Span::from_secs(25)),
        users: Some(3),
        ..Options::default()
    };
    let plan = plan("", flags).unwrap();
    assert_eq!(plan.mode, Mode::Sequential);
    assert_eq!(plan.warmup, Warmup::Fixed { span: Span::from_secs(5), users: 3 });
    assert_eq!((plan.slices.length, plan.slices.saturating), (Span::from_secs(1), 25));
    assert!(plan.groups.iter().all(|g| g.variants.iter().all(|v| v.role != Role::Control)));
    assert_eq!(plan.cells(), 2 + 2 + 2, "two servers with one scenario, two with two");
    assert_eq!(plan.skipped.len(), 2, "the one-route servers are not asked for /path127");
}

#[test]
fn each_server_beyond_the_fourth_adds_a_quarter_of_the_cap_to_a_warm_up() {
    let longest = |flags: Options, is_first: bool, servers: [u32; 4]| {
        let warmup = plan("", flags).unwrap().warmup;
        servers.map(|servers| warmup.longest(is_first, servers).as_secs_f64())
    };
    let given = || Options {
        warmup_cap: Some(Span::from_secs(18)),
        warmup_first_cap: Some(Span::from_secs(36)),
        ..Options::default()
    };
    assert_eq!(longest(given(), false, [1, 4, 5, 7]), [18.0, 18.0, 22.5, 31.5]);
    assert_eq!(longest(given(), true, [1, 4, 5, 7]), [36.0, 36.0, 45.0, 63.0]);
    assert_eq!(longest(Options::default(), true, [1, 4, 5, 18]), [40.0, 40.0, 50.0, 180.0]);
}

#[test]
fn a_flag_wins_over_the_suite_and_the_plan_says_so() {
    let suite = "[run]\nusers = 64\nbudget = \"2m\"\nservers = [\"http4s.Tapir\"]";
    let plan = plan(suite, Options { users: Some(3), ..Options::default() }).unwrap();
    let source = |key: &str| plan.settings.iter().find(|s| s.key == key).unwrap().source;
    assert_eq!(plan.load.users, 3);
    assert_eq!((source("users"), source("budget"), source("slice")), (Source::Flag, Source::Suite, Source::Default));
    assert!(
        matches!(plan.stop.forks, Forks::UntilDecided { budget, at_least: 3, .. } if budget == Span::from_secs(120))
    );
}

#[test]
fn the_declared_forks_are_what_the_budget_is_planned_for() {
    let declared = |budget: u64| {
        let flags = Options {
            servers: Some(strings(&["http4s.Tapir"])),
            scenarios: Some(strings(&["SimpleGet"])),
            budget: Some(Span::from_secs(budget)),
            ..Options::default()
        };
        let plan = plan("", flags).unwrap();
        let Forks::UntilDecided { max_forks, .. } = plan.stop.forks else { panic!("{:?}", plan.stop.forks) };
        let listed = plan.settings.iter().find(|s| s.key == "max_forks").unwrap();
        assert_eq!((Some(listed.value.clone()), listed.section.as_str()), (max_forks.map(|n| n.to_string()), "stop"));
        (max_forks.unwrap(), crate::estimate::starts_within_budget(&plan))
    };
    let (many, affordable) = declared(3_600);
    assert_eq!(many, affordable.round() as u32);
    assert_eq!(declared(1).0, 3, "never fewer than may decide");
    assert_eq!(declared(1_000_000).0, 200);
}

#[test]
fn a_command_that_starts_a_jvm_has_the_wider_region_and_profiles_of_its_heap() {
    use crate::profile::ProfileEvent::{Alloc, Cpu, Wall};
    let planned = |command: &str, profile: &str| {
        let scenario = "[scenarios.Get]\nrequest = { path = \"/\" }\nexpect = {}";
        let suite = format!("[servers.own]\ncommand = [{command}]\n{scenario}\n[profile]\n{profile}");
        let plan = plan(&suite, Options::default()).unwrap();
        (plan.stop.region, plan.profile.unwrap().events)
    };
    for on_jvm in
        [r#""java", "-jar", "app.jar""#, r#""/opt/jdk/bin/java", "App""#, r#""sh", "-c", "exec java -jar a.jar""#]
    {
        assert_eq!(planned(on_jvm, ""), (0.05, vec![Cpu, Alloc]), "{on_jvm}");
    }
    for other in [r#""./server", "--port", "{port}""#, r#""node", "javascript.js""#] {
        assert_eq!(planned(other, ""), (0.02, vec![Cpu]), "{other}");
        assert_eq!(planned(other, "events = [\"wall\"]").1, [Wall], "{other}");
    }
}

#[test]
fn servers_on_a_jvm_have_a_wider_region_unless_another_is_asked_for() {
    let mut inventory = inventory();
    let region =
        |inventory: &Inventory, suite: &str| plan_with(inventory, suite, Options::default()).unwrap().stop.region;
    let suite = "[run]\nservers = [\"http4s.Tapir\"]";
    assert_eq!(region(&inventory, suite), 0.02);
    inventory.servers[1].jvm = true;
    assert_eq!(region(&inventory, suite), 0.05);
    assert_eq!(region(&inventory, "[run]\nservers = [\"http4s.Tapir\"]\nregion = \"2%\""), 0.02);
}

#[test]
fn a_server_against_itself_is_a_baseline_and_its_control() {
    let flags =
        Options { aa: Some("http4s.Tapir".into()), scenarios: Some(strings(&["SimpleGet"])), ..Options::default() };
    let plan = plan("", flags).unwrap();
    assert_eq!(names(&plan)[0].1, strings(&["http4s.Tapir", "http4s.Tapir (again)"]));
    assert_eq!(plan.question, "How far does http4s.Tapir differ from itself?");
}

#[test]
fn each_version_is_compared_with_its_own_baseline() {
    let flags = Options {
        servers: Some(strings(&["http4s.Tapir"])),
        versions: Some(strings(&["1.10.14", "1.11.15"])),
        scenarios: Some(strings(&["SimpleGet"])),
        control: Some(false),
        ..Options::default()
    };
    let plan = plan("", flags.clone()).unwrap();
    assert_eq!(plan.groups[0].variants[1].name, "http4s.Tapir@1.10.14");
    assert_eq!(plan.groups[1].variants[0].name, "http4s.Vanilla@1.11.15");
    let unknown = Options { versions: Some(strings(&["9.9"])), ..flags };
    let error = super::tests::plan("", unknown).unwrap_err().to_string();
    assert_eq!(error, "--versions: no version matches \"9.9\"; there are: 1.11.15, 1.10.14");
}

#[test]
fn a_server_can_be_compared_with_an_earlier_version_of_itself() {
    let suite = "[[groups]]\nbaseline = \"http4s.Tapir\"\nbaseline_version = \"1.10.14\"\nservers = [\"http4s.Tapir\"]";
    let plan = plan(suite, Options { control: Some(true), ..Options::default() }).unwrap();
    let variants: Vec<(&str, Role)> = plan.groups[0].variants.iter().map(|v| (v.name.as_str(), v.role)).collect();
    let expected = [
        ("http4s.Tapir@1.10.14", Role::Baseline),
        ("http4s.Tapir", Role::Compared),
        ("http4s.Tapir@1.10.14 (again)", Role::Control),
    ];
    assert_eq!(variants, expected);
}

#[test]
fn a_baseline_of_another_copy_of_the_project_is_built_there_and_named_so() {
    let group = GroupSpec {
        baseline: "http4s.Tapir".to_owned(),
        baseline_home: Some("/old".to_owned()),
        baseline_version: Some("0.9".to_owned()),
        servers: strings(&["http4s.Tapir"]),
        ..GroupSpec::default()
    };
    let suite = Suite { groups: vec![group], ..Suite::default() };
    let plan = plan_of_suite(&inventory(), &suite, Options::default()).unwrap();
    let variant = |v: &Variant| (v.name.clone(), v.version.clone().unwrap(), v.program.other_home().map(str::to_owned));
    let expected = [
        ("http4s.Tapir@baseline".to_owned(), "0.9".to_owned(), Some("/old".to_owned())),
        ("http4s.Tapir".to_owned(), "1.11.15".to_owned(), None),
    ];
    assert_eq!(plan.groups[0].variants.iter().map(variant).collect::<Vec<_>>(), expected);
}

#[test]
fn any_program_is_a_server() {
    let suite = r#"
[servers.bare]
command = ["./bare", "{port}"]
[servers.wrapped]
command = ["./wrapped", "{port}"]
baseline = "bare"
[scenarios.Home]
request = { path = "/" }
expect = { status = 200 }
"#;
    let plan = plan(suite, Options::default()).unwrap();
    assert_eq!(plan.groups.len(), 1, "a suite with servers of its own means those");
    assert_eq!(names(&plan)[0].1, strings(&["bare", "wrapped"]));
    assert_eq!(names(&plan)[0].2, strings(&["Home"]), "a suite with scenarios of its own means those");
    assert_eq!(plan.question, "What does wrapped cost on top of bare?");
    let written = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&written).unwrap(), plan, "a record holds the plan and must read it back");
}

#[test]
fn a_suite_file_without_servers_does_not_mean_all_of_them() {
    let error = plan("[run]\nusers = 3", Options::default()).unwrap_err().to_string();
    assert!(error.starts_with("suites/s.toml: names no server; write [servers.NAME]"), "{error}");
}

#[test]
fn the_error_of_an_invalid_value_names_its_flag_or_key() {
    let by_flag = plan("", Options { users: Some(0), ..Options::default() }).unwrap_err().to_string();
    assert_eq!(by_flag, "--users: write 1 to 60000 users");
    let by_key = plan("[run]\nslice = \"1ms\"", Options::default()).unwrap_err().to_string();
    assert_eq!(by_key, "suites/s.toml: [run] slice: write 20ms to 10m");
    let no_boundaries = plan("", Options { at_least: Some(201), ..Options::default() }).unwrap_err().to_string();
    assert_eq!(no_boundaries, "--at-least: an interval needs at least 3 starts; write 3 to 200");
}

#[test]
fn a_value_from_the_suite_or_a_flag_gives_the_same_hash() {
    let one = plan("[run]\nusers = 3\nservers = [\"*\"]", Options::default()).unwrap();
    let other = plan("", Options { users: Some(3), ..Options::default() }).unwrap();
    let third = plan("", Options { users: Some(4), ..Options::default() }).unwrap();
    assert_eq!(one.hash(), other.hash());
    assert_ne!(one.hash(), third.hash());
}

#[test]
fn what_a_server_pushes_is_timed_only_when_it_is_named() {
    let all = plan("", Options::default()).unwrap();
    assert!(all.groups.iter().all(|group| group.scenarios.iter().all(|s| s.name != "Push")));
    let push = || Options {
        scenarios: Some(vec!["Push".into()]),
        servers: Some(vec!["http4s.Tapir".into()]),
        ..Options::default()
    };
    let named = plan("[run]\nmessages = 20", push()).unwrap();
    assert_eq!(named.groups[0].scenarios[0].scenario.push.as_ref().unwrap().messages, 20);
    let old = plan("", Options { versions: Some(vec!["1.10.14".into()]), ..push() }).unwrap_err().to_string();
    assert!(old.contains("http4s.Tapir@1.10.14 × Push: no WebSockets"), "{old}");
    let none = plan("[run]\nmessages = 1", push()).unwrap_err().to_string();
    assert!(none.contains("[run] messages") && none.contains("2 to 1000000"), "{none}");
}

#[test]
fn a_start_has_enough_streams_of_events_for_a_percentile_of_the_first_event() {
    let rounds = |run: &str, messages: u32| {
        let suite = format!(
            "[run]\n{run}\n[servers.app]\ncommand = [\"./app\", \"{{port}}\"]\n[scenarios.Tokens]\nrequest = {{ path = \"/\" }}\n\
             expect = {{}}\npush = {{ period = \"20ms\", messages = {messages} }}"
        );
        plan(&suite, Options::default()).unwrap().slices.push
    };
    assert_eq!(rounds("users = 16", 50), 13, "208 streams");
    assert_eq!(rounds("users = 500", 50), 1);
    assert_eq!(rounds("users = 16", 500), 3, "of 10 s each");
    assert_eq!(rounds("users = 16", 5000), 1);
    assert_eq!(rounds("users = 16\npush = 2", 50), 2, "what the suite says");
}

#[test]
fn profiles_of_pushes_take_their_span_and_not_that_of_the_messages() {
    let flags = Options {
        scenarios: Some(vec!["Push".into()]),
        servers: Some(vec!["http4s.Vanilla".into()]),
        ..Options::default()
    };
    let of = |span: &str| {
        let suite =
            format!("[run]\nmessages = 100000\n[profile]\nevents = [\"cpu\", \"alloc\"]\nforks = 1\nspan = \"{span}\"");
        run_time(&plan(&suite, flags.clone()).unwrap().profiling().unwrap())
    };
    assert_eq!(of("9s") - of("5s"), Duration::from_secs(4) * 2, "an event each for CPU and allocation");
}

#[test]
fn a_suite_that_asks_for_profiles_gets_starts_of_their_own_beside_the_scored_ones() {
    let suite = "[profile]\nforks = 4\nspan = \"5s\"\n";
    let flags = Options { servers: Some(strings(&["http4s.Tapir"])), ..Options::default() };
    let scored = plan(suite, flags.clone()).unwrap();
    assert_eq!(scored.mode, Mode::Compared);
    assert!(!scored.machine.jvm_options.iter().any(|option| option.contains("NonSafepoints")));
    let profiling = scored.profiling().unwrap();
    assert_eq!((profiling.mode, profiling.stop.forks), (Mode::Profiled, Forks::Fixed { count: 4 }));
    assert!(profiling.profiling().is_none(), "nothing comes after them");
    let slices = &profiling.slices;
    assert_eq!((slices.saturating, slices.fixed, slices.latency), (0, 1, Span::default()));
    assert!(profiling.groups.iter().all(|group| group.variants.iter().all(|v| v.role != Role::Control)));
    assert!(profiling.machine.jvm_options.ends_with(&["-XX:+DebugNonSafepoints".to_owned()]));
    let checked = plan(&format!("[run]\nduration = \"9s\"\nengine = [\"wrk\"]\n{suite}"), flags.clone()).unwrap();
    assert_eq!((checked.engines.len(), checked.profiling().unwrap().engines.len()), (1, 0), "no tool is needed");
    assert!(plan("", flags).unwrap().profiling().is_none(), "no profile was requested");
}

#[test]
fn impossible_profiles_are_refused_with_their_key() {
    for (line, says) in
        [("forks = 0", "[profile] forks"), ("events = []", "[profile] events"), ("span = \"1ms\"", "[profile] span")]
    {
        let error = plan(&format!("[profile]\n{line}"), Options::default()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("suites/s.toml: {says}")), "{error}");
    }
    assert!(plan("[profile]\nevents = [\"cpus\"]", Options::default()).unwrap_err().to_string().contains("cpu"));
}

#[test]
fn the_error_of_a_wrong_name_or_value_names_its_place() {
    for (suite, says) in [
        ("[run]\naa = \"ona\"", "suites/s.toml: [run] aa: no server matches \"ona\""),
        ("[run]\nservers = [\"*\"]\nbaseline = \"ona\"", "suites/s.toml: [run] baseline: no server matches"),
        ("[run]\nservers = [\"*\"]\n[profile]\nforks = 0", "suites/s.toml: [profile] forks: write 1 to 1000"),
        ("[run]\nservers = [\"*\"]\nserver_cpus = \"x\"", "suites/s.toml:3: server_cpus: \"x\" is not a list"),
    ] {
        let error = plan(suite, Options::default()).unwrap_err().to_string();
        assert!(error.starts_with(says), "{suite}: {error}");
    }
    let groups = "[run]\nservers = [\"*\"]\n[[groups]]\nbaseline = \"http4s.Vanilla\"\nservers = [\"http4s.Tapir\"]";
    let error = plan(groups, Options::default()).unwrap_err().to_string();
    assert_eq!(error, "suites/s.toml: [run] servers: contradicts [[groups]]; leave out this key, or the groups");
    let flags = Options { aa: Some("ona".to_owned()), ..Options::default() };
    assert!(plan("[run]\naa = \"http4s.Tapir\"", flags).unwrap_err().to_string().starts_with("--aa: no server"));
    let of_suite = plan("[run]\nservers = [\"*\"]\nload_cpus = \"1\"", Options::default()).unwrap();
    assert_eq!(of_suite.origin_of("load_cpus"), "suites/s.toml: [run] load_cpus");
    assert_eq!(of_suite.origin_of("server_cpus"), "--server-cpus", "a default is changed by the flag");
}
