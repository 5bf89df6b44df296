//! Suites of several groups, and flags that narrow a suite.

use tare_units::Span;

use super::{CONTRACT, inventory, names, plan_with, strings};
use crate::PlanError;
use crate::contract::Contract;
use crate::plan::{Forks, HttpVersion, Plan, Source};
use crate::settings::Options;

fn plan(suite: &str, flags: Options) -> Result<Plan, PlanError> {
    plan_with(&inventory(), suite, flags)
}

#[test]
fn forks_that_a_suite_declares_hold_for_its_own_budget() {
    let suite = "[run]\nbudget = \"60m\"\nmax_forks = 4\nservers = [\"http4s.Tapir\"]\nscenarios = [\"SimpleGet\"]";
    let declared = |flags: Options| {
        let plan = plan(suite, flags).unwrap();
        let Forks::UntilDecided { max_forks, .. } = plan.stop.forks else { panic!("{:?}", plan.stop.forks) };
        let listed: Vec<_> = plan.settings.iter().filter(|s| s.key == "max_forks").map(|s| s.source).collect();
        (max_forks.unwrap(), listed)
    };
    let budget = Some(Span::from_secs(3_600));
    assert_eq!(declared(Options::default()), (4, vec![Source::Suite]));
    let (anew, source) = declared(Options { budget, ..Options::default() });
    assert!(anew > 20 && source == [Source::Default], "{anew} {source:?}");
    assert_eq!(declared(Options { budget, max_forks: Some(5), ..Options::default() }), (5, vec![Source::Flag]));
}

#[test]
fn groups_of_one_baseline_get_different_names() {
    let suite =
        "[[groups]]\nbaseline = \"http4s.Vanilla\"\nservers = [\"http4s.Tapir\"]\nscenarios = [\"SimpleGet\"]\n";
    let plan = plan(&(suite.to_owned() + &suite.replace("http4s.Tapir", "http4s.TapirMulti")), Options::default());
    let ids: Vec<String> = plan.unwrap().groups.into_iter().map(|group| group.id).collect();
    assert_eq!(ids, ["http4s.Vanilla (http4s.Tapir)", "http4s.Vanilla (http4s.TapirMulti)"]);
}

#[test]
fn a_baseline_that_is_compared_in_one_group_needs_no_group_of_its_own() {
    let group =
        "[[groups]]\nbaseline = \"http4s.Vanilla\"\nservers = [\"http4s.Tapir\"]\nscenarios = [\"SimpleGet\"]\n";
    let other = group.replace("http4s.Tapir", "http4s.TapirMulti");
    let ids = |other: &str| -> Vec<String> {
        let servers = Some(strings(&["http4s.Vanilla", "http4s.Tapir"]));
        let plan = plan(&(group.to_owned() + other), Options { servers, ..Options::default() });
        plan.unwrap().groups.into_iter().map(|group| group.id).collect()
    };
    assert_eq!(ids(&other).len(), 1);
    assert_eq!(ids(&other.replace("SimpleGet", "Push")).len(), 2, "it is measured in another scenario");
}

#[test]
fn groups_of_the_same_servers_are_named_after_their_scenario() {
    let group = |scenario: &str| {
        format!(
            "[[groups]]\nbaseline = \"http4s.Vanilla\"\nservers = [\"http4s.Tapir\"]\nscenarios = [\"{scenario}\"]\n"
        )
    };
    let suite = [group("SimpleGet"), group("Push"), group("Push")].concat();
    let ids = |flags: Options| -> Vec<String> {
        plan(&suite, flags).unwrap().groups.into_iter().map(|group| group.id).collect()
    };
    let servers = "http4s.Vanilla (http4s.Tapir)";
    assert_eq!(ids(Options::default()), [format!("{servers} SimpleGet"), format!("{servers} Push")], "once each");
    let narrowed = Options { scenarios: Some(strings(&["SimpleGet"])), ..Options::default() };
    assert_eq!(ids(narrowed), ["http4s.Vanilla"], "-m makes the groups alike, and one is left");
}

#[test]
fn a_sequential_run_of_a_suite_measures_its_baselines_unless_s_leaves_them_out() {
    let suite =
        "[[groups]]\nbaseline = \"http4s.Vanilla\"\nservers = [\"http4s.Tapir\"]\nscenarios = [\"SimpleGet\"]\n";
    let flags = |servers: Option<&str>| Options {
        duration: Some(Span::from_secs(5)),
        servers: servers.map(|name| strings(&[name])),
        ..Options::default()
    };
    let variants = |flags| names(&plan(suite, flags).unwrap()).swap_remove(0).1;
    assert_eq!(variants(flags(None)), ["http4s.Vanilla", "http4s.Tapir"]);
    assert_eq!(variants(flags(Some("http4s.Tapir"))), ["http4s.Tapir"]);
}

#[test]
fn a_baseline_is_one_server() {
    let several = "\"*.Vanilla*\" means several servers, http4s.Vanilla, http4s.VanillaMulti; name one";
    for (suite, origin) in [
        ("[run]\nservers = [\"*\"]\nbaseline = \"*.Vanilla*\"", "[run] baseline"),
        ("[run]\naa = \"*.Vanilla*\"", "[run] aa"),
        ("[[groups]]\nbaseline = \"*.Vanilla*\"\nservers = [\"http4s.Tapir\"]", "[[groups]] number 1"),
        ("[servers.own]\ncommand = [\"./own\"]\nbaseline = \"*.Vanilla*\"", "[servers.own] baseline"),
    ] {
        let error = plan(suite, Options::default()).unwrap_err().to_string();
        assert_eq!(error, format!("suites/s.toml: {origin}: {several}"));
    }
}

#[test]
fn a_server_that_no_group_has_cannot_be_chosen() {
    let suite =
        "[[groups]]\nbaseline = \"http4s.Vanilla\"\nservers = [\"http4s.Tapir\"]\nscenarios = [\"SimpleGet\"]\n";
    let chosen = |servers: &[&str]| plan(suite, Options { servers: Some(strings(servers)), ..Options::default() });
    let says = "--servers: no server of [[groups]] matches \"http4s.VanillaMulti\"";
    for servers in [&["http4s.VanillaMulti"][..], &["http4s.Tapir", "http4s.VanillaMulti"]] {
        let error = chosen(servers).unwrap_err().to_string();
        assert!(error.starts_with(says), "{servers:?}: {error}");
        assert!(error.ends_with("there are: http4s.Vanilla, http4s.Tapir"), "{servers:?}: {error}");
    }
    assert_eq!(names(&chosen(&["*"]).unwrap())[0].1, ["http4s.Vanilla", "http4s.Tapir"]);
}

#[test]
fn flags_that_name_servers_win_over_a_suite_that_compares_one_with_itself() {
    let suite = "[run]\naa = \"http4s.Vanilla\"\nscenarios = [\"SimpleGet\"]\n";
    let planned = |servers: Option<&str>, baseline: Option<&str>| {
        let servers = servers.map(|name| strings(&[name]));
        plan(suite, Options { servers, baseline: baseline.map(str::to_owned), ..Options::default() }).unwrap()
    };
    let variants = |servers, baseline| names(&planned(servers, baseline)).swap_remove(0).1;
    assert_eq!(variants(None, None), ["http4s.Vanilla", "http4s.Vanilla (again)"]);
    assert_eq!(planned(None, None).settings[0].source, Source::Suite);
    assert_eq!(variants(Some("http4s.Tapir"), None), ["http4s.Vanilla", "http4s.Tapir"]);
    // As `tare profile` names a server.
    assert_eq!(variants(Some("http4s.Tapir"), Some("http4s.Tapir")), ["http4s.Tapir"]);
}

#[test]
fn a_server_is_not_called_as_the_second_start_of_another() {
    let suite = "[servers.a]\ncommand = [\"./a\"]\n\
        [servers.\"a (again)\"]\ncommand = [\"./b\"]\nbaseline = \"a\"\n\
        [scenarios.Get]\nrequest = { path = \"/\" }\nexpect = { status = 200 }\n";
    let planned = |control: bool| plan(suite, Options { control: Some(control), ..Options::default() });
    assert_eq!(names(&planned(false).unwrap())[0].1, ["a", "a (again)"]);
    let error = planned(true).unwrap_err().to_string();
    assert!(error.starts_with("suites/s.toml: [servers.\"a (again)\"]: is what tare calls a at another"), "{error}");
}

#[test]
fn a_server_of_the_suite_has_no_other_version_to_be_compared_with() {
    let suite = "[servers.own]\ncommand = [\"./own\"]\n\
        [[groups]]\nbaseline = \"own\"\nbaseline_version = \"1.2\"\nservers = [\"own\"]\n";
    let error = plan(suite, Options::default()).unwrap_err().to_string();
    let says =
        "suites/s.toml: [[groups]] number 1 baseline_version: is for servers of the catalog, and own is of this suite";
    assert!(error.starts_with(says), "{error}");
}

/// The inventory with servers that run on a JVM.
fn on_jvm() -> crate::inventory::Inventory {
    let mut inventory = inventory();
    inventory.servers.iter_mut().for_each(|server| server.jvm = true);
    inventory
}

#[test]
fn a_server_like_one_of_the_catalog_is_compared_with_it_and_the_report_names_the_difference_first() {
    let suite = "[servers.zgc]\nlike = \"http4s.Tapir\"\njvm_options = [\"-Xmx2g\"]\nenv = { A = \"1\" }\n\
        [scenarios.SimpleGet]\nrequest = { path = \"/\" }\nexpect = { status = 200 }\n";
    let plan = plan_with(&on_jvm(), suite, Options::default()).unwrap();
    let group = &plan.groups[0];
    assert_eq!(names(&plan)[0].1, strings(&["http4s.Tapir", "zgc"]));
    let zgc = &group.variants[1];
    assert_eq!((zgc.server.as_str(), zgc.catalog_server(), zgc.routes), ("zgc", "http4s.Tapir", 1));
    assert_eq!(zgc.identity(), "http4s.Tapir@1.11.15", "the contract's differences and lacks hold for it");
    let question = "What does zgc cost on top of http4s.Tapir? zgc is http4s.Tapir with -Xmx2g instead of -Xmx1g, A=1.";
    assert_eq!(plan.question, question);
    assert!((plan.stop.region - 0.05).abs() < 1e-9, "it runs on a JVM");
}

#[test]
fn what_a_server_is_like_must_be_there_and_run_on_a_jvm_where_it_gets_options_of_one() {
    let suite = |like: &str| format!("[servers.zgc]\nlike = \"{like}\"\njvm_options = [\"-Xmx2g\"]\n");
    let error = |suite: &str| plan(suite, Options::default()).unwrap_err().to_string();
    let unknown = error(&suite("http4s.Tapr"));
    assert!(unknown.contains("[servers.zgc] like") && unknown.contains("did you mean \"http4s.Tapir\"?"), "{unknown}");
    let native = error(&suite("http4s.Tapir"));
    assert_eq!(
        native,
        "suites/s.toml: [servers.zgc] jvm_options: is for a JVM, and http4s.Tapir runs on none; leave it out"
    );
}

#[test]
fn a_proxy_has_the_server_behind_it_and_answers_as_that() {
    let suite = "[servers.proxy]\ncommand = [\"./proxy\", \"{port}\", \"{upstream}\"]\nin_front_of = \"http4s.Tapir\"\n\
        [servers.gate]\ncommand = [\"./gate\", \"{upstream}\"]\nin_front_of = \"proxy\"\nbaseline = \"http4s.Tapir\"\n\
        [run]\nservers = [\"proxy\", \"gate\"]\nscenarios = [\"SimpleGet\"]\n";
    let plan = plan_with(&on_jvm(), suite, Options::default()).unwrap();
    assert_eq!(names(&plan)[0].1, strings(&["http4s.Tapir", "gate", "proxy"]));
    let gate = &plan.groups[0].variants[1];
    let chain: Vec<&str> = gate.chain().map(|variant| variant.name.as_str()).collect();
    assert_eq!(chain, ["gate", "proxy", "http4s.Tapir"]);
    assert_eq!(gate.identity(), "http4s.Tapir@1.11.15", "the contract's differences and lacks hold for it");
    assert_eq!(gate.routes, 1);
    assert_eq!(
        plan.question,
        "What do gate, proxy cost on top of http4s.Tapir? gate stands in front of proxy. proxy stands in front of \
         http4s.Tapir."
    );
    assert!((plan.stop.region - 0.05).abs() < 1e-9, "what is behind it runs on a JVM");
    assert_eq!(plan.started().count(), 1 + 3 + 2);
}

#[test]
fn servers_are_held_to_the_scenarios_and_checks_of_the_suite_or_the_catalog() {
    let scenario =
        |name: &str| format!("[scenarios.{name}]\nrequest = {{ path = \"/own\" }}\nexpect = {{ body = \"own\" }}\n");
    let suite = "[servers.app]\ncommand = [\"./app\"]\n\
        [[checks]]\nname = \"odd\"\nrequest = { path = \"/odd\" }\nexpect = { status = 404 }\n\
        [run]\nservers = [\"http4s.Tapir\", \"app\"]\n";
    let plan = plan(&[suite, &scenario("SimpleGet"), &scenario("Own")].concat(), Options::default()).unwrap();
    let of_catalog = Contract::parse("contract.toml", CONTRACT).unwrap();
    let contract = |server: &str| {
        let variant = plan.started().find(|variant| variant.server == server).unwrap();
        plan.contract(variant, &of_catalog)
    };
    let checks = |contract: &Contract| contract.checks.iter().map(|check| check.name.clone()).collect::<Vec<_>>();
    let (tapir, app) = (contract("http4s.Tapir"), contract("app"));
    assert_eq!(checks(&app), ["odd"]);
    assert_eq!(app.scenarios.into_keys().collect::<Vec<_>>(), ["Own", "SimpleGet"]);
    assert_eq!(tapir.scenarios["SimpleGet"].request.path, "/own", "it replaces that of the catalog");
    assert!(["Own", "Push"].into_iter().all(|name| tapir.scenarios.contains_key(name)));
    assert_eq!(checks(&tapir), ["a malformed id is refused"]);
}

#[test]
fn the_server_behind_a_proxy_must_be_there() {
    let suite = "[servers.proxy]\ncommand = [\"./proxy\", \"{upstream}\"]\nin_front_of = \"http4s.Tapr\"\n";
    let error = plan(suite, Options::default()).unwrap_err().to_string();
    assert!(
        error.contains("[servers.proxy] in_front_of") && error.contains("did you mean \"http4s.Tapir\"?"),
        "{error}"
    );
    let mut inventory = inventory();
    inventory.servers.iter_mut().for_each(|server| server.unavailable = Some("needs Java 99".to_owned()));
    let suite = suite.replace("Tapr", "Tapir") + "baseline = \"own\"\n[servers.own]\ncommand = [\"./own\"]\n";
    let left_out = plan_with(&inventory, &suite, Options::default()).unwrap().skipped.swap_remove(0);
    assert_eq!((left_out.what.as_str(), left_out.because.as_str()), ("proxy", "http4s.Tapir behind it: needs Java 99"));
}

/// The inventory with servers that speak HTTP/2, except the first one.
fn speaking() -> crate::inventory::Inventory {
    let mut inventory = inventory();
    inventory.servers.iter_mut().for_each(|server| server.protocols = vec![HttpVersion::H2c, HttpVersion::H2]);
    inventory.servers[0].protocols.clear();
    inventory.servers[0].only_http1 = Some("it is old".to_owned());
    inventory.certificate = Some("/servers/certificate.pem".to_owned());
    inventory
}

/// A suite with a server that is like one of the catalog.
fn like(server: &str, protocol: &str, more: &str) -> String {
    format!(
        "[servers.two]\nlike = \"{server}\"\nprotocol = \"{protocol}\"\nstreams = 4\n{more}\n\
         [run]\nscenarios = [\"SimpleGet\"]\n"
    )
}

#[test]
fn servers_that_speak_the_same_share_a_sentence() {
    let three = "[servers.three]\nlike = \"http4s.Tapir\"\nprotocol = \"h2c\"\nstreams = 4\n";
    let plan = plan_with(&speaking(), &like("http4s.Tapir", "h2c", three), Options::default()).unwrap();
    assert!(plan.question.ends_with(" These speak HTTP/2, 4 streams a connection: three, two."), "{}", plan.question);
}

#[test]
fn a_server_of_the_catalog_is_asked_in_what_it_speaks_and_nothing_else() {
    let plan = plan_with(&speaking(), &like("http4s.Tapir", "h2c", ""), Options::default()).unwrap();
    assert_eq!(names(&plan)[0].1, strings(&["http4s.Tapir", "two"]));
    assert_eq!(plan.groups[0].variants[1].program.transport().protocol.depth(), 4);
    assert!(plan.question.ends_with(" two speaks HTTP/2, 4 streams a connection."), "{}", plan.question);
    let refused = |suite: &str| plan_with(&speaking(), suite, Options::default()).unwrap_err().to_string();
    let error = refused(&like("http4s.Vanilla", "h2", ""));
    let says = "[servers.two] protocol: \"h2\" is not spoken by http4s.Vanilla; it speaks http1: it is old";
    assert!(error.ends_with(says), "{error}");
    let error = refused(&like("http4s.Tapir", "h2c", "tls = { insecure = true }"));
    let says = "[servers.two] tls: http4s.Tapir is of the catalog, whose servers speak TLS with protocol = \"h2\" only";
    assert!(error.contains(says), "{error}");
}

#[test]
fn a_server_of_the_catalog_has_its_certificate_over_tls_unless_the_suite_names_another_authority() {
    let tls = |more: &str| {
        let plan = plan_with(&speaking(), &like("http4s.Tapir", "h2", more), Options::default()).unwrap();
        plan.groups[0].variants[1].program.transport().tls.unwrap()
    };
    let of_catalog = tls("");
    assert_eq!(of_catalog.ca.as_deref(), Some("/servers/certificate.pem"));
    assert_eq!(of_catalog.server_name.as_deref(), Some("localhost"));
    let own = tls("tls = { ca = \"own.pem\" }");
    assert_eq!((own.ca.as_deref(), own.server_name), (Some("suites/own.pem"), None));
}

#[test]
fn a_run_asks_all_servers_in_its_protocol_that_state_none() {
    let flags = |protocol: HttpVersion, streams: Option<u32>| Options {
        protocol: Some(protocol),
        streams,
        servers: Some(strings(&["http4s.TapirMulti", "http4s.Tapir"])),
        scenarios: Some(strings(&["SimpleGet"])),
        ..Options::default()
    };
    let plan = plan_with(&speaking(), "", flags(HttpVersion::H2c, Some(8))).unwrap();
    let group = &plan.groups[0];
    assert_eq!(names(&plan)[0].1, strings(&["http4s.VanillaMulti over h2c", "http4s.TapirMulti over h2c"]));
    assert!(group.variants.iter().all(|variant| variant.program.transport().protocol.depth() == 8));
    assert_eq!(group.variants[1].identity(), "http4s.TapirMulti@1.11.15 HTTP/2", "the contract may tell them apart");
    let left_out = &plan.skipped[0];
    assert_eq!(left_out.what, "http4s.Vanilla and all compared with it");
    assert_eq!(left_out.because, "\"h2c\" is not spoken by http4s.Vanilla; it speaks http1: it is old");
    let of_list: Vec<(&str, &str)> =
        plan.settings.iter().map(|setting| (setting.key.as_str(), setting.value.as_str())).collect();
    assert!(of_list.contains(&("protocol", "h2c")) && of_list.contains(&("streams", "8")), "{of_list:?}");
    let suite = "[run]\nprotocol = \"h2c\"\nusers = 8\n[servers.app]\ncommand = [\"./app\"]\n\
        [servers.old]\ncommand = [\"./old\"]\nprotocol = \"http1\"\nbaseline = \"app\"\n\
        [servers.proxy]\ncommand = [\"./proxy\", \"{upstream}\"]\nin_front_of = \"old\"\nbaseline = \"app\"\n\
        [scenarios.Get]\nrequest = { path = \"/\" }\nexpect = { status = 200 }\n";
    let plan = plan_with(&speaking(), suite, Options { streams: Some(4), ..Options::default() }).unwrap();
    let spoken: Vec<String> =
        plan.groups[0].variants.iter().map(|variant| variant.program.transport().text()).collect();
    assert_eq!(spoken, ["HTTP/2, 4 streams a connection", "HTTP/1.1", "HTTP/2, 4 streams a connection"]);
    assert_eq!(names(&plan)[0].1, strings(&["app over h2c", "old", "proxy over h2c"]));
    let error = |flags| plan_with(&speaking(), "", flags).unwrap_err().to_string();
    let says = "--streams: are of HTTP/2, and no server is asked in it; give protocol = \"h2c\" or \"h2\" too";
    assert_eq!(error(flags(HttpVersion::Http1, Some(8))), says);
    let says = "--streams: 3 on a connection do not divide 128 users; write users = 129";
    assert_eq!(error(flags(HttpVersion::H2c, Some(3))), says);
}
