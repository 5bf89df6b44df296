//! The table of settings against what `resolve` does, and against docs/SETTINGS.md.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::BTreeSet;
use std::path::Path;

use tare_plan::contract::Contract;
use tare_plan::inventory::{Inventory, KnownServer};
use tare_plan::plan::Source;
use tare_plan::resolve::{Inputs, MachineFacts, resolve_plan};
use tare_plan::settings::{Options, Section, SettingInfo, all_settings};
use tare_plan::suite::Suite;
use tare_plan::{Plan, PlanError};
use tare_units::CpuSet;

const CONTRACT: &str = "schema = 1\n[scenarios.Get]\nrequest = { path = \"/\" }\nexpect = { status = 200 }\n";

fn plan_of(run_table: &str, flags: &Options) -> Plan {
    resolved(run_table, flags).unwrap()
}

/// The plan of a `[run]` table on a machine of four cores.
fn resolved(run_table: &str, flags: &Options) -> Result<Plan, PlanError> {
    let server = KnownServer { name: "a".into(), routes: 1, ..KnownServer::default() };
    let inventory = Inventory { servers: vec![server], jvm_options: vec!["-Xmx1g".into()], ..Inventory::default() };
    resolve_plan(&Inputs {
        suite: &Suite::parse("s.toml", &format!("[run]\nservers = [\"a\"]\n{run_table}")).unwrap(),
        flags,
        profile: None,
        inventory: &inventory,
        contract: &Contract::parse("contract.toml", CONTRACT).unwrap(),
        machine: &MachineFacts {
            cores: (0..4).map(|cpu| CpuSet::from_indices([cpu])).collect(),
            ..MachineFacts::default()
        },
        earlier: &[],
        fallback_seed: 7,
    })
}

fn setting_of(key: &str) -> SettingInfo {
    all_settings().into_iter().find(|setting| setting.key == key).unwrap()
}

#[test]
fn the_defaults_in_the_help_are_those_of_an_empty_suite() {
    // Each of these asks for something that other settings depend on.
    let host = "server_host = \"ssh://a\"\nserver_address = \"10.0.0.7\"\nagents = [\"ssh://b\"]";
    let plans = ["", "slo = \"p99<4ms\"", "warmup = \"9s\"", "duration = \"9s\"", host]
        .map(|run| plan_of(run, &Options::default()));
    let mut compared = 0;
    for setting in plans[0].settings.iter().chain(&plans[1].settings).chain(&plans[2].settings) {
        let Some(info) = all_settings().into_iter().find(|info| info.key == setting.key) else { continue };
        let Some(stated) = info.default.filter(|_| setting.source == Source::Default) else { continue };
        // A default in words, such as "the newest JDK found", states no value unless it begins with one.
        let in_words = stated.contains(' ') && !stated.starts_with(|c: char| c.is_ascii_digit());
        assert!(
            setting.value == stated || stated.starts_with(&format!("{} ", setting.value)) || in_words,
            "{}: the help says {stated}, the plan has {}",
            setting.key,
            setting.value
        );
        compared += usize::from(setting.value == stated);
    }
    assert!(compared >= 40, "only {compared} defaults were compared");
    let listed: BTreeSet<&str> = plans.iter().flat_map(|plan| &plan.settings).map(|setting| &*setting.key).collect();
    let only_where_given = ["baseline", "aa", "versions", "protocol", "streams", "resumption", "forks", "messages"];
    let missing: Vec<&str> = all_settings()
        .iter()
        .map(|info| info.key)
        .filter(|key| !listed.contains(key) && !only_where_given.contains(key))
        .collect();
    assert!(missing.is_empty(), "no plan lists {missing:?}");
}

#[test]
fn settings_name_only_settings_that_exist() {
    let keys: Vec<&str> = all_settings().iter().map(|setting| setting.key).collect();
    let unique: BTreeSet<&&str> = keys.iter().collect();
    assert_eq!(unique.len(), keys.len());
    for setting in all_settings() {
        let named = setting.flag.conflicts.iter().chain(setting.flag.requires);
        let unknown: Vec<&&str> = named.filter(|key| !keys.contains(*key)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", setting.key);
        assert!(setting.help.ends_with('.') && setting.help.len() <= 200, "{}: {}", setting.key, setting.help);
    }
}

#[test]
fn a_flag_and_a_key_of_the_suite_give_the_same_plan() {
    for (key, text, written) in [
        ("users", "3", "3"),
        ("rate", "4000", "4000"),
        ("rate", "25%", "\"25%\""),
        ("spin", "false", "false"),
        ("budget", "2m", "\"2m\""),
        ("forks", "7", "7"),
        ("slo", "p99<4ms", "\"p99<4ms\""),
        ("warmup", "5s", "5"),
        ("warmup_all_cpus", "false", "false"),
        ("discard", "50ms", "\"50ms\""),
        ("server_clock", "estimate", "\"estimate\""),
        ("hiccups", "true", "true"),
        ("server_host", "ssh://a", "\"ssh://a\""),
        ("agents", "ssh://a", "[\"ssh://a\"]"),
    ] {
        let mut flags = Options::default();
        setting_of(key).parse_into(&mut flags, &[text.to_owned()]).unwrap();
        let by_key = plan_of(&format!("{key} = {written}"), &Options::default());
        let by_flag = plan_of("", &flags);
        assert_eq!(by_flag.hash(), by_key.hash(), "{key} = {written}");
        assert_ne!(by_flag.hash(), plan_of("", &Options::default()).hash(), "{key} changes nothing");
    }
}

#[test]
fn a_sequential_run_has_one_start_whatever_the_suite_says() {
    let mut flags = Options::default();
    setting_of("duration").parse_into(&mut flags, &["9s".to_owned()]).unwrap();
    let plan = plan_of("forks = 5", &flags);
    let forks = plan.settings.iter().find(|setting| setting.key == "forks").unwrap();
    assert_eq!((forks.value.as_str(), forks.source), ("1", Source::Default));
    assert_eq!(plan.stop.forks, tare_plan::plan::Forks::Fixed { count: 1 });
    let searching = plan_of("slo = \"p99<4ms\"\nslo_by = \"users\"", &flags);
    assert_eq!(searching.slo, None, "it searches for nothing");
    assert!(searching.settings.iter().all(|setting| setting.section != Section::Capacity.name()));
}

#[test]
fn the_error_of_an_invalid_text_shows_a_valid_one() {
    for (key, text, says) in [
        ("users", "many", "\"many\" is not a whole number"),
        ("budget", "soon", "write for example 500ms"),
        ("server_clock", "ntp", "write auto, same or estimate"),
        ("engine", "ab", "write wrk or gatling"),
    ] {
        let error = setting_of(key).check_text(text).unwrap_err();
        assert!(error.contains(says), "{key}: {error}");
    }
}

#[test]
fn each_try_of_a_search_has_a_part_that_is_scored() {
    let search = |table: &str| {
        resolved(&format!("slo = \"p99<4ms\"\nslice = \"2s\"\n{table}"), &Options::default()).map(|plan| plan.slices)
    };
    assert!(search("discard = \"1s\"").is_ok(), "a try is as long as a slice");
    let error = search("discard = \"500ms\"\nslo_each = \"300ms\"").unwrap_err().to_string();
    assert_eq!(error, "s.toml: [run] slo_each: must be at least 200ms, and twice the discarded head");
}

/// docs/SETTINGS.md as the table has it.
fn reference() -> String {
    let mut text = "\
# Settings of a run

Made from the table in `crates/plan/src/settings/table.rs` by `UPDATE=1 cargo test -p tare-plan --test settings`.

Each setting is a flag of `tare run`, and a key of a suite's `[run]` table. A flag wins over the suite, and the suite
over the default. `tare run --dry-run` prints every value of a plan and its source.
Flags marked * belong to `tare profile` too.
`tare run` without a suite and without servers uses `tare.toml` of the working directory, or else `suites/quick.toml`,
which changes some of the defaults below.
"
    .to_owned();
    for section in Section::ALL {
        text.push_str(&format!("\n## {}\n\n", section.heading()));
        text.push_str("| key | flag | default | meaning | limits |\n|---|---|---|---|---|\n");
        for setting in all_settings().into_iter().filter(|setting| setting.section == section) {
            text.push_str(&reference_row(&setting));
        }
    }
    text
}

fn reference_row(setting: &SettingInfo) -> String {
    let flag = &setting.flag;
    let value = if flag.switch.is_some() { String::new() } else { format!(" {}", flag.value_name) };
    let short = flag.short.map_or_else(String::new, |short| format!("`-{short}`, "));
    let mark = if flag.in_profile { " *" } else { "" };
    let long = setting.long();
    let meaning = match flag.switch {
        Some(switch) if !switch.value => format!("{} The flag: {}", setting.help, switch.help),
        _ => setting.help.clone(),
    };
    let default = setting.default.clone().unwrap_or_default();
    let limits: Vec<String> =
        setting.limits.iter().map(|limit| (*limit).to_owned()).chain(flag_limits(setting)).collect();
    let key = setting.key;
    let row = format!("| `{key}` | {short}`--{long}{value}`{mark} | {default} | {meaning} | {} |\n", limits.join("; "));
    // A star or an angle bracket in a table is text, not markup.
    row.replace("http4s.*", "http4s.\\*").replace('<', "&lt;")
}

fn flag_limits(setting: &SettingInfo) -> impl Iterator<Item = String> {
    let flags = |keys: &[&str]| {
        let flags: Vec<String> = keys.iter().map(|key| format!("`--{}`", setting_of(key).long())).collect();
        flags.join(", ")
    };
    let conflicts = (!setting.flag.conflicts.is_empty()).then(|| format!("not with {}", flags(setting.flag.conflicts)));
    let requires = (!setting.flag.requires.is_empty()).then(|| format!("only with {}", flags(setting.flag.requires)));
    conflicts.into_iter().chain(requires)
}

#[test]
fn the_reference_shows_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SETTINGS.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, reference()).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == reference(),
        "docs/SETTINGS.md is not up to date: run UPDATE=1 cargo test -p tare-plan --test settings"
    );
}
