//! What a plan leaves out: servers without the version that was asked for, and those that cannot be had on this machine.

use super::earlier::two_cores;
use super::{inventory, plan_with, strings};
use crate::resolve::*;

#[test]
fn a_suite_without_scenarios_says_what_to_write_where_there_is_no_catalog() {
    let error = |suite: &Suite| {
        let planned = resolve_plan(&Inputs {
            profile: None,
            suite,
            flags: &Options::default(),
            inventory: &Inventory::default(),
            contract: &Contract::default(),
            machine: &two_cores(),
            earlier: &[],
            fallback_seed: 7,
        });
        planned.unwrap_err().to_string()
    };
    let suite = Suite::parse("my.toml", "[servers.a]\ncommand = [\"true\"]").unwrap();
    let of_suite = error(&suite);
    assert!(of_suite.starts_with("my.toml: names no scenario; write [scenarios.NAME]"), "{of_suite}");
    // As with a server that runs already, and no suite.
    let of_none = error(&Suite { file: String::new(), ..suite });
    assert!(of_none.starts_with("--contract: no scenario is known here; give a file with schema = 1"), "{of_none}");
}

#[test]
fn a_server_without_the_version_is_left_out_and_the_others_are_compared() {
    let mut inventory = inventory();
    inventory.servers[1].versions = vec!["1.11.15".into()];
    let flags = Options {
        servers: Some(strings(&["*.Tapir*"])),
        versions: Some(strings(&["1.10.14"])),
        scenarios: Some(strings(&["SimpleGet"])),
        ..Options::default()
    };
    let plan = plan_with(&inventory, "", flags).unwrap();
    assert!(plan.groups.iter().flat_map(|g| &g.variants).all(|v| v.server != "http4s.Tapir"));
    assert!(plan.groups.iter().flat_map(|g| &g.variants).any(|v| v.name == "http4s.TapirMulti@1.10.14"));
    assert_eq!(plan.skipped[0].what, "http4s.Tapir");
    assert_eq!(plan.skipped[0].because, "has no version 1.10.14; there are: 1.11.15");
}

#[test]
fn a_baseline_is_left_out_of_scenarios_that_nothing_compared_with_it_can_answer() {
    // The contract says that this version has no WebSockets.
    let flags = Options {
        servers: Some(strings(&["http4s.Tapir"])),
        versions: Some(strings(&["1.10.14"])),
        scenarios: Some(strings(&["SimpleGet", "Push"])),
        ..Options::default()
    };
    let plan = plan_with(&inventory(), "", flags).unwrap();
    let scenarios: Vec<&str> = plan.groups.iter().flat_map(|g| &g.scenarios).map(|named| &*named.name).collect();
    assert_eq!(scenarios, ["SimpleGet"]);
    let left_out: Vec<&str> = plan.skipped.iter().map(|skipped| &*skipped.what).collect();
    assert_eq!(left_out, ["http4s.Tapir@1.10.14 × Push", "http4s.Vanilla@1.10.14 × Push"]);
}

#[test]
fn a_server_is_left_out_of_scenarios_that_its_baseline_cannot_answer() {
    let flags = |scenarios: &[&str]| Options {
        baseline: Some("http4s.Vanilla".to_owned()),
        servers: Some(strings(&["http4s.TapirMulti"])),
        scenarios: Some(strings(scenarios)),
        ..Options::default()
    };
    // The baseline has one route, and the server 128.
    let plan = plan_with(&inventory(), "", flags(&["SimpleGet", "SimpleGetMultiRoute"])).unwrap();
    let scenarios: Vec<&str> = plan.groups.iter().flat_map(|g| &g.scenarios).map(|named| &*named.name).collect();
    assert_eq!(scenarios, ["SimpleGet"]);
    let left_out = &plan.skipped[1];
    assert_eq!(left_out.what, "http4s.TapirMulti × SimpleGetMultiRoute");
    assert_eq!(left_out.because, "its baseline http4s.Vanilla is not measured there");
    let error = plan_with(&inventory(), "", flags(&["SimpleGetMultiRoute"])).unwrap_err().to_string();
    assert!(error.contains("needs 128 routes") && error.contains("is not measured there"), "{error}");
}

#[test]
fn a_baseline_is_left_out_where_nothing_is_left_to_compare_with_it() {
    let mut inventory = inventory();
    inventory.servers[1].unavailable = Some("cannot be resolved".into());
    let flags = |servers: &[&str]| Options {
        servers: Some(strings(servers)),
        scenarios: Some(strings(&["SimpleGet"])),
        ..Options::default()
    };
    let plan = plan_with(&inventory, "", flags(&["http4s.Tapir*"])).unwrap();
    assert!(plan.groups.iter().all(|group| group.baseline().name == "http4s.VanillaMulti"));
    let left_out: Vec<&str> = plan.skipped.iter().map(|skipped| &*skipped.what).collect();
    assert!(left_out.contains(&"http4s.Tapir") && left_out.contains(&"http4s.Vanilla"), "{left_out:?}");
    let error = plan_with(&inventory, "", flags(&["http4s.Tapir"])).unwrap_err().to_string();
    assert!(error.contains("cannot be resolved"), "{error}");
    for asked in [&["http4s.Vanilla"][..], &["http4s.Vanilla", "http4s.Tapir"]] {
        assert_eq!(plan_with(&inventory, "", flags(asked)).unwrap().groups.len(), 1, "alone, because it was asked for");
    }
}

#[test]
fn an_event_that_is_named_twice_is_sampled_once() {
    let suite = "[profile]\nevents = [\"wall\", \"cpu\", \"wall\"]\n[run]\nservers = [\"http4s.Tapir\"]\n";
    let plan = plan_with(&inventory(), suite, Options::default()).unwrap();
    assert_eq!(plan.settings.iter().find(|setting| setting.key == "events").unwrap().value, "wall cpu");
    assert_eq!(plan.profiling().unwrap().slices.fixed, 2, "a slice for each");
}

#[test]
fn the_focus_of_the_catalog_is_that_of_its_servers() {
    let known = Inventory { focus: "sttp".to_owned(), ..inventory() };
    let focus = |suite: &str, server: &str| {
        let flags = Options { servers: Some(strings(&[server])), ..Options::default() };
        plan_with(&known, &format!("{suite}[profile]\nforks = 1\n"), flags).unwrap().profile.unwrap().focus
    };
    let own = "[servers.own]\ncommand = [\"./own\", \"{port}\"]\n[servers.alike]\nlike = \"http4s.Tapir\"\nenv = { A = \"b\" }\n\
               [scenarios.Home]\nrequest = { path = \"/\" }\nexpect = { status = 200 }\n";
    assert_eq!([focus("", "http4s.Tapir"), focus(own, "alike"), focus(own, "own")], ["sttp", "sttp", ""]);
}
